"""The ways in which a server asks its model: for translations, for others of them, for words that belong together."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock

from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.projection import Link
from nmt.documents.translation import Align
from nmt.serving.batching import Translate
from nmt.terms.glossary import Glossary, joined
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


def ways_of(
    translator: Translator,
    in_torch: Callable[[], Translator],
    turn: AbstractContextManager[object],
) -> Ways:
    """The ways of a translator. `in_torch` opens the same model with torch, which alone shows where a model looks.

    `turn` is held while one of the two works.
    """
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

    return Ways(
        plain=in_turn(translator),
        varied=in_turn(translator.changed(varied)),
        checked=in_turn(translator.changed(checked)),
        with_terms=lambda terms: in_turn(translator.changed(glossary=joined((terms, *own)))),
        align=_Aligner(translator, in_torch, turn).links,
        glossary=translator.glossary,
    )


class _Aligner:
    """The model in torch, opened when it is first asked."""

    def __init__(
        self,
        translator: Translator,
        in_torch: Callable[[], Translator],
        turn: AbstractContextManager[object],
    ) -> None:
        is_torch = translator.engine.name.startswith("torch")
        self._opened = translator if is_torch else None
        self._in_torch = in_torch
        self._opening = Lock()
        self._turn = turn

    def links(self, pairs: Sequence[SentencePair]) -> Sequence[Sequence[Link]]:
        """The words of pairs that belong together."""
        with self._opening:  # it takes seconds, in which others translate
            self._opened = opened = self._opened or self._in_torch()
        found: list[Sequence[Link]] = []
        for first in range(0, len(pairs), _ALIGNED):
            with self._turn:
                found += opened.links(pairs[first : first + _ALIGNED])
        return found
