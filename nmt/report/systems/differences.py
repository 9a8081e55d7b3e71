"""Where two lines differ, character by character: what of one is in their longest common subsequence.

A row of the table of lengths is one whole number, so that a line costs as many operations as it has characters
(Hyyrö, 2004, "Bit-parallel LCS-length computation revisited"): ten thousand lines of ten systems take seconds.
"""

from itertools import groupby
from typing import NamedTuple

_LONGEST = 4000  # characters; a longer line is compared only at its ends


class Piece(NamedTuple):
    """A part of a line. One that is left out is a part of the reference that the line has nothing for."""

    kind: str  # "same", "other" or "left out"
    text: str


def pieces(line: str, reference: str) -> list[Piece]:
    """A line in pieces: the same as in the reference, others, and what it leaves out."""
    start = _common_start(line, reference)
    end = _common_start(line[start:][::-1], reference[start:][::-1])
    middle = line[start : len(line) - end]
    theirs = reference[start : len(reference) - end]
    found = [Piece("same", line[:start]), *_compared(middle, theirs)]
    found.append(Piece("same", line[len(line) - end :]))
    return _joined([piece for piece in found if piece.text])


def _common_start(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _compared(line: str, reference: str) -> list[Piece]:
    if not line:
        return [Piece("left out", reference)] if reference.strip() else []
    if not reference or max(len(line), len(reference)) > _LONGEST:
        return [Piece("other", line)]
    found: list[Piece] = []
    i = j = 0
    for block in [*matching_blocks(line, reference), Block(len(line), len(reference), 0)]:
        if i < block.start:
            found.append(Piece("other", line[i : block.start]))
        elif reference[j : block.other].strip():  # spaces around Latin words are a matter of taste
            found.append(Piece("left out", reference[j : block.other]))
        i = block.start + block.length
        j = block.other + block.length
        found.append(Piece("same", line[block.start : i]))
    return found


def _joined(found: list[Piece]) -> list[Piece]:
    return [
        Piece(kind, "".join(piece.text for piece in group))
        for kind, group in groupby(found, key=lambda piece: piece.kind)
    ]


class Block(NamedTuple):
    """A part that two lines have in common: it starts at `start` in one and at `other` in the other."""

    start: int
    other: int
    length: int


def matching_blocks(one: str, other: str) -> list[Block]:
    """A longest common subsequence of both lines, in blocks of neighbours, in order."""
    rows = _rows(one, other)
    found = []
    i, j = len(one), len(other)
    while i and j:
        if rows[i] >> (j - 1) & 1:  # without other[j-1] it is as long
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:  # without one[i-1] it is as long
            i -= 1
        else:
            end = i
            while i and j and one[i - 1] == other[j - 1]:  # no longer one lacks this
                i -= 1
                j -= 1
            found.append(Block(i, j, end - i))
    return found[::-1]


def _rows(one: str, other: str) -> list[int]:
    """Row i: bit j is 0 where one[:i] and other[:j+1] have more in common than one[:i] and other[:j]."""
    places: dict[str, int] = {}
    for j, character in enumerate(other):
        places[character] = places.get(character, 0) | 1 << j
    everywhere = (1 << len(other)) - 1
    row = everywhere
    rows = [row]
    for character in one:
        matched = row & places.get(character, 0)
        row = ((row + matched) | (row - matched)) & everywhere
        rows.append(row)
    return rows
