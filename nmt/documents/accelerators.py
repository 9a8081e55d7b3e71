"""Keys of menus: `&File` and `_File`, which Chinese writes behind the words: 文件(&F)."""

import re

_LONGEST = 60  # characters of a text in a menu
# At the start of a word, or within one that begins with a capital: S&ave, but not max_length.
_KEY = re.compile(
    r"(?<![\w&_\\])(&(?!\w{2,60};)|_)(?=[A-Za-z])|(?<=\b[A-Z])([&_])(?=[a-z])|(?<=\b[A-Z][a-z])([&_])(?=[a-z])"
)
_END = re.compile(r"(\s*(?:…+|\.{3,9}|[:：]))?\s*$")


def without_key(words: str, marks: str, pieces: re.Pattern[str] | None = None) -> tuple[str, str]:
    """Words without the mark of their key, and the key with its mark, such as "&F"; "" if there is none.

    `marks` are those in use, "&" or "_" or both. `pieces` are no words: no mark is in them.
    """
    read = pieces.sub(lambda piece: "." * len(piece[0]), words) if pieces else words
    found = [match for match in _KEY.finditer(read) if match[0] in marks]
    is_text = len(words) > _LONGEST or "://" in words
    if len(found) != 1 or is_text or any(read.count(mark) > 1 for mark in marks):
        return words, ""
    start, end = found[0].span()
    return words[:start] + words[end:], words[start] + words[end].upper()


def with_key(chinese: str, key: str) -> str:
    """A translation with its key, before what it ends in, as in 打开(&O)…."""
    if not key:
        return chinese
    place = _END.search(chinese)
    at = place.start() if place else len(chinese)
    return f"{chinese[:at]}({key}){chinese[at:]}"
