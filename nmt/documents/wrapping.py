"""Lines that were wrapped by hand: which breaks stand between sentences or items, and which within a sentence."""

import re
from collections.abc import Sequence
from itertools import pairwise

from nmt.documents.columns import cells

_SHORTEST = 40  # characters of the longest line of a paragraph that was wrapped
_ENDS = re.compile(r"[.!?:;。！？…][\"')\]]*$")
# What stands before the words of an item, a clause, or a line of a mail.
_MARK = re.compile(
    r"\s*(?:[-*+•‣>]+\s+|\(?\w{1,3}[.)]\s+|\d{1,3}(?:\.\d{1,3}){1,4}\.?\s+(?=[A-Z\"“]))"
)
_TWO_BLANKS = re.compile(r"(?<=\S)  (?=\S)")
_BEGINS_ITEM = re.compile(
    r"[-*+•#>|$]\s|\(?\w{1,3}[.)]\s|\d{1,3}(?:\.\d{1,3}){1,4}\.?\s+[A-Z\"“]|--?\w|$"
)


def is_soft(before: str, after: str, width: int) -> bool:
    """Whether the break between two lines is for want of room: the next word would not fit into `width` characters."""
    word = after.strip().partition(" ")[0]
    is_full = len(before.rstrip()) + 1 + len(word) > width >= _SHORTEST
    return is_full and not _BEGINS_ITEM.match(after.strip())


def row(line: str) -> list[tuple[int, int]]:
    """Where the cells of a line begin and end, without the mark of an item: one, unless it is in columns."""
    mark = _MARK.match(line)
    start = mark.end() if mark else 0
    return [(start + begins, start + ends) for begins, ends in cells(line[start:])]


def aligned(lines: Sequence[str]) -> list[str]:
    """Lines with tabs in place of two blanks, where these end at a column of other lines of the same block."""
    found = list(lines)
    for start, end in _blocks(lines):
        columns = {begins for line in lines[start:end] for begins, _ in row(line)[1:]}
        for number in range(start, end) if columns else ():
            for gap in _TWO_BLANKS.finditer(lines[number]):
                if gap.end() in columns:
                    line = found[number]
                    found[number] = f"{line[: gap.start()]}\t\t{line[gap.end() :]}"
    return found


def paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The runs of lines, from one number to before another, that are wrapped lines of one paragraph."""
    found: list[tuple[int, int]] = []
    for start, end in _blocks(lines):
        width = max(len(line.rstrip()) for line in lines[start:end])
        begin = start
        for number in range(start + 1, end):
            if _goes_on(lines[begin], lines[number]):
                continue
            is_indented = (
                _indent(lines[number]) != _indent(lines[number - 1]) and number > begin + 1
            )
            in_columns = any(len(row(line)) > 1 for line in lines[number - 1 : number + 1])
            if is_indented or in_columns or not is_soft(lines[number - 1], lines[number], width):
                found.append((begin, number))
                begin = number
        found.append((begin, end))
    return found


def _goes_on(item: str, line: str) -> bool:
    """Whether a line is of the item, or of the last cell, above it: as far to the right as its words."""
    column = row(item)[-1][0]
    is_beside = column > _indent(item) and _indent(line) == column
    return is_beside and not _BEGINS_ITEM.match(line.strip())


def _blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The runs of lines that are neither blank nor rules."""
    found = []
    start: int | None = None
    for number, line in enumerate([*lines, ""]):
        has_words = any(map(str.isalnum, line))
        if has_words and start is None:
            start = number
        elif not has_words and start is not None:
            found.append((start, number))
            start = None
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def unwrapped(words: str) -> str:
    """A message whose soft breaks are spaces; what ends a sentence, or begins with a space, keeps its line."""
    if "\n" not in words:
        return words
    lines = words.split("\n")
    width = max(map(len, lines))
    kept = lines[:1]
    for before, line in pairwise(lines):
        ends = _ENDS.search(before.rstrip()) or line[:1].isspace() or not before.strip()
        if not ends and is_soft(before, line, width):
            kept[-1] = f"{kept[-1].rstrip()} {line}"
        else:
            kept.append(line)
    return "\n".join(kept)
