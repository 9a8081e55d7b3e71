"""Which words, and short rows of words, one system gets right more often than another.

Shapes: S systems, G n-grams.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from nmt.report.systems.words import Ngram, WordCounts

Leads = np.ndarray[Any, np.dtype[np.int64]]

_SHOWN = 8  # n-grams of a pair of systems


@dataclass(frozen=True)
class Gram:
    """Words that are beside each other in references, and how often each of two systems had them too."""

    words: str
    ours: int
    theirs: int
    in_references: int


@dataclass(frozen=True)
class Advantage:
    """The n-grams that `system` gets right, and `other` does not, most often."""

    system: str
    other: str
    grams: list[Gram]


def advantages(systems: Sequence[str], counted: WordCounts) -> list[Advantage]:
    """For each ordered pair of systems; none for a single one."""
    if len(systems) < 2:
        return []
    ngrams = list(counted.differing)
    counts = np.array(list(counted.differing.values()), dtype=np.int64)
    counts = counts.reshape(len(ngrams), len(systems))
    found = []
    for one, other in permutations(range(len(systems)), 2):
        places = _largest(counts[:, one] - counts[:, other], ngrams)
        shown = [_gram(ngrams[place], counted, one, other) for place in places]
        found.append(Advantage(systems[one], systems[other], shown))
    return found


def _gram(ngram: Ngram, counted: WordCounts, one: int, other: int) -> Gram:
    right = counted.right(ngram)
    return Gram(" ".join(ngram), right[one], right[other], counted.wanted[ngram])


def _largest(leads: Leads, ngrams: Sequence[Ngram]) -> list[int]:
    """The places of the n-grams with the largest leads over 0 [G]; of equal ones the shortest first."""
    least = 1
    if len(leads) > _SHOWN:
        least = max(1, np.partition(leads, -_SHOWN)[-_SHOWN])
    places = np.flatnonzero(leads >= least).tolist()
    places.sort(key=lambda place: (leads[place], -len(ngrams[place]), ngrams[place]), reverse=True)
    return places[:_SHOWN]
