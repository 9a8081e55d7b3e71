"""JSON files of messages: nested or flat, of i18next, Vue, FormatJS, Chrome extensions, ARB.

Keys stay, and so do descriptions; values are translated.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.messages import ANY, message_unit
from nmt.errors import DataError

_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*+)"')
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DEEPEST = 100
_CHROME = placeholders.message_pattern(placeholders.CHROME)
# Beside a message: what it is for.
_NOTES = frozenset(
    ("description", "developer_comment", "comment", "placeholders", "context", "meaning", "notes")
)


@dataclass(frozen=True)
class _Value:
    """A string: its keys, its decoded text, and where it is written, quotes included."""

    keys: tuple[str, ...]
    text: str
    start: int
    end: int


def read(text: str, asked: Asked) -> Document:
    """The messages of a JSON file. Raises DataError with the line that cannot be read."""
    values = list(_Reader(text).values())
    leaves = {value.keys for value in values}
    units: list[Unit] = []
    about: list[Edit] = []
    for value in values:
        if value.keys[-1:] == ("@@locale",):
            about.append(Edit(value.start, value.end, f'"{asked.locale.replace("-", "_")}"'))
        elif not _is_note(value.keys, leaves):
            unit = _unit(value, leaves)
            units += [unit] if unit else []
    return Document(text, units, about)


def _unit(value: _Value, leaves: set[tuple[str, ...]]) -> Unit | None:
    def write(translation: str) -> str:
        return json.dumps(translation, ensure_ascii=False)

    parent = value.keys[:-1]
    is_chrome = value.keys[-1:] == ("message",) and len(value.keys) == 2
    note = next((name for name in ("description", "comment") if (*parent, name) in leaves), "")
    return message_unit(
        ".".join(value.keys),
        value.text,
        (value.start, value.end),
        write,
        _CHROME if is_chrome else ANY,
        context=note and ".".join((*parent, note)),
    )


def _is_note(keys: tuple[str, ...], leaves: set[tuple[str, ...]]) -> bool:
    """Whether a value describes a message: beside "message" or "defaultMessage", or below a key that begins with @."""
    if any(key.startswith("@") for key in keys):
        return True
    for place, key in enumerate(keys):
        beside = keys[:place]
        has_message = any(
            (*beside, name) in leaves for name in ("message", "defaultMessage", "string")
        )
        if key in _NOTES and has_message:
            return True
    has_message = any((*keys[:-1], name) in leaves for name in ("message", "defaultMessage"))
    return has_message and keys[-1] == "id"


class _Reader:
    """Walks through JSON and gives its strings that are values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def values(self) -> Iterator[_Value]:
        yield from self._value((), 0)
        self._skip()
        if self._at != len(self._text):
            raise self._error("something behind the end")

    def _value(self, keys: tuple[str, ...], depth: int) -> Iterator[_Value]:
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
            yield _Value(keys, self._string(), start, self._at)
        else:
            scalar = _SCALAR.match(self._text, self._at)
            if scalar is None:
                raise self._error("no JSON value")
            self._at = scalar.end()

    def _members(self, keys: tuple[str, ...], depth: int) -> Iterator[_Value]:
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

    def _items(self, keys: tuple[str, ...], depth: int) -> Iterator[_Value]:
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
        return DataError(f"line {self._text.count(chr(10), 0, self._at) + 1}: {what}")
