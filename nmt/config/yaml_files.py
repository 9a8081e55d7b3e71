"""Settings of YAML files and of the command line, which remember where they were written."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.config.yaml_values import COMMAND_LINE, Keys, Place, parse
from nmt.errors import ConfigError
from nmt.files import unreadable

_LARGEST = 2**20  # bytes of a configuration


@dataclass
class PlacedSettings:
    """Settings as plain values, and the place of each."""

    values: dict[str, Any]
    places: dict[Keys, Place]
    origin: Place  # of whatever was not written anywhere

    def place(self, keys: Keys) -> Place:
        """Where a setting, or the nearest section around it, was written."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.places:
                return self.places[keys[:length]]
        return self.origin

    def value(self, keys: Keys) -> Any:
        """What was written for a setting."""
        value: Any = self.values
        for key in keys:
            value = value[key]
        return value


# --- files ---


def read_yaml(path: Path) -> PlacedSettings:
    """Parse a YAML mapping. Raises ConfigError for a missing file, bad YAML, or a key given twice."""
    text = _read_text(path)
    try:
        values, places = parse(text, lambda line: Place(line, f"{path}:{line}"))
    except RecursionError:
        message = "nested too deeply, or without end, for a configuration"
        raise ConfigError(f"{path}: {message}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(_syntax_error(path, error)) from None
    if values is None:  # nothing but comments
        values = {}
    if not isinstance(values, dict):
        message = "a configuration is made of 'section:' and 'key: value' lines"
        raise ConfigError(f"{path}:1: {message}")
    return PlacedSettings(values, places, Place(0, str(path)))


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            message = f"larger than {_LARGEST:,} bytes; a configuration is some lines of YAML"
            raise ConfigError(f"{path}: {message}")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(unreadable(path, error)) from None
    except UnicodeDecodeError as error:
        fix = "save the file as UTF-8"
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8; {fix}") from None


# A part of what PyYAML says, and what helps.
_FIXES = {
    "'\\t'": "indent with spaces, not with tabs",
    "but found '<scalar>'": "put nothing behind a closing quotation mark, and write '' for a ' between two of them",
    "expected <block end>": "indent the settings of a section alike",
    "mapping values are not allowed": "write each 'key: value' on a line of its own, indented as its neighbours are",
    "expected ',' or": "put a comma between two items, and close what was opened with { or [",
    "unexpected end of stream": "close the quotation mark",
    "cannot start any token": "put text that begins with such a sign in quotation marks",
    "undefined alias": "put text that begins with * in quotation marks",
    "expected alphabetic or numeric": "put text that begins with * or & in quotation marks",
    "could not find expected ':'": "write 'key: value', with a colon and a space",
    "constructor for the tag": "write plain values, and put text that begins with ! in quotation marks",
}
# Here the parser's place is where the file ends, and its context is what was opened.
_NEVER_CLOSED = ("expected ',' or", "unexpected end of stream")


def _syntax_error(path: Path, error: yaml.YAMLError | ValueError) -> str:
    """What the parser says, with the line if it knows it, and the fix of a common mistake."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    is_open = any(each in problem for each in _NEVER_CLOSED)
    mark = getattr(error, "context_mark" if is_open else "problem_mark", None)
    place = f"{path}:{mark.line + 1}" if mark else f"{path}"
    fixes = [fix for part, fix in _FIXES.items() if part in problem]
    return "; ".join([f"{place}: not valid YAML ({problem})", *fixes[:1]])


# --- overrides ---


def apply_overrides(
    settings: PlacedSettings, overrides: list[str], place: Place = COMMAND_LINE
) -> None:
    """Put `section.key=value` settings over those of the file, in place; `place` is where they were written.

    Raises ConfigError for an override of another form.
    """
    for override in overrides:
        name, equals, text = override.partition("=")
        keys = tuple(name.strip().split("."))
        if not equals or not all(keys):
            message = f"'{override}' is not of the form section.key=value{_hint(override)}"
            raise ConfigError(f"{place}: {message}")
        try:
            value, places = parse(text, lambda _line: place, keys)
        except (yaml.YAMLError, ValueError, RecursionError):
            message = f"{name}: '{text}' is not a YAML value; quote it"
            raise ConfigError(f"{place}: {message}") from None
        _put(settings, keys, value, place)
        settings.places.update(places)


def _hint(text: str) -> str:
    """What was meant by a file in the place of a setting."""
    if text.endswith((".yaml", ".yml")):
        return f"; did you mean --config {text}?"
    if text.endswith((".tsv", ".tsv.gz")):
        return f"; for a corpus: data.path=null 'data.corpora=[{{name: mine, tsv: {text}}}]'"
    return ""


def _put(settings: PlacedSettings, keys: tuple[str, ...], value: Any, place: Place) -> None:
    section = settings.values
    for depth, key in enumerate(keys[:-1], start=1):
        if section.get(key) is None:  # not there, or nothing but comments
            section[key] = {}
        section = section[key]
        if not isinstance(section, dict):
            message = f"{'.'.join(keys)}: '{key}' is a setting, not a section"
            raise ConfigError(f"{place}: {message}")
        settings.places.setdefault(keys[:depth], place)
    if value is None and isinstance(section.get(keys[-1]), dict):
        message = f"{'.'.join(keys)}: is a section; name one of its settings"
        raise ConfigError(f"{place}: {message}")
    section[keys[-1]] = value
    settings.places[keys] = place
