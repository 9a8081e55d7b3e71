"""Plain text: a unit is a paragraph, whose wrapped lines are joined; items and lines that stand alone stay apart.

Of a line in columns, each cell is a unit. Commands behind a prompt stay.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from nmt.documents.asked import Asked
from nmt.documents.columns import in_column
from nmt.documents.document import Document, Edit, Unit, Write, line_end
from nmt.documents.text import has_words, joined, plain
from nmt.documents.wrapping import aligned, paragraphs, row

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_OPTION = re.compile(r"--?\w")
_COMMAND = re.compile(
    r"""
    \s* (?: \$ | >>> | [A-Z]:\\[^\s>]*> ) \s                       # behind a prompt
  | \s{2,} (?: \./ | sudo\s | (?: \S+\s ){0,9}? (?: --\w | && | \$\w ) )
    [^\n]* [^.!?:;,\s] \s* $                                      # or deeper than words
    """,
    re.VERBOSE,
)


def read(text: str, asked: Asked) -> Document:
    """The paragraphs of a text."""
    places = [match.span(1) for match in _LINE.finditer(text)]
    lines = aligned([text[start:end] for start, end in places])
    units: list[Unit] = []
    for first, behind in paragraphs(lines):
        begins = places[first][0]
        cells = [(begins + start, begins + end) for start, end in row(lines[first])]
        if len(cells) == 1 and _COMMAND.match(lines[first]):
            continue
        name = f"line {first + 1}"
        for (start, end), (following, _) in pairwise(cells):
            if has_words(text[start:end]) and not _OPTION.match(text, start):
                units.append(_cell(text, start, end, following, name, asked.bilingual))
        start, end = cells[-1]
        words = joined([text[start:end], *lines[first + 1 : behind]])
        end = places[behind - 1][0] + len(lines[behind - 1].rstrip())
        if has_words(words):
            write = _writes(text, start, end, asked.bilingual)
            units.append(Unit(name, start, (plain(words),), write))
    return Document(text, units)


def _cell(text: str, start: int, end: int, following: int, name: str, bilingual: bool) -> Unit:
    """A cell with the gap behind it, which becomes narrower or wider."""
    cell, gap = text[start:end], text[end:following]

    def write(texts: Sequence[str]) -> list[Edit]:
        words = f"{cell} {texts[0]}" if bilingual else texts[0]
        return [Edit(start, following, in_column(words, cell, gap))]

    return Unit(name, start, (plain(cell),), write)


def _writes(text: str, start: int, end: int, bilingual: bool) -> Write:
    if not bilingual:
        return lambda texts: [Edit(start, end, texts[0])]
    eol = line_end(text)
    return lambda texts: [Edit(end, end, eol + texts[0])]
