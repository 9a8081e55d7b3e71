"""What each line of a test set shows by itself: what metrics count, faults, words. With many lines, on all cores.

Shapes: N lines, S systems, R references, C statistics of a line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from nmt.evaluate.fault_rates import kinds_of
from nmt.evaluate.measurement import count
from nmt.evaluate.resampling import Statistics
from nmt.evaluate.segment_scores import SegmentScores
from nmt.machine.workers import FREE_MEMORY, map_chunks
from nmt.report.systems.words import WordCounts
from nmt.text.side import Side
from nmt.text.tokenizers import TOKENIZERS

_WORDS = TOKENIZERS["jieba"]()
_CHUNK = 200  # lines that a process looks at in one go


@dataclass(frozen=True)
class TestSet:
    """What is compared: sources (None where they are not known), references [R][N], systems by name [S][N]."""

    __test__ = False  # pytest, this is no test
    sources: Sequence[str] | None
    references: Sequence[Sequence[str]]
    systems: dict[str, Sequence[str]]
    segment_scores: Sequence[SegmentScores] = ()  # what others gave each line

    def __len__(self) -> int:
        return len(self.references[0])

    @property
    def names(self) -> list[str]:
        """The systems' names."""
        return list(self.systems)


@dataclass(frozen=True)
class LineFacts:
    """The kinds of faults in one line, in order: of each system [S], and of each reference [R]."""

    faults: list[tuple[str, ...]]
    reference_faults: list[tuple[str, ...]]


@dataclass(frozen=True)
class Seen:
    """What lines show: `statistics` by metric [S, N, C], `facts` [N], and counts of words and n-grams."""

    statistics: dict[str, Statistics]
    facts: list[LineFacts]
    words: WordCounts


_Item = tuple[str | None, tuple[str, ...], tuple[str, ...]]  # source, references, systems


def look(test_set: TestSet, metrics: Sequence[str], side: Side | None) -> Seen:
    """Look at every line; words are the tokens of `side`, or else jieba's."""
    sources: Sequence[str | None] = test_set.sources or [None] * len(test_set)
    references = zip(*test_set.references, strict=True)
    systems = zip(*test_set.systems.values(), strict=True)
    items: Iterator[_Item] = zip(sources, references, systems, strict=True)
    work = partial(_look, metrics, side)
    parts = map_chunks(work, items, workers=0, chunk=_CHUNK, fix=FREE_MEMORY)
    return _joined(parts, len(test_set.systems))


def _joined(parts: Iterable[Seen], systems: int) -> Seen:
    statistics: dict[str, list[Statistics]] = {}
    facts: list[LineFacts] = []
    words = WordCounts(systems)
    for part in parts:
        for metric, counted in part.statistics.items():
            statistics.setdefault(metric, []).append(counted)
        facts += part.facts
        words.add(part.words)
    whole = {metric: np.concatenate(counted, axis=1) for metric, counted in statistics.items()}
    return Seen(whole, facts, words)


def _look(metrics: Sequence[str], side: Side | None, items: list[_Item]) -> Seen:
    references = list(zip(*(item[1] for item in items), strict=True))
    systems = list(zip(*(item[2] for item in items), strict=True))
    words = WordCounts(len(systems))
    for _, (reference, *_), outputs in items:
        # Systems that are alike often say the same.
        by_line = {line: _words(side, line) for line in {*outputs, reference}}
        said = [by_line[line] for line in outputs]
        words.count(by_line[reference], said)
    return Seen(
        statistics={metric: count(metric, systems, references) for metric in metrics},
        facts=[_facts_of(*item) for item in items],
        words=words,
    )


def _facts_of(
    source: str | None, references: tuple[str, ...], systems: tuple[str, ...]
) -> LineFacts:
    faults = {line: kinds_of(source, line) for line in {*systems, *references}}
    return LineFacts(
        faults=[faults[line] for line in systems],
        reference_faults=[faults[line] for line in references],
    )


def _words(side: Side | None, line: str) -> list[str]:
    if side is not None:
        return side.tokens(line)
    return [word for word in _WORDS.encode(line) if not word.isspace()]
