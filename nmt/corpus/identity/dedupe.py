"""Which sentences are the same: 60-bit keys, all that is remembered of a pair that has been seen.

Among a hundred million sentences the chance of a single accidental match is about 0.4 %.
"""

import re
import unicodedata
from hashlib import blake2b

from nmt.corpus.reading.pairs import SentencePair

_BASIC_PLANE = map(chr, range(0x10000))  # beyond it such characters are of ancient scripts only
# Punctuation, separators, control and format characters.
_IGNORED = "".join(
    char for char in _BASIC_PLANE if unicodedata.category(char).startswith(("P", "Z", "Cc", "Cf"))
)
_IGNORED_RUN = re.compile(f"[{re.escape(_IGNORED)}]+")
# For ASCII, translate is faster than a regular expression.
_WITHOUT_IGNORED_ASCII = str.maketrans("", "", "".join(filter(str.isascii, _IGNORED)))


def pair_key(pair: SentencePair, seed: int) -> int:
    """Give equal numbers to equal pairs; `seed` makes them random, so that they can decide draws too."""
    return _hash(f"{pair.src}\t{pair.tgt}", seed)


def side_key(text: str) -> int:
    """Give equal numbers to sentences that `fold` makes equal."""
    return _hash(fold(text), 0)


def fold(text: str) -> str:
    """Remove case, width (NFKC), punctuation and spaces; a sentence of punctuation alone stays as it is."""
    if text.isascii():
        folded = text.translate(_WITHOUT_IGNORED_ASCII)
    else:
        folded = _IGNORED_RUN.sub("", text)
    if not folded.isascii():
        folded = _IGNORED_RUN.sub("", unicodedata.normalize("NFKC", folded))
    return folded.casefold() or text


def _hash(text: str, seed: int) -> int:
    seed_bytes = (seed % 2**64).to_bytes(8)
    digest = blake2b(text.encode(), digest_size=8, key=seed_bytes).digest()
    return int.from_bytes(digest) >> 4
