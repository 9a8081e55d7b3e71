"""One language's path from text to ids and back, shared by training and translating."""

import hashlib
from dataclasses import dataclass

from nmt.text.normalize import normalize
from nmt.text.reading import Reading
from nmt.text.scripts import without_foreign_words
from nmt.text.tokenizers import Tokenizer
from nmt.text.vocab import BOS, PAD, UNK, Vocab

# Characters, on average. To encode a line of megabytes only to see that it is too long takes gigabytes.
LONGEST_TOKEN = 64
_WITHIN = "，"  # what a phrase stands behind, so that it is not at the beginning


@dataclass(frozen=True)
class Side:
    """Normalisation, reading, tokenizer and vocabulary of one language."""

    language: str
    tokenizer: Tokenizer
    vocab: Vocab
    reading: Reading
    never_unknown: bool  # <unk> is never written: unknown words are spelled
    # What decides the ids beside the vocabulary: tokenizer, reading, sentencepiece model.
    identity: str
    prefix: tuple[int, ...] = ()  # is before the ids of each line

    @property
    def never_written(self) -> list[int]:
        """The ids that no translation has, whatever its source; placeholders only where the source has them."""
        return [PAD, BOS, UNK] if self.never_unknown else [PAD, BOS]

    def tokens(self, text: str) -> list[str]:
        """Tokens of one line as written, before the vocabulary."""
        return self.tokenizer.encode(self.prepared(text))

    def prepared(self, text: str) -> str:
        """One line as it is cut into tokens."""
        return self.reading(normalize(text, self.language))

    def encode(self, text: str) -> list[int]:
        """Ids of one line, with the prefix, without BOS or EOS; a blank line has none."""
        ids = self.vocab.encode(self.tokens(text))
        return [*self.prefix, *ids] if ids else []

    def decode(self, ids: list[int]) -> str:
        """One line of text for ids; PAD, BOS and EOS are left out."""
        tokens = self.vocab.decode(ids)
        return normalize(self.tokenizer.decode(tokens), self.language)

    def fingerprint(self) -> str:
        """A hash that is equal where every text gets equal ids."""
        deciding = f"{self.identity}\n{self.vocab.fingerprint()}"
        return hashlib.sha256(deciding.encode()).hexdigest()[:16]


def is_into_chinese(src: Side, tgt: Side) -> bool:
    """Whether English becomes Chinese: words of a source in other scripts stay as they are."""
    return src.language == "en" and tgt.language == "zh"


def needs_translation(line: str, src: Side, tgt: Side) -> bool:
    """Whether a source has a letter, other than of words that stay as they are."""
    foreign = without_foreign_words(line) if is_into_chinese(src, tgt) else line
    return any(map(str.isalpha, foreign))


def phrase_ids(side: Side, words: str) -> list[int]:
    """The ids of words as they are within a sentence; none if the vocabulary cannot write them."""
    before = side.encode(_WITHIN)
    whole = side.encode(_WITHIN + words)
    is_within = whole[: len(before)] == before
    ids = whole[len(before) :] if is_within else side.encode(words)
    written = side.decode(ids).replace(" ", "")
    return (
        ids
        if UNK not in ids and written == normalize(words, side.language).replace(" ", "")
        else []
    )
