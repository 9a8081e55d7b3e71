"""Lines too long for the model, split where a reader would pause, so that nothing is dropped."""

import re
from collections.abc import Callable, Iterable, Iterator

_AFTER_SENTENCES = re.compile(
    r"""
    (?<= [.!?…][ ] )            # He came.| She left.
    | (?<= [.!?…]["')\]][ ] )   # He said "Go." |Then he left.
    | (?<= [。！？] )            # 我来了。|你走吧！
    """,
    re.VERBOSE,
)
_AFTER_CLAUSES = re.compile(
    r"""
    (?<= [,;:][ ] )      # one, |two; |three
    | (?<= [，；：、] )  # 我来了，|你走吧
    """,
    re.VERBOSE,
)
_BETWEEN_WORDS = re.compile(r"(?<= )")
# What a line is split at, in turn, until its parts fit. A split never removes a character.
_BOUNDARIES = (_AFTER_SENTENCES, _AFTER_CLAUSES, _BETWEEN_WORDS)


def split_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Parts of a normalised line that each fit; a line that fits is one part.

    A part is a sentence. One that is too long is cut after clauses, else between words, else anywhere, and
    each part is filled before the next is begun. (Sentences are not put together: a model that has seen
    single ones tends to translate one of several and drop the others.) Only spaces between parts are left out.
    """
    return list(_split(text, fits, level=0))


def _split(text: str, fits: Callable[[str], bool], level: int) -> Iterator[str]:
    """Split at the boundaries of a level; what still does not fit, at those of the next."""
    if len(text) == 1 or fits(text):
        yield text
        return
    for part in _parts(text, fits, level):
        yield from _split(part, fits, level + 1)


def _parts(text: str, fits: Callable[[str], bool], level: int) -> Iterable[str]:
    # An endless word is halved until it fits; one character always does.
    if level >= len(_BOUNDARIES):
        middle = len(text) // 2
        return text[:middle], text[middle:]
    pieces = [piece for piece in _BOUNDARIES[level].split(text) if piece]
    if level == 0:
        return [sentence.strip() for sentence in pieces]
    return _pack(pieces, fits)


def _pack(pieces: Iterable[str], fits: Callable[[str], bool]) -> Iterator[str]:
    """Join neighbours as long as they fit together."""
    packed = ""
    for piece in pieces:
        if packed and not fits((packed + piece).strip()):
            yield packed.strip()
            packed = ""
        packed += piece
    yield packed.strip()
