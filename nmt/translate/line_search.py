"""Masked lines in, candidates out: a line is cut into parts that fit the model, and its candidates are put together."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Literal

from nmt.chinese.typography import Spacing, repair
from nmt.config.schema import SearchConfig
from nmt.engines.base import Engine
from nmt.search.hypotheses import NBest
from nmt.spans.masking import Masked
from nmt.text.normalize import normalize
from nmt.text.side import LONGEST_TOKEN, needs_translation, phrase_ids
from nmt.translate.between_spans import texts_between
from nmt.translate.candidates import candidates_of
from nmt.translate.segments import split_long
from nmt.translate.translation import Candidate

Wanted = Callable[[str], Sequence[str]]


class LineSearch:
    """An engine for whole lines."""

    def __init__(self, engine: Engine, typography: Spacing | Literal["off"]) -> None:
        """`typography`: how translations into Chinese are repaired, or `off`."""
        self.engine = engine
        self._typography = typography

    def __call__(
        self, sources: Sequence[Masked], search: SearchConfig, wanted: Wanted | None = None
    ) -> list[list[Candidate]]:
        """The n best of each line, except those that lost or repeated a placeholder.

        `wanted` tells the words that the translation of a part has to have.
        """
        parts_of_lines = [self.parts(source.text) for source in sources]
        encoded = []
        for parts in parts_of_lines:
            encoded += [self.engine.src.encode(part) for part in parts]
        decoded = iter(self._decode(encoded, parts_of_lines, search, wanted))

        found = []
        for source, parts in zip(sources, parts_of_lines, strict=True):
            n_bests = list(islice(decoded, len(parts)))
            found.append(self._candidates(source, n_bests))
        return found

    def parts(self, line: str) -> list[str]:
        """A line as sentences that fit the model; none if there is nothing in it to translate."""
        src, tgt = self.engine.src, self.engine.tgt
        text = normalize(line, src.language)
        if not needs_translation(" ".join(texts_between(text)), src, tgt):
            return []
        longest = self.engine.longest

        def fits(part: str) -> bool:
            return len(part) <= LONGEST_TOKEN * longest and len(src.encode(part)) <= longest

        return split_long(text, fits)

    def _decode(
        self,
        encoded: list[list[int]],
        parts_of_lines: Sequence[Sequence[str]],
        search: SearchConfig,
        wanted: Wanted | None,
    ) -> list[NBest]:
        if wanted is None:
            return self.engine.decode(encoded, search)
        phrases = [self._phrases(wanted(part)) for parts in parts_of_lines for part in parts]
        return self.engine.decode(encoded, search, phrases)

    def _phrases(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of words, without those that the vocabulary cannot write."""
        return [ids for each in words if (ids := phrase_ids(self.engine.tgt, each))]

    def _candidates(self, source: Masked, n_bests: list[NBest]) -> list[Candidate]:
        """The n best of a line, from those of its parts; a line without parts stays as it is."""
        if n_bests:
            return candidates_of(source, n_bests, self.engine.tgt, self.repair)
        # It is of no language, or Chinese: its quotation marks stay.
        text = source.fill(normalize(source.text, "zh"))
        return [Candidate(text, 0.0, 0.0)] if text else []

    def repair(self, text: str) -> str:
        """Repair the typography of Chinese, unless that is off."""
        if self._typography == "off" or self.engine.tgt.language != "zh":
            return text
        return repair(text, self._typography)
