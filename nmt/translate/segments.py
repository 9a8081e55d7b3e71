"""Lines too long for the model, split where a reader would pause, so that nothing is dropped."""

import re
from collections.abc import Callable, Iterator

# After a sentence's end; after a clause's; between words. A split never removes a character.
_BOUNDARIES = (
    re.compile(r"(?<=[.!?…][\"')\]]) +|(?<=[.!?…]) +|(?<=[。！？])"),
    re.compile(r"(?<=[,;:]) +|(?<=[，；：、])"),
    re.compile(r" +"),
)


def split_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Parts of `text` that each fit, as few as come of filling each part in turn.

    Parts end at sentence ends, else at clauses, else between words, else anywhere.
    """
    return list(_split(text, fits, 0))


def _split(text: str, fits: Callable[[str], bool], level: int) -> Iterator[str]:
    if fits(text):
        yield text
    elif level == len(_BOUNDARIES):
        yield from _halves(text, fits)
    else:
        parts = [part for part in _BOUNDARIES[level].split(text) if part]
        glue = "" if "".join(parts) == text else " "
        for part in _pack(parts, glue, fits):
            yield from _split(part, fits, level + 1)


def _pack(parts: list[str], glue: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Join neighbours as long as they fit together."""
    packed = parts[0]
    for part in parts[1:]:
        if fits(packed + glue + part):
            packed += glue + part
        else:
            yield packed
            packed = part
    yield packed


def _halves(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Cut a word without end in the middle until it fits (one character always does)."""
    if len(text) == 1 or fits(text):
        yield text
    else:
        middle = len(text) // 2
        yield from _halves(text[:middle], fits)
        yield from _halves(text[middle:], fits)
