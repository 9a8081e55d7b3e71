"""Lines too long for the model, split where a reader would pause, so that nothing is dropped."""

import re
from collections.abc import Callable, Iterable, Iterator

# After a sentence's end; after a clause's; between words. A split never removes a character.
_BOUNDARIES = (
    r"(?<=[.!?…] )|(?<=[.!?…][\"')\]] )|(?<=[。！？])",
    r"(?<=[,;:] )|(?<=[，；：、])",
    r"(?<= )",
)


def split_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Parts of a normalised line that each fit; a line that fits is one part.

    A part is a sentence; one that is too long is cut after clauses, else between words, else anywhere, into as few
    parts as come of filling each in turn. (Sentences are not put together: a model that has seen single ones tends
    to translate one of several and drop the others.) Only spaces between parts are left out.
    """
    return list(_split(text, fits, 0))


def _split(text: str, fits: Callable[[str], bool], level: int) -> Iterator[str]:
    if len(text) == 1 or fits(text):
        yield text
    elif level == len(
        _BOUNDARIES
    ):  # a word without end is halved until it fits; one character always does
        yield from _split(text[: len(text) // 2], fits, level)
        yield from _split(text[len(text) // 2 :], fits, level)
    else:
        parts = filter(None, re.split(_BOUNDARIES[level], text))
        for part in map(str.strip, parts) if level == 0 else _pack(parts, fits):
            yield from _split(part, fits, level + 1)


def _pack(parts: Iterable[str], fits: Callable[[str], bool]) -> Iterator[str]:
    """Join neighbours as long as they fit together."""
    packed = ""
    for part in parts:
        if packed and not fits((packed + part).strip()):
            yield packed.strip()
            packed = ""
        packed += part
    yield packed.strip()
