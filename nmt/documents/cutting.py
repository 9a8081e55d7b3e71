"""Chinese cut into pieces of given sizes: behind clauses where it may be, else between words. For subtitles."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from nmt.documents.placeholders import TAG
from nmt.text import jieba_words

_TAG = re.compile(TAG, re.VERBOSE)
_AFTER_CLAUSE = frozenset("，。、；：！？…—,;!?）》”’」』】)")
_OPENING = frozenset("（《“‘「『【(")
_NEAR = 60  # places on either side of the right size that are looked at
_BETWEEN_WORDS = 4.0  # full-width characters that a piece may be off its size before a cut between words is better


class _Place(NamedTuple):
    """Where a text may be cut, the width of the text before it, and what the cut costs."""

    at: int
    width: float
    cost: float


def width_of(text: str) -> float:
    """The room of a text without its tags, in full-width characters."""
    return sum(map(_width, _TAG.sub("", text)))


def _width(character: str) -> float:
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.5


def cut(text: str, sizes: Sequence[float]) -> list[str] | None:
    """The text in as many pieces as there are sizes, in about these proportions; None if it is too short."""
    places = _places(text)
    widths = [place.width for place in places]
    cuts: list[int] = []
    scale = width_of(text) / (sum(sizes) or 1.0)
    for number, size in enumerate(list(accumulate(sizes))[:-1], 1):
        target = size * scale
        near = bisect_left(widths, target)
        last = len(places) - (len(sizes) - 1 - number)  # others have to follow
        first = min(max(cuts[-1] + 1 if cuts else 0, near - _NEAR), last - 1)
        choices = range(max(first, cuts[-1] + 1 if cuts else 0), min(last, first + 2 * _NEAR))
        if not choices:
            return None
        cuts.append(min(choices, key=lambda at: abs(widths[at] - target) + places[at].cost))
    ends = [0, *(places[at].at for at in cuts), len(text)]
    return [text[start:end].strip() for start, end in pairwise(ends)]


def in_lines(text: str, width: int) -> list[str]:
    """The text in lines of at most so many full-width characters, where its words allow it."""
    if not width or width_of(text) <= width:
        return [text]
    fewest = -int(-width_of(text) // width)
    attempts = [cut(text, [1.0] * lines) for lines in range(fewest, fewest + 3)]
    for pieces in attempts:
        if pieces is not None and all(width_of(piece) <= width for piece in pieces):
            return pieces
    return attempts[0] or [text]


def _places(text: str) -> list[_Place]:
    """Where a text may be cut: not within words, tags and what a pair of tags encloses."""
    found: list[_Place] = []
    width = 0.0
    depth = 0
    end = 0
    for tag in [*_TAG.finditer(text), None]:
        between = text[end : tag.start() if tag else len(text)]
        at = end
        for word in jieba_words.cut(between):
            at += len(word)
            width += sum(map(_width, word))
            if depth == 0 and at < len(text) and not _is_bound(text, at):
                found.append(
                    _Place(at, width, 0.0 if word[-1] in _AFTER_CLAUSE else _BETWEEN_WORDS)
                )
        if tag is not None:
            depth += 0 if tag[0].endswith("/>") else -1 if tag[0].startswith("</") else 1
            end = tag.end()
    return found


def _is_bound(text: str, at: int) -> bool:
    """Whether what stands before and behind a place belongs together."""
    before, after = text[at - 1], text[at]
    is_latin = (before + after).isascii() and not (before.isspace() or after.isspace())
    return is_latin or after in _AFTER_CLAUSE or before in _OPENING
