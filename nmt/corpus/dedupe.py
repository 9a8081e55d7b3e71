"""Which sentences are the same: 60-bit keys, all that is remembered of a pair that has been seen.

Among a hundred million sentences the chance of a single accidental match is about 0.4 %.
"""

import re
import unicodedata
from hashlib import blake2b

from nmt.corpus.lines import SentencePair

# Punctuation, separators, control and format characters (beyond the basic plane: of ancient scripts only).
_IGNORED = [
    char
    for char in map(chr, range(0x10000))
    if unicodedata.category(char).startswith(("P", "Z", "Cc", "Cf"))
]
_IGNORED_RUN = re.compile(f"[{re.escape(''.join(_IGNORED))}]+")
_IGNORED_ASCII = str.maketrans(
    "", "", "".join(filter(str.isascii, _IGNORED))
)  # of ASCII, translate is the faster way


def pair_key(pair: SentencePair, seed: int) -> int:
    """Give equal numbers to equal pairs; `seed` makes them random, so that they are lots for a draw too."""
    return _hash(f"{pair.src}\t{pair.tgt}", seed)


def side_key(text: str) -> int:
    """Give equal numbers to sentences that `fold` makes equal."""
    return _hash(fold(text), 0)


def fold(text: str) -> str:
    """Take out case, width (NFKC), punctuation and spaces; a sentence of punctuation alone stays as it is."""
    kept = text.translate(_IGNORED_ASCII) if text.isascii() else _IGNORED_RUN.sub("", text)
    if not kept.isascii():
        kept = _IGNORED_RUN.sub("", unicodedata.normalize("NFKC", kept))
    return kept.casefold() or text


def _hash(text: str, seed: int) -> int:
    digest = blake2b(text.encode(), digest_size=8, key=(seed % 2**64).to_bytes(8)).digest()
    return int.from_bytes(digest) >> 4
