"""The ways in which a server asks its model: for translations, for others of them, for words that belong together."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.projection import Link
from nmt.documents.translation import Align
from nmt.serving.batching import Translate
from nmt.terms.glossary import Glossary, joined
from nmt.translate.aligner import Aligner
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator

_ALIGNED = 32  # pairs at a time, between which others translate


@dataclass(frozen=True)
class Ways:
    """What a server asks of a model.

    `varied` gives other translations of each line too; its best may be another than that of `plain`. `checked` looks
    for all that may be wrong. `align` gives the words of pairs that belong together.
    """

    plain: Translate
    varied: Translate
    checked: Translate
    with_terms: Callable[[Glossary], Translate]
    align: Align
    glossary: Glossary | None = None  # whose terms hold for all of them


def ways_of(translator: Translator, aligner: Aligner, turn: AbstractContextManager[object]) -> Ways:
    """The ways of a translator; `turn` is held while it works, as the aligner holds it."""
    search = translator.search
    most = 1 if search.effective_method == "greedy" else search.beam_size
    varied = search.model_copy(update={"n_best": max(search.n_best, most)})
    checked = search.model_copy(update={"verify": "flag"} if search.verify == "off" else {})
    own = (translator.glossary,) if translator.glossary is not None else ()

    def in_turn(way: Translator) -> Translate:
        def translate(lines: list[str]) -> list[Translation]:
            with turn:
                return way.translate(lines)

        return translate

    def align(pairs: Sequence[SentencePair]) -> list[Sequence[Link]]:
        starts = range(0, len(pairs), _ALIGNED)
        return [each for at in starts for each in aligner.links(pairs[at : at + _ALIGNED])]

    return Ways(
        plain=in_turn(translator),
        varied=in_turn(translator.changed(varied)),
        checked=in_turn(translator.changed(checked)),
        with_terms=lambda terms: in_turn(translator.changed(glossary=joined((terms, *own)))),
        align=align,
        glossary=translator.glossary,
    )
