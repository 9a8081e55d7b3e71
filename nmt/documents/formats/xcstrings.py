"""Apple's string catalogues, .xcstrings: JSON with all languages of each key.

Chinese goes beside the other languages, as Xcode sorts them. Of plurals it has "other".
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from nmt.documents import placeholders
from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit
from nmt.documents.formats.strings import APPLE
from nmt.documents.json_values import Reader, Value
from nmt.documents.messages import is_for_machines
from nmt.documents.text import has_words
from nmt.errors import DataError

_Keys = tuple[str, ...]  # of the objects that a value is in
_STYLE = re.compile(r'\s*\{(?P<eol>\r?\n)?(?P<indent>[ \t]*)\s*"[^"]*"(?P<colon> ?: ?)')


def read(text: str, asked: Asked) -> Document:
    """The strings of a catalogue. Raises DataError with the line that cannot be read."""
    catalogue = _Catalogue(text)
    strings = catalogue.data.get("strings") if isinstance(catalogue.data, dict) else None
    if not isinstance(strings, dict):
        raise DataError('line 1: there is no object "strings", which a string catalogue has')
    language = "zh-Hans" if asked.locale == "zh-CN" else asked.locale
    units = (
        _unit(catalogue, key, entry, language)
        for key, entry in strings.items()
        if isinstance(entry, dict) and entry.get("shouldTranslate") is not False
    )
    return Document(text, [unit for unit in units if unit])


class _Places(Reader):
    """Notes where each value stands, objects too."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.places: dict[_Keys, tuple[int, int]] = {}

    def _value(self, keys: _Keys, depth: int) -> Iterator[Value]:
        self._skip()
        start = self._at
        yield from super()._value(keys, depth)
        self.places[keys] = (start, self._at)


class _Catalogue:
    """The values of a file, where they stand, and how the file is indented."""

    def __init__(self, text: str) -> None:
        reader = _Places(text)
        for _ in reader.values():
            pass
        self.places = reader.places
        try:
            self.data: Any = json.loads(text)
        except ValueError:
            raise DataError("line 1: a number is too long") from None
        style = _STYLE.match(text)
        self._eol = style["eol"] or "" if style else ""
        self._indent = style["indent"] if style and self._eol else None
        self._colon = style["colon"] if style else ": "
        self._comma = ", " if self._colon == ": " and not self._eol else ","

    def with_member(self, keys: _Keys, members: dict[str, Any], name: str, value: Any) -> Edit:
        """The edit that sets a member of the object at `keys`, or adds it where its name sorts."""
        if name in members:
            return Edit(*self.places[*keys, name], self._written(value, len(keys) + 1))
        member = f'"{name}"{self._colon}{self._written(value, len(keys) + 1)}'
        line = self._line(len(keys) + 1)
        lower = [other for other in members if other.lower() < name.lower()]
        if lower:
            behind = max(self.places[*keys, other][1] for other in lower)
            return Edit(behind, behind, f"{self._comma}{line}{member}")
        start, end = self.places[keys]
        if members:
            return Edit(start + 1, start + 1, f"{line}{member}{self._comma}")
        return Edit(start, end, f"{{{line}{member}{self._line(len(keys))}}}")

    def _line(self, level: int) -> str:
        """What begins a line."""
        return self._eol + (self._indent or "") * level

    def _written(self, value: Any, level: int) -> str:
        separators = (self._comma, self._colon)
        written = json.dumps(value, ensure_ascii=False, indent=self._indent, separators=separators)
        return written.replace("\n", self._line(level))


def _unit(catalogue: _Catalogue, key: str, entry: dict[str, Any], language: str) -> Unit | None:
    """The unit of a key, with a text for each string of its English."""
    localizations = entry.get("localizations", {})
    if not isinstance(localizations, dict):
        return None
    tree = _english(str(catalogue.data.get("sourceLanguage", "")), key, localizations)
    strings = list(_strings(tree))
    values = [string["value"] for string in strings]
    texts = tuple(placeholders.message(value, APPLE) for value in values)
    if not any(has_words(text.words) for text in texts) or all(map(is_for_machines, values)):
        return None

    def write(filled: Sequence[str]) -> list[Edit]:
        for string, words in zip(strings, filled, strict=True):
            string.update(state="needs_review", value=words)
        keys: _Keys = ("strings", key)
        if "localizations" in entry:
            keys = (*keys, "localizations")
            return [catalogue.with_member(keys, localizations, language, tree)]
        return [catalogue.with_member(keys, entry, "localizations", {language: tree})]

    there = _strings(localizations.get(language))
    existing = [other["value"] for other in there if other.get("state") != "new"]
    return Unit(
        key,
        catalogue.places["strings", key][0],
        texts,
        write,
        existing="\n".join(existing).strip(),
        context=str(entry.get("comment", "")),
    )


def _english(source: str, key: str, localizations: dict[str, Any]) -> dict[str, Any]:
    """The English strings of a key as they are nested, else the key, else nothing."""
    for language in (source, "en"):
        tree = _chinese(localizations.get(language))
        if language.startswith("en") and any(string["value"] for string in _strings(tree)):
            return dict(tree)
    return {"stringUnit": {"state": "new", "value": key}} if source.startswith("en") else {}


def _chinese(node: Any) -> Any:
    """A copy with the plurals that Chinese has."""
    if not isinstance(node, dict):
        return node
    copy = {name: _chinese(value) for name, value in node.items()}
    plural = copy.get("plural")
    if isinstance(plural, dict) and "other" in plural:
        copy["plural"] = {"other": plural["other"]}
    return copy


def _strings(node: Any) -> Iterator[dict[str, Any]]:
    """The string units, however deep."""
    if not isinstance(node, dict):
        return
    for name, value in node.items():
        if name == "stringUnit" and isinstance(value, dict) and isinstance(value.get("value"), str):
            yield value
        else:
            yield from _strings(value)
