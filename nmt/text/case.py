"""What is done to the case of a text before it is cut into tokens."""

import re
from collections.abc import Callable, Iterable

from nmt.text.pieces import SPACE, SentencePiece
from nmt.text.tokenizers import Tokenizer

Case = Callable[[str], str]

_WORD = re.compile(r"(?P<before>^|\s)?(?P<word>[^\W\d_]{2,})")


def case_for(tokenizer: Tokenizer, lowercase: bool = False, recase: bool = False) -> Case:
    """The rule that a side's settings ask for; only sentencepiece models can `recase`."""
    if lowercase:
        return str.lower
    if recase and isinstance(tokenizer, SentencePiece):
        return KnownCase(tokenizer.pieces())
    return as_written


def as_written(text: str) -> str:
    """The text itself."""
    return text


class KnownCase:
    """Writes words in a case that the vocabulary knows: `HELLO` as `Hello` if that is a piece and `HELLO` is none.

    A piece knows one case of a word only. Another one, at the start of a sentence or in a title, would be cut into
    pieces that say little about it. Left as they are: words that are a piece, words in a case of their own (iPhone),
    and words in capitals beside others that are not, since those are often names or code.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        """`pieces` are all that the sentencepiece model has."""
        self._pieces = frozenset(pieces)

    def __call__(self, text: str) -> str:
        """The text, as long as it was."""
        in_capitals = not any(map(str.islower, text))
        return _WORD.sub(lambda match: self._recased(match, in_capitals), text)

    def _recased(self, match: re.Match[str], in_capitals: bool) -> str:
        before, word = match["before"], match["word"]
        start = "" if before is None else SPACE  # how the piece of a whole word begins
        cases = [word.lower(), word.capitalize(), word.upper()]
        is_usual = word in (cases if in_capitals else cases[:2])
        if not is_usual or start + word in self._pieces:
            return match[0]
        for case in cases:
            if start + case in self._pieces and len(case) == len(word):
                return (before or "") + case
        return match[0]
