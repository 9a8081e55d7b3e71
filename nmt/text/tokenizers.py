"""Text ↔ tokens. The law of every tokenizer: `decode(encode(x)) == x` for normalised x.

(`whitespace` and `plain` keep it up to spaces and so does the sentence they decode to: they are for
languages that write spaces.) No token holds white space; `▁` (U+2581), which `normalize` takes out of
the text, stands for a space that the target must restore.
"""

import io
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Protocol

import sentencepiece

from nmt.errors import ConfigError, ModelError
from nmt.files import read_bytes

SPACE = "▁"
_STRETCH = 1000  # characters that jieba takes at a time: its search for unlisted words takes their number squared
SAMPLED_LINES = 2_000_000  # of a larger corpus, so many train the sentencepiece model


class Tokenizer(Protocol):
    """Text to tokens and back."""

    def encode(self, text: str) -> list[str]:
        """Split one normalised line."""

    def decode(self, tokens: list[str]) -> str:
        """Join tokens to one line of text."""


class Whitespace:
    """Words by white space with punctuation split off.

    Numbers stay whole, without their endings ("10 th", "1990 s"), and contractions part as in the Penn Treebank
    ("do n't", "Tom 's").
    """

    _tail = r"n't\b|'(?:s|m|re|ve|ll|d)\b"
    _ending = r"(?:st|nd|rd|th|s)\b"
    # the first alternative is for 3.14  1,000  10:30
    _token = re.compile(
        rf"(?i)\d+(?:[.,:]\d+)+(?!\w)|\d+(?={_ending})|\w+?(?=n't\b)|{_tail}|\w+|\S"
    )
    _attach_left = re.compile(rf"(?i) (?=(?:[.,;:!?%)\]}}…]|{_tail}))|(?<=\d) (?={_ending})")
    _attach_right = re.compile(r"(?<=[(\[{$#@]) ")
    _quoted = re.compile(r"(^|(?<=\s))\" (.*?) \"(?=\W|$)")

    def encode(self, text: str) -> list[str]:
        """`Don't go!` → `Do n't go !`."""
        return self._token.findall(text)

    def decode(self, tokens: list[str]) -> str:
        """Spaces between words, punctuation attached as English attaches it."""
        text = self._attach_right.sub("", self._attach_left.sub("", " ".join(tokens)))
        return self._quoted.sub(r'\1"\2"', text)


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
    """Chinese words by jieba's dictionary and hidden Markov model; the dictionary loads at the first use."""

    def encode(self, text: str) -> list[str]:
        """Split into words."""
        parts = (text[start : start + _STRETCH] for start in range(0, len(text), _STRETCH))
        return [SPACE if word == " " else word for part in parts for word in _segmenter().cut(part)]


@cache
def _segmenter() -> Any:
    """A jieba.Tokenizer that finds the same words in half the time."""
    import jieba

    class Segmenter(jieba.Tokenizer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            # jieba keeps a marshalled dictionary at a predictable path in the shared temporary folder, where anyone
            # may have put another; the dictionary is read from the package itself instead.
            counts, self.total = self.gen_pfdict(self.get_dict_file())
            self.unlisted = -math.log(
                self.total
            )  # the log-probability of a character that is no word
            # A word's log-probability, or 0 for what is only the beginning of words.
            self.FREQ = {
                word: math.log(count) + self.unlisted if count else 0.0
                for word, count in counts.items()
            }
            self.initialized = True

        def get_DAG(self, sentence: str) -> None:  # noqa: N802 - jieba's name
            """Do nothing: `calc` does this work on the way."""

        def calc(self, sentence: str, _words: None, route: dict[int, tuple[float, int]]) -> None:
            """Find the likeliest way from each character to the end: its log-probability, and its first word's end."""
            size, lookup = len(sentence), self.FREQ.get
            best = [0.0] * (size + 1)
            for start in range(size - 1, -1, -1):
                top, last = -math.inf, start
                end = start + 1
                log_prob = lookup(sentence[start])
                while log_prob is not None:
                    if log_prob and log_prob + best[end] >= top:
                        top, last = log_prob + best[end], end - 1
                    end += 1
                    log_prob = lookup(sentence[start:end]) if end <= size else None
                best[start] = top if top > -math.inf else self.unlisted + best[start + 1]
                route[start] = best[start], last

    return Segmenter()


class SentencePiece:
    """Subwords of a trained sentencepiece model (Kudo and Richardson, 2018)."""

    def __init__(self, model: bytes, name: str = "sentencepiece model") -> None:
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except (RuntimeError, OSError, ValueError):
            raise ModelError(
                f"{name}: not a sentencepiece model; run nmt build-vocab again"
            ) from None

    def encode(self, text: str) -> list[str]:
        """Split into pieces; a character without a piece becomes its UTF-8 bytes."""
        return list(self._processor.encode(text, out_type=str))

    def decode(self, tokens: list[str]) -> str:
        """Join pieces."""
        return str(self._processor.decode_pieces(tokens))

    def pieces(self) -> list[str]:
        """Every piece that `encode` can give."""
        processor = self._processor
        ids = range(processor.get_piece_size())
        return [
            processor.id_to_piece(i)
            for i in ids
            if not processor.is_control(i) and not processor.is_unknown(i)
        ]


def train_sentencepiece(
    lines: Iterable[str], vocab_size: int, reserved: Sequence[str] = ()
) -> bytes:
    """Train a unigram model with identity normalisation, byte fallback and split digits; gives its bytes.

    Each of `reserved` is a piece of its own, wherever it stands.

    A corpus too small for `vocab_size` pieces gets as many as it can bear. Raises ConfigError if `vocab_size`
    does not even hold its characters.
    """
    model = io.BytesIO()
    options: dict[str, Any] = {
        "model_type": "unigram",
        "normalization_rule_name": "identity",
        "byte_fallback": True,
    }
    options |= {
        "split_digits": True,
        "character_coverage": 0.9998,
        "hard_vocab_limit": False,
        "minloglevel": 2,
    }
    options |= {
        "vocab_size": vocab_size,
        "user_defined_symbols": list(reserved),
        "bos_id": -1,
        "eos_id": -1,
    }
    # sentencepiece shuffles and samples otherwise in each process; more threads sum in another order
    options |= {"shuffle_input_sentence": False, "num_threads": 1}
    sampled = iter(_sample(lines, SAMPLED_LINES))
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sampled, model_writer=model, **options
        )
    except RuntimeError as error:
        if (needed := re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))) is None:
            raise
        reason = "each of the text's characters, and of 256 bytes for all others, needs a piece"
        mend = f"set vocab_size={needed[1]} at the least"
        raise ConfigError(f"vocab_size={vocab_size} is too small: {reason}; {mend}") from None
    return model.getvalue()


def _sample(lines: Iterable[str], size: int) -> list[str]:
    """At most `size` of the lines, each with the same chance (Waterman's algorithm R), the same at every call."""
    chance = Random(1)
    rest = iter(lines)
    kept = list(islice(rest, size))
    for number, line in enumerate(rest, size + 1):
        if (place := chance.randrange(number)) < size:
            kept[place] = line
    return kept


TOKENIZERS: dict[str, type[Tokenizer]] = {
    "whitespace": Whitespace,
    "plain": Plain,
    "jieba": Jieba,
    "char": Char,
}


def load_tokenizer(name: str, pieces: Path) -> Tokenizer:
    """The tokenizer called `name`; `sentencepiece` reads its model from `pieces`. Raises ModelError."""
    if name != "sentencepiece":
        return TOKENIZERS[name]()
    try:
        return SentencePiece(read_bytes(pieces), str(pieces))
    except FileNotFoundError:
        raise ModelError(f"{pieces}: missing; run nmt build-vocab") from None
