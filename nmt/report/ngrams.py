"""Which words, and short rows of words, one system gets right more often than another.

Shapes: S systems.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise, permutations

from nmt.report.lines import LineFacts

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
    found = []
    for one, other in permutations(range(len(systems)), 2):
        best = nlargest(
            _SHOWN,
            ((counts[one] - counts[other], gram) for gram, counts in right.items()),
            key=lambda each: (each[0], -len(each[1]), each[1]),
        )
        grams = [
            Gram(" ".join(gram), right[gram][one], right[gram][other], wanted[gram])
            for lead, gram in best
            if lead > 0
        ]
        found.append(Advantage(systems[one], systems[other], grams))
    return found


_Gram = tuple[str, ...]


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
        counted = [_grams(words) for words in line.words]
        for gram, count in reference.items():
            hits = [min(count, each.get(gram, 0)) for each in counted]
            if min(hits) == max(hits):
                agreed[gram] += hits[0]
            else:
                sums = right.setdefault(gram, [0] * systems)
                for system, hit in enumerate(hits):
                    sums[system] += hit
    for gram, sums in right.items():
        right[gram] = [count + agreed[gram] for count in sums]
    return right, wanted


def _grams(words: Sequence[str]) -> Counter[_Gram]:
    counted: Counter[_Gram] = Counter((word,) for word in words)
    counted.update(pairwise(words))
    counted.update(zip(words, words[1:], words[2:], strict=False))
    return counted
