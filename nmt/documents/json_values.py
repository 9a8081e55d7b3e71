"""JSON with places: its strings that are values, with their keys and where they are written."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nmt.errors import DataError

_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*+)"')
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DEEPEST = 100


@dataclass(frozen=True)
class Value:
    """A string: its keys, its decoded text, and where it is written, quotes included."""

    keys: tuple[str, ...]
    text: str
    start: int
    end: int


class Reader:
    """Walks through JSON and gives its strings that are values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def values(self) -> Iterator[Value]:
        """All of a text. Raises DataError with the line that is no JSON."""
        yield from self._value((), 0)
        self._skip()
        if self._at != len(self._text):
            raise self._error("something behind the end")

    def _value(self, keys: tuple[str, ...], depth: int) -> Iterator[Value]:
        self._skip()
        character = self._text[self._at : self._at + 1]
        if depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} levels")
        if character == "{":
            yield from self._members(keys, depth)
        elif character == "[":
            yield from self._items(keys, depth)
        elif character == '"':
            start = self._at
            yield Value(keys, self._string(), start, self._at)
        else:
            scalar = _SCALAR.match(self._text, self._at)
            if scalar is None:
                raise self._error("no JSON value")
            self._at = scalar.end()

    def _members(self, keys: tuple[str, ...], depth: int) -> Iterator[Value]:
        self._at += 1
        if self._ends("}"):
            return
        while True:
            self._skip()
            key = self._string()
            self._expect(":")
            yield from self._value((*keys, key), depth + 1)
            if self._ends("}"):
                return
            self._expect(",")

    def _items(self, keys: tuple[str, ...], depth: int) -> Iterator[Value]:
        self._at += 1
        number = 0
        if self._ends("]"):
            return
        while True:
            yield from self._value((*keys, str(number)), depth + 1)
            number += 1
            if self._ends("]"):
                return
            self._expect(",")

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is None:
            raise self._error("no string, or one that is not closed")
        try:
            value = json.loads(match[0])
        except ValueError:
            raise self._error("a string with an escape that JSON does not have") from None
        self._at = match.end()
        return str(value)

    def _ends(self, closing: str) -> bool:
        self._skip()
        if self._text[self._at : self._at + 1] != closing:
            return False
        self._at += 1
        return True

    def _expect(self, character: str) -> None:
        if not self._ends(character):
            raise self._error(f"{character} is missing")

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _error(self, what: str) -> DataError:
        if not self._text.strip():
            what = "the file is empty"
        elif not self._text[self._at :].strip():
            what = "the file ends here, before its last bracket"
        return DataError(f"line {self._text.count(chr(10), 0, self._at) + 1}: {what}")
