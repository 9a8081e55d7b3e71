"""Words, and short rows of words (n-grams), counted: how often references have each, and how often systems do.

Counts of parts of a test set add up to those of all of it. Shapes: S systems.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

Words = Sequence[str]
Ngram = tuple[str, ...]


class WordCounts:
    """Words that each system says, and n-grams of one to three words of references that it has too.

    Of an n-gram, as many count as right in a line as both the system and the reference have.
    """

    def __init__(self, systems: int) -> None:
        self.said: list[Counter[str]] = [Counter() for _ in range(systems)]  # [S]
        self.wanted: Counter[Ngram] = Counter()  # of the references
        # In most lines all systems have an n-gram equally often: there one number stands for all.
        self._agreed: Counter[Ngram] = Counter()
        self.differing: dict[Ngram, list[int]] = {}  # in the other lines [S]

    def count(self, reference: Words, systems: Sequence[Words]) -> None:
        """Count a line: the words of its reference, and of each system [S]."""
        wanted = Counter(_ngrams(reference))
        self.wanted.update(wanted)
        for said, words in zip(self.said, systems, strict=True):
            said.update(words)
        for ngram, counts in _hits(wanted, systems).items():
            if min(counts) == max(counts):
                self._agreed[ngram] += counts[0]
            else:
                self._add_differing(ngram, counts)

    def add(self, other: "WordCounts") -> None:
        """Add what was counted in other lines."""
        self.wanted.update(other.wanted)
        for said, more in zip(self.said, other.said, strict=True):
            said.update(more)
        self._agreed.update(other._agreed)
        for ngram, counts in other.differing.items():
            self._add_differing(ngram, counts)

    def right(self, ngram: Ngram) -> list[int]:
        """How often each system has an n-gram of the references [S]."""
        agreed = self._agreed[ngram]
        differing = self.differing.get(ngram)
        if differing is None:
            return [agreed] * len(self.said)
        return [count + agreed for count in differing]

    def _add_differing(self, ngram: Ngram, counts: list[int]) -> None:
        sums = self.differing.get(ngram)
        if sums is not None:
            counts = [one + other for one, other in zip(sums, counts, strict=True)]
        self.differing[ngram] = counts


def _hits(wanted: Counter[Ngram], systems: Sequence[Words]) -> dict[Ngram, list[int]]:
    """How often each system has the n-grams of a reference, if one has them at all: at most as often as that [S]."""
    hits: dict[Ngram, list[int]] = {}
    for system, said in enumerate(systems):
        own = Counter(filter(wanted.__contains__, _ngrams(said)))
        for ngram, count in own.items():
            counts = hits.setdefault(ngram, [0] * len(systems))
            counts[system] = min(count, wanted[ngram])
    return hits


def _ngrams(words: Words) -> Iterator[Ngram]:
    triples = zip(words, words[1:], words[2:], strict=False)
    return chain(zip(words, strict=True), pairwise(words), triples)
