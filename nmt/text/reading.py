"""How a line is read before it is cut into tokens: in which case, and where its words begin."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nmt.text.pieces import SPACE, SentencePiece
from nmt.text.tokenizers import Tokenizer

Reading = Callable[[str], str]

_LETTER = r"[^\W\d_]"
_WORD = re.compile(
    rf"""
    (?<! [\w.:/\\@#$&=+~] ) (?<! \w' )  # not within an identifier, a path or a contraction
    (?: {_LETTER}{{2,}} (?: '{_LETTER}+ )? | {_LETTER}'{_LETTER}+ )
    (?! \w | [.:/\\@#$&=+~'(]\w )
    """,
    re.VERBOSE,
)
# Quotation marks and brackets that open at the start of a word: not those of f(x), it's and (a).
_OPENING = re.compile(r"""(?<! \S ) [("'\[{“‘«]++ (?= [^\W\d_]{2} | [^\W\d_][ '] )""", re.VERBOSE)


class ReadingSettings(NamedTuple):
    """The settings of one side that say how it is read."""

    lowercase: bool = False
    recase: bool = False
    detach: bool = False


def reading_for(tokenizer: Tokenizer, settings: ReadingSettings) -> Reading:
    """The rule that settings ask for; only sentencepiece models can `recase` and `detach`."""
    case = _case_for(tokenizer, settings)
    if settings.detach and isinstance(tokenizer, SentencePiece):
        return lambda text: case(detached(text))
    return case


def _case_for(tokenizer: Tokenizer, settings: ReadingSettings) -> Reading:
    if settings.lowercase:
        return str.lower
    if settings.recase and isinstance(tokenizer, SentencePiece):
        return KnownCase(tokenizer.pieces())
    return as_written


def detached(text: str) -> str:
    """A text with a space behind each mark that opens at a word.

    Pieces are words as they look after a space. Behind a mark, a word is cut into pieces that say little about it.
    """
    return _OPENING.sub(r"\g<0> ", text)


def as_written(text: str) -> str:
    """The text itself."""
    return text


class KnownCase:
    """Writes words in a case that the vocabulary knows: `HELLO` as `Hello` if that is a piece and `HELLO` is none.

    A piece knows one case of a word only. Another one, at the start of a sentence or in a title, would be cut into
    pieces that say little about it. Left as they are: words that are a piece, words in a case of their own (iPhone),
    words in capitals beside others that are not, since those are often names or code, and parts of identifiers.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        """`pieces` are all that the sentencepiece model has."""
        self._pieces = frozenset(pieces)

    def __call__(self, text: str) -> str:
        """The text, as long as it was."""
        in_capitals = not any(map(str.islower, text))
        return _WORD.sub(lambda place: self._recased(place, in_capitals), text)

    def _recased(self, place: re.Match[str], in_capitals: bool) -> str:
        word = place[0]
        cases = [word.lower(), word.capitalize(), word.upper()]
        usual = cases if in_capitals else cases[:2]
        if word not in usual:
            return word
        follows_space = place.start() == 0 or place.string[place.start() - 1] == " "
        start = SPACE if follows_space else ""
        for case in (word, *cases):
            if len(case) == len(word) and self._knows(start + case):
                return case
        return word

    def _knows(self, word: str) -> bool:
        """Whether a word is a piece; an apostrophe is always a piece of its own."""
        return all(part in self._pieces for part in word.split("'"))
