"""Subwords of sentencepiece: a trained model as a tokenizer, and the training of one."""

import io
import re
import struct
from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random
from typing import Any

import sentencepiece

from nmt.errors import ConfigError, ModelError

# A corpus of this many lines or more trains the model with so many of them, and faster: see docs/lab/performance.md.
SAMPLED_LINES = 300_000
_LEAST_SEEDS = 320_000  # candidates in the first round
_SEEDS_PER_PIECE = 10  # with 4, held-out text has 2 % more pieces
_FOR_SMALL: dict[str, Any] = {"character_coverage": 0.9998, "num_threads": 1}
# The kinds of pieces in a model file.
_NORMAL = 1
_USER_DEFINED = 4
_UNKNOWN_BELOW_LEAST = 10.0  # how much less than any piece a character without one scores
_MARGIN = 1e-3
SPACE = "▁"  # how a model writes a space


class SentencePiece:
    """Subwords of a trained sentencepiece model (Kudo and Richardson, 2018)."""

    def __init__(self, model: bytes, name: str = "sentencepiece model") -> None:
        """`model` is the content of a model file. Raises ModelError, which calls it `name`."""
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except (RuntimeError, OSError, ValueError):
            message = f"{name}: not a sentencepiece model; restore it from a copy, or run nmt build-vocab again"
            raise ModelError(message) from None

    def encode(self, text: str) -> list[str]:
        """Split into pieces; a character without a piece becomes its UTF-8 bytes."""
        return list(self._processor.encode(text, out_type=str))

    def decode(self, tokens: list[str]) -> str:
        """Join pieces. One that another model made, as in a vocabulary for two, is joined as if it were its own."""
        joined = str(self._processor.decode_pieces(tokens))
        return joined.replace(SPACE, " ")

    def pieces(self) -> list[str]:
        """Every piece that `encode` can give."""
        processor = self._processor
        pieces: list[str] = []
        for i in range(processor.get_piece_size()):
            if not processor.is_control(i) and not processor.is_unknown(i):
                pieces.append(processor.id_to_piece(i))
        return pieces

    def normalized(self, text: str) -> str:
        """Text as the model sees it before it is cut."""
        return str(self._processor.normalize(text)).removeprefix(SPACE)

    def scores(self) -> dict[str, float]:
        """The log-probability of every piece."""
        processor = self._processor
        return {piece: processor.get_score(processor.piece_to_id(piece)) for piece in self.pieces()}


def with_symbols(model: bytes, symbols: Sequence[str]) -> bytes:
    """A model file in which each of these is a piece of its own, wherever it is."""
    return model + b"".join(_piece(symbol, 0.0, _USER_DEFINED) for symbol in symbols)


def with_words(model: bytes, words: Sequence[str]) -> bytes:
    """A model file in which each of these is a piece, a little likelier than what it was cut into so far."""
    scores = SentencePiece(model).scores()
    added = [_piece(word, _best_score(word, scores) + _MARGIN, _NORMAL) for word in words]
    return model + b"".join(added)


def _best_score(word: str, scores: dict[str, float]) -> float:
    """The log-probability of the most likely way to cut a word into pieces (Viterbi)."""
    unknown = min(scores.values()) - _UNKNOWN_BELOW_LEAST
    best = [0.0]  # of the first 0, 1, 2 … characters
    for end in range(1, len(word) + 1):
        ways = [best[end - 1] + unknown]
        for start in range(end):
            if word[start:end] in scores:
                ways.append(best[start] + scores[word[start:end]])
        best.append(max(ways))
    return best[-1]


def _piece(text: str, score: float, kind: int) -> bytes:
    """One piece as a model file holds it: message 1 of sentencepiece_model.proto, in which 1, 2 and 3 are these.

    Messages of a repeated field may be anywhere in the file, so they can be put at its end.
    """
    data = text.encode()
    content = b"\x0a" + varint(len(data)) + data
    content += b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind)
    return b"\x0a" + varint(len(content)) + content


def varint(number: int) -> bytes:
    """A number in protobuf's encoding: seven bits a byte, the lowest first."""
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes([*result, number])


def train_sentencepiece(
    lines: Iterable[str], vocab_size: int, reserved: Sequence[str] = ()
) -> bytes:
    """Train a unigram model without normalisation, with byte fallback and split digits.

    Gives the bytes of the model. Each of `reserved` is a piece of its own, wherever it is.

    A corpus too small for `vocab_size` pieces gets as many as it can fill. The same lines give the same
    bytes on every machine. Raises ConfigError if `vocab_size` does not even hold the text's characters.
    """
    model = io.BytesIO()
    sample = _sample(lines, SAMPLED_LINES)
    settings = _for_large(vocab_size) if len(sample) == SAMPLED_LINES else _FOR_SMALL
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            user_defined_symbols=list(reserved),
            bos_id=-1,
            eos_id=-1,
            normalization_rule_name="identity",
            byte_fallback=True,
            split_digits=True,
            shuffle_input_sentence=False,  # each process would shuffle and sample in its own way
            minloglevel=2,
            **settings,
        )
    except RuntimeError as error:
        needed = re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))
        if needed is None:
            raise
        raise ConfigError(
            f"vocab_size={vocab_size} is too small: each character of the text needs a piece, "
            f"and so do the 256 bytes that spell all others; set it to {needed[1]} at least"
        ) from None
    return model.getvalue()


def _for_large(vocab_size: int) -> dict[str, Any]:
    """Settings that take a third of the time of the usual ones, for the same pieces a sentence."""
    return {
        "character_coverage": 0.9999,  # some characters of the corpus are not in the sample
        "seed_sentencepiece_size": max(_LEAST_SEEDS, _SEEDS_PER_PIECE * vocab_size),
        "shrinking_factor": 0.5,  # half of the candidates stay after a round, not three quarters
        "num_sub_iterations": 1,  # of expectation and maximisation in a round, not two
        # As many on every machine: more threads sum in another order, and that changes the pieces.
        "num_threads": 8,
    }


def _sample(lines: Iterable[str], size: int) -> list[str]:
    """At most `size` of the lines, the same at every call.

    Each line has the same chance (Waterman's algorithm R).
    """
    chance = Random(1)
    rest = iter(lines)
    sample = list(islice(rest, size))
    for count, line in enumerate(rest, size + 1):  # of the lines so far
        place = chance.randrange(count)
        if place < size:
            sample[place] = line
    return sample
