"""Which encoding text is in that is not UTF-8: a guess, to advise on.

Bytes are decoded in each way that is likely for English and Chinese. The right one gives characters
that are common in it; a wrong one gives rare ones, or none.
"""

from collections.abc import Callable

_COMMON_SHARE = 0.7  # of the characters that are not ASCII, from which on a guess is made
_MOST_BYTES = 2**14  # that are looked at
_MARKS = frozenset("，。、；：？！“”‘’（）《》…—·　")
_TYPOGRAPHIC = frozenset("“”‘’–—…•™©°")


def guess(data: bytes, is_start: bool = False) -> str | None:
    """The name, as iconv has it, of the encoding that data is probably in; None if it cannot be told.

    Only the start of a file shows UTF-16: elsewhere nobody knows where a character begins.
    """
    data = data[:_MOST_BYTES]
    likely = [*(_UTF16 if is_start else {}).items(), *_OTHERS.items()]
    shares = {name: _share_of_common(data, name, is_common) for name, is_common in likely}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _COMMON_SHARE else None


def _share_of_common(data: bytes, encoding: str, is_common: Callable[[str], bool]) -> float:
    """The share of common characters among those that are not ASCII; 0 if nothing speaks for it."""
    text = data.decode(encoding, "replace")
    if text.isascii():
        return 0.0
    others = [character for character in text if not character.isascii()]
    return sum(map(is_common, others)) / len(others)


def _is_common_in_gb(character: str) -> bool:
    """Whether it is among the 3,755 characters of GB 2312's first level, or a Chinese mark."""
    lead = _lead_byte(character, "gb2312")
    return 0xB0 <= lead <= 0xD7 or character in _MARKS


def _is_common_in_big5(character: str) -> bool:
    """Whether it is among the 5,401 characters of Big5's first level, or a Chinese mark."""
    lead = _lead_byte(character, "big5")
    return 0xA4 <= lead <= 0xC6 or character in _MARKS


def _is_common_in_chinese(character: str) -> bool:
    return _is_common_in_gb(character) or _is_common_in_big5(character)


def _is_common_in_latin(character: str) -> bool:
    return ("À" <= character <= "ý" and character.isalpha()) or character in _TYPOGRAPHIC


def _lead_byte(character: str, encoding: str) -> int:
    encoded = character.encode(encoding, "ignore")
    return encoded[0] if len(encoded) == 2 else 0


# In doubt the first is taken.
_UTF16 = {"UTF-16LE": _is_common_in_chinese, "UTF-16BE": _is_common_in_chinese}
_OTHERS = {
    "GB18030": _is_common_in_gb,
    "BIG5": _is_common_in_big5,
    "WINDOWS-1252": _is_common_in_latin,
}
