"""Where systems are good: by the length of sentences, by how often words were in train, by the length of outputs.

Shapes: S systems, B buckets.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nmt.evaluation.measurement import Measurement
from nmt.evaluation.test_set import TestSet
from nmt.report.systems.words import WordCounts

_LENGTHS = (
    1,
    11,
    21,
    31,
    41,
    61,
)  # words of the source, or characters of the reference, from which on
_CHARACTERS = (1, 16, 31, 46, 61, 91)
_IN_TRAIN: Sequence[int] = (0, 1, 10, 100, 1_000, 10_000)
_IN_REFERENCES: Sequence[int] = (0, 1, 2, 3, 6, 11, 51)
_RATIOS = (0.0, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5)


@dataclass(frozen=True)
class Bucketed:
    """Values of systems in buckets: `values` [S][B], None where a bucket is empty; `sizes` [B] in `unit`."""

    title: str
    unit: str
    value: str  # what the values are
    labels: list[str]
    sizes: list[int]
    values: list[list[float | None]]

    def buckets(self) -> Iterator[tuple[str, int, tuple[float | None, ...]]]:
        """The label and size of each bucket, and its values [S]."""
        return zip(self.labels, self.sizes, zip(*self.values, strict=True), strict=True)


def by_length(test_set: TestSet, measurement: Measurement) -> Bucketed:
    """The score of lines of like length: words of the source, or characters of the reference without one."""
    if test_set.sources is not None:
        title, edges = "words of the source", _LENGTHS
        lengths = [len(line.split()) for line in test_set.sources]
    else:
        title, edges = "characters of the reference", _CHARACTERS
        lengths = [len(line) for line in test_set.references[0]]
    buckets: list[list[int]] = [[] for _ in edges]
    for line, length in enumerate(lengths):
        buckets[_bucket(length, edges)].append(line)
    columns = [measurement.only(lines).values if lines else None for lines in buckets]
    return Bucketed(
        title=title,
        unit="lines",
        value=measurement.metric,
        labels=_labels(edges),
        sizes=[len(lines) for lines in buckets],
        values=[
            [None if column is None else column[system] for column in columns]
            for system in range(len(test_set.systems))
        ],
    )


def by_frequency(words: WordCounts, train_counts: dict[str, int] | None) -> Bucketed:
    """F1 of words, by how often each is in train, or else in the references themselves."""
    wanted_words = {ngram[0]: count for ngram, count in words.wanted.items() if len(ngram) == 1}
    if train_counts is None:
        title, edges, counts = "count of the word in the references", _IN_REFERENCES, wanted_words
    else:
        title, edges, counts = "count of the word in train", _IN_TRAIN, train_counts
    wanted = _sums(wanted_words, counts, edges)
    said = [_sums(each, counts, edges) for each in words.said]
    right_words = {word: words.right((word,)) for word in wanted_words}
    right = []
    for system in range(len(said)):
        of_system = {word: sums[system] for word, sums in right_words.items()}
        right.append(_sums(of_system, counts, edges))
    labels = _labels(edges)
    labels[0] = "in none" if train_counts is None else "not listed"
    return Bucketed(title, "words of the reference", "F1", labels, wanted, _f1(right, said, wanted))


def _sums(words: dict[str, int], counts: dict[str, int], edges: Sequence[int]) -> list[int]:
    """How many words there are in each bucket of `counts` [B]."""
    sums = [0] * len(edges)
    for word, times in words.items():
        sums[_bucket(counts.get(word, 0), edges)] += times
    return sums


def _f1(
    right: list[list[int]], said: list[list[int]], wanted: list[int]
) -> list[list[float | None]]:
    values: list[list[float | None]] = []
    for of_right, of_said in zip(right, said, strict=True):
        row: list[float | None] = []
        for matches, theirs, ours in zip(of_right, of_said, wanted, strict=True):
            row.append(200 * matches / (theirs + ours) if ours else None)
        values.append(row)
    return values


def by_ratio(test_set: TestSet) -> Bucketed:
    """How many lines of each system are how long beside the reference, in percent of all."""
    values: list[list[float | None]] = []
    total = [0] * len(_RATIOS)
    for lines in test_set.systems.values():
        counted = [0] * len(_RATIOS)
        for line, reference in zip(lines, test_set.references[0], strict=True):
            counted[_bucket(len(line) / max(1, len(reference)), _RATIOS)] += 1
        values.append([100 * count / len(lines) for count in counted])
        total = [sum(both) for both in zip(total, counted, strict=True)]
    labels = [f"{low:g}–{high:g}" for low, high in pairwise(_RATIOS)]
    title = "characters of the output / of the reference"
    return Bucketed(
        title, "lines of all systems", "% of lines", [*labels, f"≥ {_RATIOS[-1]:g}"], total, values
    )


def _bucket(value: float, edges: Sequence[float]) -> int:
    """The bucket that a value is in; one below all edges is in the first."""
    return max(0, bisect_right(edges, value) - 1)


def _labels(edges: Sequence[int]) -> list[str]:
    labels = []
    for low, high in pairwise(edges):
        labels.append(f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}")
    return [*labels, f"≥ {edges[-1]:,}"]
