"""Lines in, translations out, in input order.

A line is masked (placeholders for what a machine reads), split into parts that fit the model,
decoded part by part, and put together again as candidates, whose spans are filled in and whose typography is
repaired. If the best candidate has a fault, the line is tried again in other ways.
"""

import hashlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.checks.faults import Fault, faults, mangled, repetition
from nmt.chinese.typography import repair
from nmt.config.schema import AugmentConfig, SearchConfig
from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.base import Engine
from nmt.run.sides import numbers_masked
from nmt.search.hypotheses import NBest
from nmt.spans.masking import Masked
from nmt.text.normalize import normalize
from nmt.text.side import Side, keeps_chinese, needs_translation
from nmt.translate.attempts import Attempt, attempts, mask_nothing, showing_figures
from nmt.translate.between_spans import texts_between, with_spans
from nmt.translate.candidates import agreed, candidates_of
from nmt.translate.segments import split_long
from nmt.translate.translation import Candidate, Translation

if TYPE_CHECKING:
    from nmt.scoring.alignment import Alignment

# Characters, on average. To encode a line of megabytes only to see that it is too long takes gigabytes.
_LONGEST_TOKEN = 64


class Translator:
    """An engine with its two sides and a way of searching.

    `taught` are the variants of pairs that the model was trained with: they decide what can be
    tried again.
    """

    checkpoints: tuple[Path, ...] = ()  # the folders of its weights, where they were loaded

    def __init__(
        self,
        engine: Engine,
        src: Side,
        tgt: Side,
        search: SearchConfig,
        taught: AugmentConfig,
    ) -> None:
        self.engine = engine
        self.src = src
        self.tgt = tgt
        self.search = search
        self._direction = (src.language, tgt.language)
        chinese = keeps_chinese(src, tgt)
        self._numbers = numbers_masked(taught, chinese)
        self._attempts = attempts(engine.protects, taught, chinese)
        self.mask = self._attempts[0].mask  # for the first search
        self._showing_figures = showing_figures(engine.protects, taught, chinese)

    def fingerprint(self) -> str:
        """A hash of engine, vocabularies and search. Translators with the same hash translate alike."""
        deciding = [
            self.search.model_dump_json(),
            self._numbers,
            self.src.fingerprint(),
            self.tgt.fingerprint(),
            self.engine.fingerprint(),
        ]
        return hashlib.sha256("\n".join(deciding).encode()).hexdigest()

    @property
    def threads(self) -> int:
        """How many batches are searched at a time; the cut into batches, and so the last bits, depend on it."""
        return self.engine.threads

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        """Translate lines, sorted by length within; the order out is the order in.

        What a machine reads is kept byte for byte: it travels as placeholders. A line that comes back without
        one of them is translated again without any; a model without placeholders gets it as text anyway. In beam
        search, a best candidate that is blank or repeats itself, or with `verify: retry` has any fault, gives way to
        the first one without. With `verify: retry`, a line whose figures were hidden is also searched with them, and
        its best candidate is the one that both searches rank high. A line in which a span still comes out changed is
        translated in parts around it.
        """
        sources = [self.mask(line) for line in lines]
        found = self._search(sources, self.search)
        self._search_again_unmasked(sources, lines, found)
        if self.search.effective_method == "beam":
            self._search_again_with_figures(sources, lines, found)
            self._replace_faulty(lines, found)
        self._put_in_spans(lines, found)
        return [self._translation(line, of) for line, of in zip(lines, found, strict=True)]

    def alignments(self, translations: Sequence[Translation]) -> "list[Alignment | None]":
        """Which words of each best translation stand for which of its source; the engine has to be torch's."""
        from nmt.engines.decoder import Decoder
        from nmt.scoring.alignment import align

        assert isinstance(self.engine, Decoder)  # noqa: S101 - whoever asks has chosen it
        return align(self.engine, [SentencePair(each.source, each.text) for each in translations])

    # --- candidates: mask, split, decode, put together ---

    def _search(self, sources: Sequence[Masked], search: SearchConfig) -> list[list[Candidate]]:
        """The n best of each line, except those that lost or repeated a placeholder."""
        parts_of_lines = [self._parts(source.text) for source in sources]
        encoded = []
        for parts in parts_of_lines:
            encoded += [self.src.encode(part) for part in parts]
        decoded = iter(self.engine.decode(encoded, search))

        found = []
        for source, parts in zip(sources, parts_of_lines, strict=True):
            n_bests = list(islice(decoded, len(parts)))
            found.append(self._candidates(source, n_bests))
        return found

    def _parts(self, line: str) -> list[str]:
        """A line as sentences that fit the model; none if there is nothing in it to translate."""
        text = normalize(line, self.src.language)
        if not needs_translation(text, self.src, self.tgt):
            return []
        longest = self.engine.longest

        def fits(part: str) -> bool:
            return len(part) <= _LONGEST_TOKEN * longest and len(self.src.encode(part)) <= longest

        return split_long(text, fits)

    def _candidates(self, source: Masked, n_bests: list[NBest]) -> list[Candidate]:
        """The n best of a line, from those of its parts; a line without parts stays as it is."""
        if n_bests:
            return candidates_of(source, n_bests, self.tgt, self._repair)
        # It is of no language, or Chinese: its quotation marks stay.
        text = source.fill(normalize(source.text, "zh"))
        return [Candidate(text, 0.0, 0.0)] if text else []

    def _repair(self, text: str) -> str:
        """Repair the typography of Chinese, unless that is off."""
        if self.search.typography == "off" or self.tgt.language != "zh":
            return text
        return repair(text, self.search.typography)

    # --- other attempts ---

    def _search_again_unmasked(
        self, sources: Sequence[Masked], lines: Sequence[str], found: list[list[Candidate]]
    ) -> None:
        """Fill in `found` where placeholders got lost in every candidate."""
        lost = [i for i, source in enumerate(sources) if source.spans and not found[i]]
        results = self._search([mask_nothing(lines[i]) for i in lost], self.search)
        for i, candidates in zip(lost, results, strict=True):
            found[i] = candidates

    def _search_again_with_figures(
        self, sources: Sequence[Masked], lines: Sequence[str], found: list[list[Candidate]]
    ) -> None:
        """With `verify: retry`, rank the candidates of lines whose figures are hidden by how they do with both.

        Hidden, a figure is never lost; shown, it may tell what it counts: 3.0 is a version, 40 a birthday.
        """
        shown = self._showing_figures
        if shown is None or self.search.verify != "retry":
            return
        others = {}
        for i, line in enumerate(lines):
            other = shown(line)
            # Where nothing but figures stands, the first search has nothing to do, and no say.
            if other != sources[i] and self._parts(sources[i].text):
                others[i] = other
        further = self._attempts[0].search(self.search)
        hidden_n_bests = self._search([sources[i] for i in others], further)
        shown_n_bests = self._search(list(others.values()), further)
        for i, hidden_n_best, shown_n_best in zip(
            others, hidden_n_bests, shown_n_bests, strict=True
        ):
            candidates = agreed(hidden_n_best, shown_n_best)
            found[i] = self._faultless_first(lines[i], [*candidates, *found[i]])

    def _put_in_spans(self, lines: Sequence[str], found: list[list[Candidate]]) -> None:
        """Where the best of `found` has a span changed, put a translation in parts around the spans first."""
        changed = [i for i, best in enumerate(found) if best and mangled(lines[i], best[0].text)]
        texts = [texts_between(lines[i]) for i in changed]
        results = iter(
            self._search([mask_nothing(text) for of in texts for text in of], self.search)
        )
        for i, of_line in zip(changed, texts, strict=True):
            translated = list(islice(results, len(of_line)))
            found[i] = [with_spans(lines[i], translated, self._repair), *found[i]]

    def _replace_faulty(self, lines: Sequence[str], found: list[list[Candidate]]) -> None:
        """Where the best of `found` has a fault, put one without first, if an attempt finds any."""
        faulty = []
        for i, candidates in enumerate(found):
            if candidates and self._is_faulty(lines[i], candidates[0]):
                faulty.append(i)
        for attempt in self._attempts:
            sources = self._sources(attempt, lines, faulty)
            results = self._search(list(sources.values()), attempt.search(self.search))
            for i, candidates in zip(sources, results, strict=True):
                ranked = self._faultless_first(lines[i], [*candidates, *found[i]])
                if not self._is_faulty(lines[i], ranked[0]):
                    found[i] = ranked[: self.search.n_best]
                    faulty.remove(i)

    def _faultless_first(self, line: str, candidates: list[Candidate]) -> list[Candidate]:
        """Each text once; within those without a fault and those with one, in the order given."""
        by_text: dict[str, Candidate] = {}
        for candidate in candidates:
            by_text.setdefault(candidate.text, candidate)
        return sorted(by_text.values(), key=lambda each: self._is_faulty(line, each))

    def _sources(
        self, attempt: Attempt, lines: Sequence[str], faulty: list[int]
    ) -> dict[int, Masked]:
        """The faulty lines, masked for an attempt; without those where another mask changes nothing."""
        sources = {}
        for i in faulty:
            source = attempt.mask(lines[i])
            if attempt.mask is self.mask or source != self.mask(lines[i]):
                sources[i] = source
        return sources

    # --- faults ---

    def _is_faulty(self, line: str, candidate: Candidate) -> bool:
        """Whether a candidate should give way to another."""
        if self.search.verify == "retry":
            return bool(faults(line, candidate.text, self._direction))
        is_blank = not candidate.text
        return is_blank or bool(repetition(line, candidate.text) or mangled(line, candidate.text))

    def _translation(self, line: str, candidates: list[Candidate]) -> Translation:
        found = self._faults(line, candidates[0]) if candidates else []
        verified = self.search.verify != "off"
        return Translation(line, tuple(candidates[: self.search.n_best]), tuple(found), verified)

    def _faults(self, line: str, best: Candidate) -> list[Fault]:
        """The faults that are reported."""
        if self.search.verify == "off":
            return mangled(line, best.text)
        return faults(line, best.text, self._direction)
