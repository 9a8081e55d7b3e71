"""What each line of a test set shows by itself: faults, and words. With many lines, on all cores.

Shapes: N lines, S systems, R references.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from nmt.corpus.workers import FREE_MEMORY, map_chunks
from nmt.evaluate.fault_rates import kinds_of
from nmt.evaluate.segment_scores import SegmentScores
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
    """What one line shows of each system [S] and reference [R]: kinds of faults, in order; words."""

    faults: list[tuple[str, ...]]
    reference_faults: list[tuple[str, ...]]
    words: list[list[str]]
    reference_words: list[str]  # of the first reference


_Item = tuple[str | None, tuple[str, ...], tuple[str, ...]]  # source, references, systems


def look(test_set: TestSet, side: Side | None) -> Iterator[LineFacts]:
    """Look at every line; words are the tokens of `side`, or else jieba's."""
    sources: Sequence[str | None] = test_set.sources or [None] * len(test_set)
    references = zip(*test_set.references, strict=True)
    systems = zip(*test_set.systems.values(), strict=True)
    items: Iterator[_Item] = zip(sources, references, systems, strict=True)
    for chunk in map_chunks(partial(_look, side), items, workers=0, chunk=_CHUNK, fix=FREE_MEMORY):
        yield from chunk


def _look(side: Side | None, items: list[_Item]) -> list[LineFacts]:
    return [_facts_of(side, *item) for item in items]


def _facts_of(
    side: Side | None, source: str | None, references: tuple[str, ...], systems: tuple[str, ...]
) -> LineFacts:
    # Systems that are alike often say the same.
    faults = {line: kinds_of(source, line) for line in {*systems, *references}}
    words = {line: _words(side, line) for line in {*systems, references[0]}}
    return LineFacts(
        faults=[faults[line] for line in systems],
        reference_faults=[faults[line] for line in references],
        words=[words[line] for line in systems],
        reference_words=words[references[0]],
    )


def _words(side: Side | None, line: str) -> list[str]:
    if side is not None:
        return side.tokens(line)
    return [word for word in _WORDS.encode(line) if not word.isspace()]
