"""How a line is read before it is cut into tokens: in which case, and where its words begin."""

import re
from collections.abc import Callable

from nmt.text.case import case_for
from nmt.text.pieces import SentencePiece
from nmt.text.tokenizers import Tokenizer

Reading = Callable[[str], str]

# Quotation marks and brackets that open at the start of a word: not those of f(x), it's and (a).
_OPENING = re.compile(
    r"""(?<! [^\s("'\[{“‘«] ) [("'\[{“‘«]+ (?= [^\W\d_]{2} | [^\W\d_][ '] )""", re.VERBOSE
)


def reading_for(
    tokenizer: Tokenizer, lowercase: bool = False, recase: bool = False, detach: bool = False
) -> Reading:
    """The rule that a side's settings ask for; only sentencepiece models can `recase` and `detach`."""
    case = case_for(tokenizer, lowercase, recase)
    if detach and isinstance(tokenizer, SentencePiece):
        return lambda text: case(detached(text))
    return case


def detached(text: str) -> str:
    """A text with a space behind each mark that opens at a word.

    Pieces are words as they stand behind a space. Behind a mark, a word is cut into pieces that say little about it.
    """
    return _OPENING.sub(r"\g<0> ", text)
