"""Keys of menus: `&File` and `_File`, which Chinese writes behind the words: 文件(&F)."""

import re

_LONGEST = 60  # characters of a text in a menu
_KEY = re.compile(r"(?<![\w&_\\])([&_])(?=[A-Za-z])|(?<=[A-Za-z])([&_])(?=[a-z])")
_END = re.compile(r"(\s*(?:…|\.{3}|[:：]))?\s*$")


def without_key(words: str, marks: str) -> tuple[str, str]:
    """Words without the mark of their key, and the key with its mark, such as "&F"; "" if there is none.

    `marks` are those in use, "&" or "_" or both.
    """
    found = [match for match in _KEY.finditer(words) if (match[1] or match[2]) in marks]
    is_text = len(words) > _LONGEST or "://" in words
    if len(found) != 1 or is_text or any(words.count(mark) > 1 for mark in marks):
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
