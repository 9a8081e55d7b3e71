"""Text in columns: how wide words are, and the cells of a line, between blanks or between commas."""

import re
import unicodedata
from collections.abc import Iterator

# Blanks, or dots that lead the eye.
_GAP = re.compile(r"(?<=\S)(?: {3,}|\t+| *\.{4,} *| (?:\. ){3,}\.? *)(?=\S)")
_VALUE = re.compile(r'"(?:[^"]|"")*+"|[^\s",](?:[^",]*[^\s",])?')  # between commas
_NEAREST = 2  # blanks between cells


def column_width(words: str) -> int:
    """How many columns words take, of which Chinese characters have two."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in words)
    return len(words) + wide - sum(map(bool, map(unicodedata.combining, words)))


def cells(line: str) -> list[tuple[int, int]]:
    """Where the cells of a line begin and end: one, unless there are gaps of three blanks, four dots, or more."""
    gaps = [gap.span() for gap in _GAP.finditer(line)]
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    starts = [start, *(gap[1] for gap in gaps)]
    ends = [*(gap[0] for gap in gaps), end]
    return list(zip(starts, ends, strict=True))


def in_column(words: str, cell: str, gap: str) -> str:
    """Words in place of a cell and of the gap behind it, so that the next cell stays in its column if it can."""
    if gap.strip(" ") or not gap:
        return words + gap
    return words + " " * max(column_width(cell) + len(gap) - column_width(words), _NEAREST)


def values(line: str) -> Iterator[tuple[int, str]]:
    """The cells between commas, in quotes or not, as they are written; each with its place."""
    for value in _VALUE.finditer(line):
        yield value.start(), value[0]


def unquoted(value: str) -> str:
    """The words of a cell between commas."""
    return value[1:-1].replace('""', '"') if value.startswith('"') else value


def quoted(words: str, before: str) -> str:
    """Words as a cell between commas: in quotes if those before were, or if they need it."""
    if before.startswith('"') or "," in words or '"' in words:
        return '"' + words.replace('"', '""') + '"'
    return words
