"""The lines of reStructuredText: a block is a sequence of them, each with the column in which it begins."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
RULE = re.compile(r"([!-/:-@\[-`{-~])\1*+")


class Line(NamedTuple):
    """A line of a block: the column and the place where it begins, behind the marks of its item."""

    indent: int
    start: int
    text: str

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)

    def behind(self, count: int) -> "Line":
        """What follows the first characters, as a line."""
        rest = self.text[count:].lstrip()
        passed = self.text[: len(self.text) - len(rest)]
        indent = len((" " * self.indent + passed).expandtabs()) if "\t" in passed else 0
        return Line(indent or self.indent + len(passed), self.start + len(passed), rest)


Lines = Sequence[Line]


def lines_of(text: str) -> list[Line]:
    """The lines of a text, without the blanks around them."""
    lines = []
    for match in _LINE.finditer(text):
        content = match[0].rstrip().removeprefix("\ufeff")
        stripped = content.lstrip()
        start = match.start() + match[0].index(stripped)
        lines.append(Line(len(content[: -len(stripped)].expandtabs()), start, stripped))
    return lines


# --- where blocks end ---


def indented(lines: Lines, at: int, column: int) -> int:
    """Where lines that are blank, or begin at a column or behind it, end."""
    while at < len(lines) and (not lines[at].text or lines[at].indent >= column):
        at += 1
    return at


def blank(lines: Lines, at: int) -> int:
    """The number of the next blank line."""
    while at < len(lines) and lines[at].text:
        at += 1
    return at


def end_of_table(lines: Lines, at: int) -> int:
    """Behind the rule that closes a simple table: the third, or the second above a blank line."""
    rules = 1
    for end in range(at + 1, len(lines)):
        if lines[end].text.startswith("=") and set(lines[end].text) <= set("= \t"):
            rules += 1
            if rules == 3 or end + 1 == len(lines) or not lines[end + 1].text:
                return end + 1
    return blank(lines, at)


def end_of_literal(lines: Lines, at: int, base: int) -> int:
    """Behind a literal block, indented or with a mark of quotation before each line."""
    while at < len(lines) and not lines[at].text:
        at += 1
    if at < len(lines) and lines[at].indent <= base and RULE.match(lines[at].text):
        return blank(lines, at)
    return indented(lines, at, base + 1)


# --- lines ---


def column(lines: Lines) -> int:
    """The column in which a block begins."""
    return min((line.indent for line in lines if line.text), default=0)


def with_first(first: Line, others: Lines) -> list[Line]:
    """The lines of a block whose first stands behind marks, in the column of the others."""
    start = column(others) or first.indent
    return [first._replace(indent=start), *others] if first.text else list(others)


def cut(line: Line, mark: str) -> Line:
    """A line without what follows a mark."""
    return line._replace(text=line.text.partition(mark)[0].rstrip())
