"""Lines in, translations out, in input order.

A line is masked (placeholders for what a machine reads), split into parts that fit the model,
decoded part by part, and put together again as candidates, whose spans are filled in and whose typography is
repaired. If the best candidate has a fault, the line is tried again in other ways.
"""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.checks.faults import TERM, Direction, Fault, damage, faults, mangled, repetition
from nmt.config.schema import AugmentConfig, SearchConfig
from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.base import Engine
from nmt.run.sides import numbers_masked
from nmt.terms.glossary import Glossary
from nmt.terms.success import wrong
from nmt.text.normalize import with_narrow_letters, without_terminal_codes
from nmt.text.side import is_into_chinese
from nmt.translate.attempts import attempts, mask_nothing, masking, showing_figures
from nmt.translate.between_spans import texts_between, with_spans
from nmt.translate.candidates import agreed
from nmt.translate.line import Line
from nmt.translate.line_search import LineSearch
from nmt.translate.short_lines import known_line
from nmt.translate.terms import LineTerms
from nmt.translate.translation import Candidate, Translation

if TYPE_CHECKING:
    from nmt.scoring.alignment import Alignment
    from nmt.text.offsets import Range

Look = Callable[[str, str, Direction], list[Fault]]
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'-]*[.]?")


class Translator:
    """An engine and a way of searching.

    `taught` are the variants of pairs that the model was trained with: they decide what can be
    tried again.
    """

    checkpoints: tuple[Path, ...] = ()  # the folders of its weights, where they were loaded

    def __init__(
        self,
        engine: Engine,
        search: SearchConfig,
        taught: AugmentConfig,
        glossary: Glossary | None = None,
    ) -> None:
        self.engine = engine
        self.src = engine.src
        self.tgt = engine.tgt
        self.search = search
        self._taught = taught
        self._direction = (self.src.language, self.tgt.language)
        self._into_chinese = into_chinese = is_into_chinese(self.src, self.tgt)
        self._find = LineSearch(engine, search.typography)
        self._numbers = numbers_masked(taught, into_chinese)
        self.glossary = glossary
        self._terms = LineTerms(glossary) if glossary is not None else None
        unknown = self._terms.unknown if self._terms is not None else None
        every = self._terms.hidden if self._terms is not None else None
        # What a model without placeholders is made to write.
        self._wanted = self._terms.wanted if self._terms and not engine.protects else None
        self._hide_terms = masking(self._numbers, into_chinese, every)
        self._attempts = attempts(engine.protects, taught, into_chinese, unknown)
        self.mask = self._attempts[0].mask  # for the first search
        self._showing_figures = showing_figures(engine.protects, taught, into_chinese, unknown)

    def changed(
        self, search: SearchConfig | None = None, glossary: Glossary | None = None
    ) -> "Translator":
        """A translator with the same engine that searches in another way, or with another glossary."""
        changed = Translator(
            self.engine, search or self.search, self._taught, glossary or self.glossary
        )
        changed.checkpoints = self.checkpoints
        return changed

    def fingerprint(self) -> str:
        """A hash of engine, vocabularies and search. Translators with the same hash translate alike."""
        deciding = [
            self.search.model_dump_json(),
            self._numbers,
            self.src.fingerprint(),
            self.tgt.fingerprint(),
            self.engine.fingerprint(),
            self.glossary.fingerprint() if self.glossary is not None else "",
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
        its best candidate is the one that both searches rank high. A line that a table of abbreviations knows is not
        searched, and a word that the model does not know stays as it is. A line in which a span still comes out changed
        is translated in parts around it. A term of the glossary travels as a placeholder if the model does not know it,
        or if it turned out to be missing.
        """
        plain = map(without_terminal_codes, lines)
        read = [with_narrow_letters(line, self.src.language) for line in plain]
        if self._terms is not None:
            self._terms.learn(read, self._alone)
        under_way = [
            Line(line, self._checked(line), self.mask(line), self._from_table(line))
            for line in read
        ]
        self._search(under_way)
        self._search_again_unmasked(under_way)
        self._search_again_with_terms(under_way)
        if self.search.effective_method == "beam":
            self._search_again_with_figures(under_way)
            self._replace_faulty(under_way)
        self._keep_unknown_words(under_way)
        self._put_in_spans(under_way)
        return [self._translation(*each) for each in zip(lines, under_way, strict=True)]

    def alignments(self, translations: Sequence[Translation]) -> "list[Alignment | None]":
        """Which words of each best translation belong to which of its source. Needs the engine torch."""
        return self.align([SentencePair(each.source, each.text) for each in translations])

    def align(self, pairs: Sequence[SentencePair]) -> "list[Alignment | None]":
        """Which words of each target belong to which of its source. Needs the engine torch."""
        from nmt.engines.decoder import Decoder
        from nmt.scoring.alignment import align

        assert isinstance(self.engine, Decoder)  # noqa: S101 - whoever asks has chosen it
        return align(self.engine, pairs)

    def links(self, pairs: Sequence[SentencePair]) -> "list[Sequence[tuple[Range, Range]]]":
        """The words of source and target that belong together, as ranges; none of a pair that cannot be aligned."""
        return [() if each is None else each.links for each in self.align(pairs)]

    # --- the steps of a line ---

    def _checked(self, line: str) -> str:
        return line if self._terms is None else self._terms.in_place(line)

    def _from_table(self, line: str) -> list[Candidate]:
        """The only candidate of a line that needs no model."""
        asked = self._into_chinese and self.search.abbreviations
        chinese = known_line(line) if asked else None
        return [Candidate(chinese, 0.0, 0.0)] if chinese else []

    def _search(self, lines: Sequence[Line]) -> None:
        """Find candidates for each line that has none."""
        unknown = [line for line in lines if not line.candidates]
        found = self._find([line.masked for line in unknown], self.search)
        for line, candidates in zip(unknown, found, strict=True):
            line.candidates = candidates

    def _search_again_unmasked(self, lines: Sequence[Line]) -> None:
        """Find others where placeholders got lost in every candidate."""
        lost = [line for line in lines if line.masked.spans and not line.candidates]
        found = self._find([mask_nothing(line.source) for line in lost], self.search)
        for line, candidates in zip(lost, found, strict=True):
            line.candidates = candidates

    def _search_again_with_terms(self, lines: Sequence[Line]) -> None:
        """Where the best candidate lacks a term of the glossary, find others with all of them.

        They are hidden; a model without placeholders is made to write them.
        """
        lacking = [line for line in lines if line.best and self._missing_terms(line, line.best)]
        sources = [(line, self._hide_terms(line.source)) for line in lacking]
        if self.engine.protects:
            tried = [(line, source) for line, source in sources if source != line.masked]
            found = self._find([source for _, source in tried], self.search)
        else:
            tried = [(line, line.masked) for line in lacking]
            found = self._find([source for _, source in tried], self.search, self._wanted)
        for (line, _), candidates in zip(tried, found, strict=True):
            line.put_faultless_first(candidates, self._missing_terms)

    def _missing_terms(self, line: Line, candidate: Candidate) -> int:
        return 0 if self._terms is None else self._terms.missing(line.source, candidate.text)

    def _alone(self, words: list[str]) -> list[str]:
        """The best translations of words without a sentence around them."""
        greedy = self.search.model_copy(update={"method": "greedy", "n_best": 1})
        found = self._find([mask_nothing(each) for each in words], greedy)
        return [candidates[0].text if candidates else "" for candidates in found]

    def _search_again_with_figures(self, lines: Sequence[Line]) -> None:
        """With `verify: retry`, rank the candidates of lines whose figures are hidden by how they do with both.

        Hidden, a figure is never lost; shown, it may tell what it counts: 3.0 is a version, 40 a birthday.
        """
        shown = self._showing_figures
        if shown is None or self.search.verify != "retry":
            return
        both = []
        for line in lines:
            other = shown(line.source)
            # If there are only figures, the first search has nothing to do, and no say.
            if other != line.masked and self._find.parts(line.masked.text):
                both.append((line, other))
        further = self._attempts[0].search(self.search)
        of_hidden = self._find([line.masked for line, _ in both], further)
        of_shown = self._find([other for _, other in both], further)
        for (line, _), hidden, with_figures in zip(both, of_hidden, of_shown, strict=True):
            line.put_faultless_first(agreed(hidden, with_figures), self._is_faulty)

    def _replace_faulty(self, lines: Sequence[Line]) -> None:
        """Where the best candidate has a fault, put one without first, if an attempt finds any."""
        faulty = [line for line in lines if line.best and self._is_faulty(line, line.best)]
        for attempt in self._attempts:
            tried = []
            for line in faulty:
                source = attempt.mask(line.source)
                if attempt.mask is self.mask or source != line.masked:  # else nothing changes
                    tried.append((line, source))
            search = attempt.search(self.search)
            results = self._find([source for _, source in tried], search, self._wanted)
            for (line, _), candidates in zip(tried, results, strict=True):
                if self._improve(line, candidates):
                    faulty.remove(line)

    def _improve(self, line: Line, others: list[Candidate]) -> bool:
        """Take in other candidates if they give the line one without a fault; whether they do."""
        better = Line(line.source, line.checked, line.masked, line.candidates)
        better.put_faultless_first(others, self._is_faulty)
        if self._is_faulty(line, better.candidates[0]):
            return False
        line.candidates = better.candidates[: self.search.n_best]
        return True

    def _keep_unknown_words(self, lines: Sequence[Line]) -> None:
        """Put the word itself first where a line is one word, and the model does not know it."""
        if not self._into_chinese or not self.search.unknown_word:
            return
        least = math.log(self.search.unknown_word)
        for line in lines:
            word = line.source.strip()
            if _WORD.fullmatch(word) and line.best and line.best.log_prob < least:
                line.candidates = [Candidate(word, 0.0, 0.0), *line.candidates]

    def _put_in_spans(self, lines: Sequence[Line]) -> None:
        """Where the best candidate has a span changed, put a translation in parts around the spans first."""
        changed = [line for line in lines if line.best and self._lost_spans(line, line.best)]
        texts = [texts_between(line.source) for line in changed]
        masked = [mask_nothing(text) for of_line in texts for text in of_line]
        results = iter(self._find(masked, self.search))
        for line, of_line in zip(changed, texts, strict=True):
            translated = list(islice(results, len(of_line)))
            first = with_spans(line.source, translated, self._find.repair)
            line.candidates = [first, *line.candidates]

    # --- faults ---

    def _is_faulty(self, line: Line, candidate: Candidate) -> bool:
        """Whether a candidate should give way to another."""
        if self.search.verify == "retry":
            return bool(self._faults(line, candidate))
        lacks_terms = self._wanted is not None and self._faults_of_terms(line, candidate)
        if not candidate.text or lacks_terms:
            return True
        damaged = self._found_by(damage, line, candidate)
        return bool(damaged or repetition(line.checked, candidate.text))

    def _translation(self, source: str, line: Line) -> Translation:
        found = self._faults(line, line.best) if line.best else []
        n_best = tuple(line.candidates[: self.search.n_best])
        terms = None
        if self._terms is not None:
            terms = tuple(self._terms.uses(line.source, line.best.text if line.best else ""))
        return Translation(source, n_best, tuple(found), self.search.verify != "off", terms)

    def _faults(self, line: Line, candidate: Candidate) -> list[Fault]:
        """The faults that are reported."""
        look = damage if self.search.verify == "off" else faults
        return self._found_by(look, line, candidate) + self._faults_of_terms(line, candidate)

    def _found_by(self, look: Look, line: Line, candidate: Candidate) -> list[Fault]:
        """What is wrong beside the terms of a glossary."""
        found = look(line.checked, candidate.text, self._direction)
        lost = self._lost_spans(line, candidate) if line.checked != line.source else found
        return [fault for fault in found if fault.kind != "span mangled" or fault in lost]

    def _lost_spans(self, line: Line, candidate: Candidate) -> list[Fault]:
        """The spans that a translation lacks: those that the source has, and still has with its terms in place."""
        lost = mangled(line.source, candidate.text)
        return lost and [fault for fault in mangled(line.checked, candidate.text) if fault in lost]

    def _faults_of_terms(self, line: Line, candidate: Candidate) -> list[Fault]:
        if self._terms is None:
            return []
        used = self._terms.uses(line.source, candidate.text)
        return [Fault(TERM, problem) for problem in wrong(used, candidate.text)]
