"""Unicode clean-up of one line: what it removes carries no meaning, what it keeps is kept as written.

Chinese is normalised to NFC, never NFKC, which would fold ，！？：；（） to ASCII. In other languages
typographic quotes become straight ones, so that “don’t” and "don't" are the same words.
"""

import re
import unicodedata
from itertools import chain, groupby, islice

# Control characters, soft hyphens, zero-width spaces, byte-order marks, bidirectional marks. The zero-width
# (non-)joiners stay: emoji and several scripts are spelled with them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
# Some 30 combining marks in a row are more than any language needs (UAX #15, Stream-Safe Text Format); to sort
# thousands of them, as NFC has to, takes minutes.
_MOST_MARKS = 30
_STRAIGHT = str.maketrans({"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "„": '"'})
# U+2581 stands for a space in several tokenizers, so it cannot stand for itself.
_RESERVED = "\u2581"


def normalize(text: str, language: str) -> str:
    """One line in NFC without invisible characters; white space is single spaces, none at the ends."""
    if not text.isprintable():  # no invisible character is
        text = _INVISIBLE.sub("", text)
    if not text.isascii():
        # NFC comes second: what stood on both sides of an invisible character may now combine
        text = unicodedata.normalize("NFC", _without_heaps(text)).replace(_RESERVED, "_")
        if language != "zh":
            text = text.translate(_STRAIGHT)
    return " ".join(text.split())


def _without_heaps(text: str) -> str:
    """The text, with no more than `_MOST_MARKS` combining marks on one character; a short text is left as it is."""
    if len(text) <= 1000:
        return text
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return "".join(
        chain.from_iterable(islice(run, _MOST_MARKS if marks else None) for marks, run in runs)
    )
