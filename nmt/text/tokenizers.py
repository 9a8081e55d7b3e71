"""Text ↔ tokens. The law of every tokenizer: `decode(encode(x)) == x` for normalised x.

(`whitespace` and `plain` keep it up to spaces, and so does the sentence that they decode to: they
are for languages that write spaces.) No token holds white space; `▁` (U+2581), which `normalize`
takes out of the text, stands for a space that the target must restore. A placeholder of a protected
span (`nmt.spans.masking`) is a token of its own wherever it is, except in text that is tokenised
already (`plain`).

A new tokenizer is a class, its line in `TOKENIZERS`, and its name in `TokenizerName` of
`nmt.config.kinds`.
"""

import re
from pathlib import Path
from typing import Protocol

from nmt.errors import ModelError
from nmt.files import read_bytes
from nmt.text import jieba_words
from nmt.text.pieces import SPACE, SentencePiece


class Tokenizer(Protocol):
    """Text to tokens and back."""

    def encode(self, text: str) -> list[str]:
        """Split one normalised line."""

    def decode(self, tokens: list[str]) -> str:
        """Join tokens to one line of text."""


_CONTRACTION = r"n't\b | '(?:s|m|re|ve|ll|d)\b"  # two alternatives: do n't, Tom 's
_ENDING = r"(?: st | nd | rd | th | s )\b"  # 10 th, 1990 s
_TOKEN = re.compile(
    rf"""
    \d+ (?: [.,:]\d+ )+ (?!\w)      # 3.14, 1,000 or 10:30
  | \d+ (?= {_ENDING} )             # the 10 of 10th
  | \w+? (?= n't\b )                # the do of don't
  | {_CONTRACTION}
  | \w+
  | \S
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Spaces between tokens that decoding takes out.
_ATTACH_LEFT = re.compile(
    rf"""
    [ ] (?= [.,;:!?%)\]}}…]         # go !
          | {_CONTRACTION}          # do n't
    )
  | (?<= \d ) [ ] (?= {_ENDING} )   # 10 th
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ATTACH_RIGHT = re.compile(r"(?<=[(\[{$#@]) ")  # ( or
_QUOTED = re.compile(r"(^|(?<=\s))\" (.*?) \"(?=\W|$)")


class Whitespace:
    """Words by white space with punctuation split off.

    Numbers stay whole, without their endings ("10 th", "1990 s"), and contractions part as in the
    Penn Treebank ("do n't", "Tom 's").
    """

    def encode(self, text: str) -> list[str]:
        """`Don't go!` → `Do n't go !`."""
        return _TOKEN.findall(text)

    def decode(self, tokens: list[str]) -> str:
        """Spaces between words, punctuation attached as English attaches it."""
        text = _ATTACH_LEFT.sub("", " ".join(tokens))
        text = _ATTACH_RIGHT.sub("", text)
        return _QUOTED.sub(r'\1"\2"', text)


class Plain:
    """Words by white space alone: for text that is tokenised already."""

    def encode(self, text: str) -> list[str]:
        """Split at white space."""
        return text.split()

    def decode(self, tokens: list[str]) -> str:
        """Join with spaces."""
        return " ".join(tokens)


class Char:
    """Every character is a token."""

    def encode(self, text: str) -> list[str]:
        """Split into characters."""
        return list(text.replace(" ", SPACE))

    def decode(self, tokens: list[str]) -> str:
        """Join characters or words: Chinese has no spaces but those that were tokens."""
        return "".join(tokens).replace(SPACE, " ")


class Jieba(Char):
    """Chinese words by jieba's dictionary and hidden Markov model."""

    def encode(self, text: str) -> list[str]:
        """Split into words."""
        return [SPACE if word == " " else word for word in jieba_words.cut(text)]


TOKENIZERS: dict[str, type[Tokenizer]] = {
    "whitespace": Whitespace,
    "plain": Plain,
    "jieba": Jieba,
    "char": Char,
}


def load_tokenizer(name: str, pieces: Path) -> Tokenizer:
    """The tokenizer of a name; `sentencepiece` reads its model from `pieces`. Raises ModelError."""
    if name != "sentencepiece":
        return TOKENIZERS[name]()
    try:
        return SentencePiece(read_bytes(pieces), str(pieces))
    except FileNotFoundError:
        raise ModelError(
            f"{pieces}: missing; restore it from a copy, or run nmt build-vocab"
        ) from None
