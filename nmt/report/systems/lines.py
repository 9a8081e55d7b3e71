"""What each line of a test set shows by itself: what metrics count, faults, words. With many lines, on all cores.

Shapes: N lines, S systems, R references, C statistics of a line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from nmt.checks.faults import Direction
from nmt.evaluation.fault_rates import LineFaults, faults_of_line
from nmt.evaluation.measurement import count
from nmt.evaluation.resampling import Statistics
from nmt.evaluation.test_set import Line, TestSet
from nmt.machine.workers import FREE_MEMORY, map_chunks
from nmt.report.systems.words import WordCounts
from nmt.text.side import Side
from nmt.text.tokenizers import TOKENIZERS

_WORDS = TOKENIZERS["jieba"]()
_CHUNK = 200  # lines that a process looks at in one go


@dataclass(frozen=True)
class Seen:
    """What lines show: `statistics` by metric [S, N, C], `faults` [N], and counts of words and n-grams."""

    statistics: dict[str, Statistics]
    faults: list[LineFaults]
    words: WordCounts


def look(test_set: TestSet, metrics: Sequence[str], side: Side | None) -> Seen:
    """Look at every line; words are the tokens of `side`, or else jieba's."""
    work = partial(_look, metrics, side, test_set.direction)
    parts = map_chunks(work, test_set.lines(), workers=0, chunk=_CHUNK, fix=FREE_MEMORY)
    return _joined(parts, len(test_set.systems))


def _joined(parts: Iterable[Seen], systems: int) -> Seen:
    statistics: dict[str, list[Statistics]] = {}
    faults: list[LineFaults] = []
    words = WordCounts(systems)
    for part in parts:
        for metric, counted in part.statistics.items():
            statistics.setdefault(metric, []).append(counted)
        faults += part.faults
        words.add(part.words)
    whole = {metric: np.concatenate(counted, axis=1) for metric, counted in statistics.items()}
    return Seen(whole, faults, words)


def _look(
    metrics: Sequence[str], side: Side | None, direction: Direction, lines: list[Line]
) -> Seen:
    references = list(zip(*(line[1] for line in lines), strict=True))
    systems = list(zip(*(line[2] for line in lines), strict=True))
    words = WordCounts(len(systems))
    for _, (reference, *_), outputs in lines:
        # Systems that are alike often say the same.
        by_line = {line: _words(side, line) for line in {*outputs, reference}}
        said = [by_line[line] for line in outputs]
        words.count(by_line[reference], said)
    return Seen(
        statistics={metric: count(metric, systems, references) for metric in metrics},
        faults=[faults_of_line(direction, *line) for line in lines],
        words=words,
    )


def _words(side: Side | None, line: str) -> list[str]:
    if side is not None:
        return side.tokens(line)
    return [word for word in _WORDS.encode(line) if not word.isspace()]
