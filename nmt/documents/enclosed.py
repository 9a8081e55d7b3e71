"""Texts without what encloses them as a whole: a model reads them better so."""

import re
from collections.abc import Callable
from dataclasses import replace

from nmt.documents.text import TAG, Text

_VOID = re.compile(r"(?:<|&lt;)(?:br|head|hr|meta)\b")
Put = Callable[[str], str]  # puts what encloses a text around its translation


def enclosed(text: Text) -> tuple[Text, Put]:
    """A text without the white space, pairs and single tags that enclose it, and what puts these around it.

    Placeholders stay: they are words of a sentence.
    """
    words = text.words
    start, end = _inside(text)
    head = words.count("\n", 0, start)
    tail = len(text.breaks) - words.count("\n", end)
    inner = replace(text, words=words[start:end], breaks=text.breaks[head:tail])
    around = words[:start] + "<x0/>" + words[end:]
    breaks = text.breaks[:head] + text.breaks[tail:]

    def put(filled: str) -> str:
        singles = {**text.singles, 0: (filled,)}
        whole = replace(text, words=around, singles=singles, breaks=breaks)
        return whole.filled(lambda leaf: leaf.words)

    return inner, put


def _inside(text: Text) -> tuple[int, int]:
    """Where the words begin and end that something encloses."""
    words = text.words
    tags = list(TAG.finditer(words))
    first, last = 0, len(tags) - 1
    start, end = _within(words, 0, len(words))
    while first <= last:
        opening, closing = tags[first], tags[last]
        if opening.start() == start and _is_tag(text, opening[3]):
            start, end = _within(words, opening.end(), end)
            first += 1
        elif closing.end() == end and _is_tag(text, closing[3]):
            start, end = _within(words, start, closing.start())
            last -= 1
        elif _is_pair(opening[0], closing[0]) and (opening.start(), closing.end()) == (start, end):
            start, end = _within(words, opening.end(), closing.start())
            first, last = first + 1, last - 1
        else:
            break
    return start, end


def _is_pair(opening: str, closing: str) -> bool:
    return opening.startswith("<g") and closing == f"</{opening[1:]}"


def _is_tag(text: Text, single: str | None) -> bool:
    """Whether a single piece is a tag of HTML that stands for no words, such as <br/>."""
    parts = text.singles[int(single)] if single else ()
    return len(parts) == 1 and isinstance(parts[0], str) and bool(_VOID.match(parts[0]))


def _within(words: str, start: int, end: int) -> tuple[int, int]:
    """Where words begin and end without the white space around them."""
    while start < end and words[start].isspace():
        start += 1
    while start < end and words[end - 1].isspace():
        end -= 1
    return start, end
