"""One language's path from text to ids and back; training and translating share it, so they cannot drift."""

import hashlib
from dataclasses import dataclass

from nmt.config.schema import Config
from nmt.run_dir import RunDir, SideName
from nmt.text.normalize import normalize
from nmt.text.tokenizers import Tokenizer, load_tokenizer
from nmt.text.vocab import Vocab


@dataclass(frozen=True)
class Side:
    """Normalisation, tokenizer and vocabulary of one language."""

    language: str
    tokenizer: Tokenizer
    vocab: Vocab
    lowercase: bool
    never_unknown: bool  # <unk> is never written: unknown words are spelled
    identity: str  # everything but the vocabulary that decides the ids: tokenizer, case, sentencepiece model

    def tokens(self, text: str) -> list[str]:
        """Tokens of one line as written, before the vocabulary."""
        text = normalize(text, self.language)
        return self.tokenizer.encode(text.lower() if self.lowercase else text)

    def encode(self, text: str) -> list[int]:
        """Ids of one line, without BOS or EOS."""
        return self.vocab.encode(self.tokens(text))

    def decode(self, ids: list[int]) -> str:
        """One line of text for ids; PAD, BOS and EOS are left out."""
        return normalize(self.tokenizer.decode(self.vocab.decode(ids)), self.language)

    def fingerprint(self) -> str:
        """A hash that is equal where every text gets equal ids."""
        return hashlib.sha256(f"{self.identity}\n{self.vocab.fingerprint()}".encode()).hexdigest()[
            :16
        ]


def load_side(config: Config, run: RunDir, name: SideName) -> Side:
    """The side as `build-vocab` left it in the run. Raises ModelError where a file is missing or damaged."""
    side = config.side(name)
    pieces = run.pieces(name)
    tokenizer = load_tokenizer(side.tokenizer, pieces)
    model = (
        hashlib.sha256(pieces.read_bytes()).hexdigest() if side.tokenizer == "sentencepiece" else ""
    )
    identity = f"{side.language} {side.tokenizer} {side.lowercase} {model}"
    spells = side.unknown == "spell"
    return Side(
        side.language, tokenizer, Vocab.load(run.vocab(name)), side.lowercase, spells, identity
    )
