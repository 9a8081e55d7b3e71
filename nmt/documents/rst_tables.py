"""Tables of reStructuredText, which are drawn with lines: their cells, and the same table around other cells.

Chinese characters take two columns, as in docutils. A table with cells that span others is none here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import dedent

from nmt.documents.columns import column_width

_GRID_RULE = re.compile(r"\+(?:(?:-+\+)++|(?:=+\+)++)")
_SIMPLE_RULE = re.compile(r"=+(?:\s+=+)++")
_SPANS = re.compile(r"-+(?:\s+-+)*+")

Row = list[str]  # the text of each cell, with line breaks


@dataclass(frozen=True)
class Table:
    """A table by its lines: a rule ("-" or "=") or a blank line ("") is a string, a row has its cells."""

    widths: tuple[int, ...]  # of the cells, in columns
    gaps: tuple[
        int, ...
    ]  # of a simple table: blanks behind each cell but the last; a grid has none
    parts: Sequence[str | Row]

    def rows(self) -> list[Row]:
        """The rows, without the rules."""
        return [part for part in self.parts if not isinstance(part, str)]

    def drawn(self, rows: Sequence[Row]) -> Iterator[str]:
        """The lines of the table with other cells, in columns that are wide enough."""
        widths = list(self.widths)
        for row in rows:
            for at, cell in enumerate(row):
                widths[at] = max(widths[at], *map(column_width, cell.split("\n")))
        following = iter(rows)
        for part in self.parts:
            if not isinstance(part, str):
                yield from self._row(next(following), widths)
            else:
                yield self._line([part * width for width in widths], part) if part else ""

    def _row(self, row: Row, widths: Sequence[int]) -> Iterator[str]:
        cells = [cell.split("\n") for cell in row]
        for number in range(max(map(len, cells))):
            words = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [
                part + " " * (width - column_width(part))
                for part, width in zip(words, widths, strict=True)
            ]
            yield self._line(padded, "")

    def _line(self, cells: Sequence[str], rule: str) -> str:
        if self.gaps:
            spaced = [cell + " " * gap for cell, gap in zip(cells, (*self.gaps, 0), strict=True)]
            return "".join(spaced).rstrip()
        border, room = ("+", rule) if rule else ("|", " ")
        return border + border.join(f"{room}{cell}{room}" for cell in cells) + border


def grid_table(lines: Sequence[str]) -> Table | None:
    """A table in a grid. None if cells span others, or the lines are not straight."""
    rule = lines[0]
    borders = [match.start() for match in re.finditer(r"\+", rule)]
    between = list(pairwise(borders))
    parts: list[str | Row] = []
    block: list[str] = []
    for line in lines:
        is_straight = len(line) == len(rule) == column_width(line)
        if is_straight and all(line[at] == "|" for at in borders):
            block.append(line)
        elif is_straight and _GRID_RULE.fullmatch(line) and line.replace("=", "-") == rule:
            if block:
                parts.append([_cell(block, start + 1, end) for start, end in between])
            parts.append(line[1])
            block = []
        else:
            return None
    widths = tuple(max(end - start - 3, 0) for start, end in between)
    return None if block else Table(widths, (), parts)


def simple_table(lines: Sequence[str]) -> Table | None:
    """A table between rules of equal signs. None if cells span others, or stand across columns."""
    rules = [match.span() for match in re.finditer(r"=+", lines[0])]
    gaps = [(end, start) for (_, end), (start, _) in pairwise(rules)]
    columns = list(pairwise([*(start for start, _ in rules), max(map(len, lines)) + 1]))
    parts: list[str | Row] = []
    block: list[str] = []
    for line in lines:
        is_rule = _SIMPLE_RULE.fullmatch(line)
        if is_rule or line[: columns[0][1]].strip():
            parts += _row(block, columns)
            block = []
        if is_rule and [match.span() for match in re.finditer(r"=+", line)] == rules:
            parts.append("=")
        elif (
            is_rule or _SPANS.fullmatch(line) or any(line[start:end].strip() for start, end in gaps)
        ):
            return None
        else:
            block.append(line)
    widths = tuple(end - start for start, end in rules)
    return Table(widths, tuple(end - start for start, end in gaps), parts)


def _row(block: list[str], columns: Sequence[tuple[int, int]]) -> Iterator[str | Row]:
    """A row by its lines, and the blank lines behind it."""
    size = max((at + 1 for at, line in enumerate(block) if line), default=0)
    if size:
        yield [_cell(block[:size], start, end) for start, end in columns]
    yield from block[size:]


def _cell(block: Sequence[str], start: int, end: int) -> str:
    """The text between two columns, without what all its lines have before it."""
    return dedent("\n".join(line[start:end].rstrip() for line in block)).rstrip()
