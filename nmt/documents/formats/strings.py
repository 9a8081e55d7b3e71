r"""Apple's .strings: `"key" = "value";`, with comments, and escapes such as \n and \U00E9.

Keys and values may lack quotes. A key without a value, `"key";`, stays as it is, and so does a
value with octal escapes: they are of an encoding of NeXT.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document
from nmt.documents.messages import message_unit
from nmt.errors import DataError

_TOKEN = re.compile(
    r"""
    (?P<space> \s++ )
  | (?P<comment> /\* (?: (?! \*/ ) . )*+ \*/ | // [^\r\n]*+ )
  | (?P<string> " (?: [^"\\] | \\. )*+ " | ' (?: [^'\\] | \\. )*+ ' | [\w.$:/-]++ )
  | (?P<mark> [=;{}] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"(?P<codes>(?:\\[Uu][\da-fA-F]{4})++)|\\(?P<one>.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPES |= {"\\": "\\", '"': '"'}
_WRITTEN = str.maketrans({value: f"\\{name}" for name, value in _ESCAPES.items()})
_OCTAL = re.compile(r"(?<!\\)(?:\\\\)*+\\[0-7]")
_NO_COMMENT = "No comment provided by engineer."  # what genstrings writes where there is none

APPLE = placeholders.message_pattern(
    r"% (?: \d{1,2}\$ )? \#@ \w{1,99} @",  # %#@files@, a variable with plurals
    "%arg",
    rf"(?! %\ ) (?: {placeholders.PRINTF} )",  # "100% sure" has no placeholder
    placeholders.DOLLAR,
    placeholders.MUSTACHE,
    r"\{ [\w.]{0,60} \}",
)


class _Entry(NamedTuple):
    """A key, its value as it is written with its quotes, where that is, and the comment before."""

    key: str
    raw: str
    place: tuple[int, int]
    comment: str


def read(text: str, asked: Asked) -> Document:
    """The values of a file; `asked` changes nothing. Raises DataError for a broken line."""
    del asked
    units = []
    for entry in _entries(text):
        if _OCTAL.search(entry.raw):
            continue
        value = _decoded(entry.raw)
        unit = message_unit(entry.key, value, entry.place, _encoded, APPLE, entry.comment, True)
        units += [unit] if unit else []
    return Document(text, units)


def _entries(text: str) -> Iterator[_Entry]:
    """The keys that have values. The whole may be within braces."""
    comment = ""
    is_behind = False  # an entry: a comment in its line is not of the next one
    entry: list[re.Match[str]] = []
    for token in _tokens(text):
        if token.lastgroup == "space":
            is_behind = is_behind and "\n" not in token[0]
        elif token.lastgroup == "comment":
            comment = comment if entry or is_behind else _without_marks(token[0])
        elif token[0] in "{}" and not entry:
            comment = ""
        elif token[0] != ";":
            entry.append(token)
        else:
            kinds = [part["mark"] or "" for part in entry]
            if kinds == ["", "=", ""]:
                yield _Entry(_decoded(entry[0][0]), entry[2][0], entry[2].span(), comment)
            elif kinds != [""]:
                raise _error(text, token.start(), 'no "key" = "value" before this ;')
            entry, comment, is_behind = [], "", True
    if entry:
        raise _error(text, entry[0].start(), "; is missing behind a value")


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """All of a text, in order."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _error(text, at, "neither key nor value, or a string that is not closed")
        yield token
        at = token.end()


def _error(text: str, at: int, what: str) -> DataError:
    return DataError(f"line {text.count(chr(10), 0, at) + 1}: {what}")


def _without_marks(comment: str) -> str:
    words = comment[2:-2] if comment.startswith("/*") else comment[2:]
    return "" if words.strip() == _NO_COMMENT else words.strip()


def _decoded(raw: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match["one"]:
            return _ESCAPES.get(match["one"], match["one"])
        codes = match["codes"].replace("\\U", "").replace("\\u", "")
        return bytes.fromhex(codes).decode("utf-16-be", "replace")

    inner = raw[1:-1] if raw[0] in "\"'" else raw
    return _ESCAPE.sub(character, inner).replace("\r\n", "\n")


def _encoded(value: str) -> str:
    return f'"{value.translate(_WRITTEN)}"'
