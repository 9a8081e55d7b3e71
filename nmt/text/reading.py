"""How a line is read before it is cut into tokens: in which case, and where its words begin."""

import re
from collections.abc import Callable
from typing import NamedTuple

from nmt.text.case import case_for
from nmt.text.pieces import SentencePiece
from nmt.text.tokenizers import Tokenizer

Reading = Callable[[str], str]

# Quotation marks and brackets that open at the start of a word: not those of f(x), it's and (a).
_OPENING = re.compile(r"""(?<! \S ) [("'\[{“‘«]++ (?= [^\W\d_]{2} | [^\W\d_][ '] )""", re.VERBOSE)


class ReadingSettings(NamedTuple):
    """The settings of one side that say how it is read."""

    lowercase: bool = False
    recase: bool = False
    detach: bool = False


def reading_for(tokenizer: Tokenizer, settings: ReadingSettings) -> Reading:
    """The rule that settings ask for; only sentencepiece models can `recase` and `detach`."""
    case = case_for(tokenizer, settings.lowercase, settings.recase)
    if settings.detach and isinstance(tokenizer, SentencePiece):
        return lambda text: case(detached(text))
    return case


def detached(text: str) -> str:
    """A text with a space behind each mark that opens at a word.

    Pieces are words as they stand behind a space. Behind a mark, a word is cut into pieces that say little about it.
    """
    return _OPENING.sub(r"\g<0> ", text)
