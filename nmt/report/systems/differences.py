"""Where two lines differ, character by character: what of one is in their longest common subsequence."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

_LONGEST = 4000  # characters; a longer line is compared only at its ends

Block = tuple[int, int, int]  # where it starts in one line and in the other, and its length


class Piece(NamedTuple):
    """A part of a line. One that is left out is a part of the reference that the line has nothing for."""

    kind: str  # "same", "other" or "left out"
    text: str


def pieces(line: str, reference: str) -> list[Piece]:
    """A line in pieces: the same as in the reference, others, and what it leaves out."""
    found = []
    for kind, group in groupby(_compared(line, reference), key=lambda piece: piece.kind):
        text = "".join(piece.text for piece in group)
        if text:
            found.append(Piece(kind, text))
    return found


def _compared(line: str, reference: str) -> Iterator[Piece]:
    i = j = 0
    for start, other, length in _common_blocks(line, reference):
        if i < start:
            yield Piece("other", line[i:start])
        elif reference[j:other].strip():  # spaces around Latin words are a matter of taste
            yield Piece("left out", reference[j:other])
        i = start + length
        j = other + length
        if length:
            yield Piece("same", line[start:i])


def _common_blocks(line: str, reference: str) -> Sequence[Block]:
    """What both lines have in common, in order; the last block is empty, at the end of both."""
    from rapidfuzz.distance import LCSseq, Postfix, Prefix

    if max(len(line), len(reference)) <= _LONGEST:
        blocks = LCSseq.opcodes(line, reference).as_matching_blocks()
        return [(block.a, block.b, block.size) for block in blocks]
    start = Prefix.similarity(line, reference)
    end = Postfix.similarity(line[start:], reference[start:])
    common_end = (len(line) - end, len(reference) - end, end)
    return [(0, 0, start), common_end, (len(line), len(reference), 0)]
