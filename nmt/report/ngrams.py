"""Which words, and short rows of words, one system gets right more often than another.

Shapes: S systems, G n-grams.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, permutations
from typing import Any

import numpy as np

from nmt.report.lines import LineFacts

Leads = np.ndarray[Any, np.dtype[np.int64]]

_SHOWN = 8  # n-grams of a pair of systems


@dataclass(frozen=True)
class Gram:
    """Words that stand beside each other in references, and how often each of two systems had them too."""

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


def advantages(systems: Sequence[str], facts: Sequence[LineFacts]) -> list[Advantage]:
    """For each ordered pair of systems; none for a single one."""
    if len(systems) < 2:
        return []
    right, wanted = _right(len(systems), facts)
    grams = list(right)
    counts = np.array(list(right.values()), dtype=np.int64).reshape(len(grams), len(systems))
    found = []
    for one, other in permutations(range(len(systems)), 2):
        shown = []
        for place in _largest(counts[:, one] - counts[:, other], grams):
            gram = grams[place]
            ours, theirs = right[gram][one], right[gram][other]
            shown.append(Gram(" ".join(gram), ours, theirs, wanted[gram]))
        found.append(Advantage(systems[one], systems[other], shown))
    return found


_Gram = tuple[str, ...]


def _largest(leads: Leads, grams: Sequence[_Gram]) -> list[int]:
    """The places of the n-grams with the largest leads over 0 [G]; of equal ones the shortest first."""
    least = 1
    if len(leads) > _SHOWN:
        least = max(1, np.partition(leads, -_SHOWN)[-_SHOWN])
    places = np.flatnonzero(leads >= least).tolist()
    places.sort(key=lambda place: (leads[place], -len(grams[place]), grams[place]), reverse=True)
    return places[:_SHOWN]


def _right(
    systems: int, facts: Sequence[LineFacts]
) -> tuple[dict[_Gram, list[int]], Counter[_Gram]]:
    """How often each system had an n-gram of the references [S]; only those in which systems differ somewhere."""
    right: dict[_Gram, list[int]] = {}
    agreed: Counter[_Gram] = Counter()  # in lines where all systems had it equally often
    wanted: Counter[_Gram] = Counter()
    for line in facts:
        reference = _grams(line.reference_words)
        wanted.update(reference)
        for gram, counts in _hits(reference, line.words).items():
            if min(counts) == max(counts):
                agreed[gram] += counts[0]
            else:
                sums = right.setdefault(gram, [0] * systems)
                for system, count in enumerate(counts):
                    sums[system] += count
    for gram, sums in right.items():
        right[gram] = [count + agreed[gram] for count in sums]
    return right, wanted


def _hits(reference: Counter[_Gram], words: Sequence[Sequence[str]]) -> dict[_Gram, list[int]]:
    """How often each system has the n-grams of a reference, if one has them at all: at most as often as that [S]."""
    hits: dict[_Gram, list[int]] = {}
    for system, said in enumerate(words):
        own = _grams(said)
        for gram in own.keys() & reference.keys():
            counts = hits.setdefault(gram, [0] * len(words))
            counts[system] = min(own[gram], reference[gram])
    return hits


def _grams(words: Sequence[str]) -> Counter[_Gram]:
    triples = zip(words, words[1:], words[2:], strict=False)
    return Counter(chain(zip(words, strict=True), pairwise(words), triples))
