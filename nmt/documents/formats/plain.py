"""Plain text: a unit is a paragraph, whose wrapped lines are joined; items and lines that stand alone stay apart."""

import re

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, Write, line_end
from nmt.documents.text import has_words, joined, plain
from nmt.documents.wrapping import paragraphs

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_MARK = re.compile(r"\s*(?:[-*+•‣>]+\s+|\(?\w{1,3}[.)]\s+)?")


def read(text: str, asked: Asked) -> Document:
    """The paragraphs of a text."""
    places = [match.span(1) for match in _LINE.finditer(text)]
    lines = [text[start:end] for start, end in places]
    units = []
    for first, behind in paragraphs(lines):
        mark = _MARK.match(lines[first])
        start = places[first][0] + (mark.end() if mark else 0)
        end = places[behind - 1][0] + len(lines[behind - 1].rstrip())
        words = joined([text[start : places[first][1]], *lines[first + 1 : behind]])
        if has_words(words):
            write = _writes(text, start, end, words, asked.bilingual)
            units.append(Unit(f"line {first + 1}", start, (plain(words),), write))
    return Document(text, units)


def _writes(text: str, start: int, end: int, words: str, bilingual: bool) -> Write:
    if not bilingual:
        return lambda texts: [Edit(start, end, texts[0])]
    eol = line_end(text)
    return lambda texts: [Edit(end, end, eol + texts[0])]
