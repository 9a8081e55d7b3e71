"""Unicode clean-up of one line: what it removes has no meaning, the rest stays as written.

Chinese is normalised to NFC, never NFKC, which would fold ，！？：；（） to ASCII. In other languages
typographic quotes become straight ones, so that “don’t” and "don't" are the same words.
"""

import re
import unicodedata
from itertools import groupby, islice

_TERMINAL_CODE = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,9}[@-~]")  # control sequences of ECMA-48
# The zero-width (non-)joiners, U+200C and U+200D, stay: emoji and several scripts need them.
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters that are not white space
    "\u00ad"  # soft hyphen
    "\u200b"  # zero-width space
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional marks, deprecated format characters
    "\u180e"  # Mongolian vowel separator
    "\u2060-\u2064"  # word joiner, invisible operators
    "\ufeff\ufff9-\ufffb"  # byte-order mark, interlinear annotation
    "]"
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"  # tags, but for those of a flag
)
# Letters to Unicode, but nothing is seen of them: fillers of Hangul.
_FILLERS = re.compile("[\u115f\u1160\u3164\uffa0]")
# In a row; no language needs more (UAX #15, Stream-Safe Text Format).
_MOST_MARKS = 30
_SHORT = 1000  # characters: this many marks are sorted at once
_STRAIGHT_QUOTES = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "‛": "'",
        "“": '"',
        "”": '"',
        "„": '"',
    }
)
# Full-width forms of ASCII, and the space of that width, but for marks that Chinese within English has. East Asian
# languages have them in text of their own.
_WIDE = {0x3000: " ", **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}}
_NARROW = {wide: narrow for wide, narrow in _WIDE.items() if narrow not in "!(),:;?~"}
_KEEPS_WIDE = frozenset(("zh", "ja", "ko"))
# U+2581 stands for a space in several tokenizers, so it cannot stand for itself.
_RESERVED = "\u2581"


def normalize(text: str, language: str) -> str:
    """One line in NFC, without invisible characters; white space as single spaces between words."""
    if not text.isprintable():  # no invisible character is printable
        text = _INVISIBLE.sub("", without_terminal_codes(text))
    if not text.isascii():
        text = _FILLERS.sub("", text)
        # NFC comes second: what was on both sides of an invisible character may now combine.
        text = unicodedata.normalize("NFC", _without_heaps(text))
        text = text.replace(_RESERVED, "_")
        if language != "zh":
            text = with_narrow_letters(text, language).translate(_STRAIGHT_QUOTES)
    return " ".join(text.split())


def without_terminal_codes(text: str) -> str:
    """A text without what sets the colours of a terminal and moves its cursor: ESC [31m."""
    return _TERMINAL_CODE.sub("", text) if "\x1b" in text else text


def unpaired_surrogate(text: str) -> str | None:
    """The first half of a pair of surrogates, which UTF-8 cannot write, in a text; None if there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return text[error.start]
    return None


def with_narrow_letters(text: str, language: str) -> str:
    """A text with full-width letters and digits as ASCII, unless its language writes them: Ｆｕｌｌ as Full."""
    return text if text.isascii() or language in _KEEPS_WIDE else text.translate(_NARROW)


def _without_heaps(text: str) -> str:
    """The text; a long one with at most `_MOST_MARKS` combining marks on one character.

    NFC sorts the marks of a character; thousands of them take it minutes.
    """
    if len(text) <= _SHORT:
        return text
    shortened: list[str] = []
    for is_mark, run in groupby(text, key=_is_mark):
        most = _MOST_MARKS if is_mark else None
        shortened += islice(run, most)
    return "".join(shortened)


def _is_mark(character: str) -> bool:
    return unicodedata.combining(character) > 0
