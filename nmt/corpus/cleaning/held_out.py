"""A random draw of dev and test pairs from train: a function of the seed and of what the pairs say."""

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from nmt.run.folder import Split

_PAIRS_PER_HELD_OUT = 10  # a split gets at most one pair in this many
_CANDIDATES_PER_PAIR = 4  # remembered for each pair that is asked for, since some share a sentence


class HeldOut(NamedTuple):
    """A pair that was drawn: for which split, and the keys of its sentences."""

    split: Split
    src_key: int
    tgt_key: int


class _Candidate(NamedTuple):
    rank: int  # the pair's key, negated: the largest rank is drawn first
    src_key: int
    tgt_key: int


class HeldOutDraw:
    """Pairs enter as they stream by; those with the smallest keys are drawn."""

    def __init__(self, sizes: dict[Split, int]) -> None:
        """`sizes`: how many pairs each split should get; the first split draws first."""
        self.sizes = sizes
        self._capacity = _CANDIDATES_PER_PAIR * sum(sizes.values())
        self._candidates: list[_Candidate] = []  # a heap: the candidate to give up next comes first
        self._keys: set[int] = set()  # of the candidates

    def enter(self, key: int, src_key: int, tgt_key: int) -> None:
        """Let a pair take part, once however often it comes."""
        if key in self._keys:
            return
        candidate = _Candidate(-key, src_key, tgt_key)
        if len(self._candidates) < self._capacity:
            heapq.heappush(self._candidates, candidate)
        elif self._candidates and candidate > self._candidates[0]:
            given_up = heapq.heapreplace(self._candidates, candidate)
            self._keys.remove(-given_up.rank)
        else:
            return
        self._keys.add(key)

    def drawn(self, entered: int) -> dict[int, HeldOut]:
        """The pairs that were drawn, by their keys. `entered` is how many different pairs took part.

        No sentence is drawn twice, and no split gets more than its largest share.
        """
        candidates = self._without_shared_sentences()
        drawn: dict[int, HeldOut] = {}
        for split, size in self.sizes.items():
            count = min(size, entered // _PAIRS_PER_HELD_OUT)
            for candidate in islice(candidates, count):
                key = -candidate.rank
                drawn[key] = HeldOut(split, candidate.src_key, candidate.tgt_key)
        return drawn

    def _without_shared_sentences(self) -> Iterator[_Candidate]:
        """The candidates from the smallest key on, without those that share a sentence with one before."""
        taken: set[int] = set()
        for candidate in sorted(self._candidates, reverse=True):
            sentences = {candidate.src_key, candidate.tgt_key}
            if taken.isdisjoint(sentences):
                taken |= sentences
                yield candidate
