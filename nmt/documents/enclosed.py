"""Texts without what encloses them as a whole: a model reads them better so."""

from collections.abc import Callable
from dataclasses import replace

from nmt.documents.text import TAG, Text

Put = Callable[[str], str]  # puts what encloses a text around its translation


def enclosed(text: Text) -> tuple[Text, Put]:
    """A text without the white space and pairs that enclose it as a whole, and what puts these around it."""
    words = text.words
    tags = list(TAG.finditer(words))
    start, end = _within(words, 0, len(words))
    for first, last in zip(tags[: len(tags) // 2], reversed(tags), strict=False):
        is_pair = bool(first[2] and last[1]) and not first[1] and first[2] == last[2]
        if not is_pair or first.start() != start or last.end() != end:
            break
        start, end = _within(words, first.end(), last.start())
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


def _within(words: str, start: int, end: int) -> tuple[int, int]:
    """Where words begin and end without the white space around them."""
    while start < end and words[start].isspace():
        start += 1
    while start < end and words[end - 1].isspace():
        end -= 1
    return start, end
