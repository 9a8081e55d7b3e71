"""YAML settings that remember where they were written, so that a mistake can be shown by file and line."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.errors import ConfigError
from nmt.files import unreadable

Keys = tuple[str | int, ...]  # the way to a setting: ("data", "corpora", 0, "src")
COMMAND_LINE = "command line"
_LARGEST = 2**20  # bytes of a configuration
# Keys and items, counted as often as aliases repeat them: ten short lines can mean billions.
_MOST_PLACES = 20_000


@dataclass
class PlacedSettings:
    """Settings as plain values, and the place (`file:line` or COMMAND_LINE) of each."""

    values: dict[str, Any]
    places: dict[Keys, str]
    origin: str  # the place of whatever was not written anywhere

    def place(self, keys: Keys) -> str:
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


# --- YAML as people write it: 1e-3 is a number, and only true and false are booleans, as in YAML 1.2 ---


class _Loader(yaml.SafeLoader):
    """A SafeLoader: plain values only."""


_BOOLEAN_TAG = "tag:yaml.org,2002:bool"
_FLOAT_TAG = "tag:yaml.org,2002:float"
_BOOLEAN = re.compile("^(?:true|True|TRUE|false|False|FALSE)$")
_NUMBER_WITH_EXPONENT = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")


def _resolvers_without_booleans() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """SafeLoader's table of first characters, less its own idea of booleans (yes, no, on, off)."""
    resolvers = {}
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items():
        resolvers[first] = [(tag, pattern) for tag, pattern in pairs if tag != _BOOLEAN_TAG]
    return resolvers


_Loader.yaml_implicit_resolvers = _resolvers_without_booleans()
_Loader.add_implicit_resolver(_BOOLEAN_TAG, _BOOLEAN, list("tTfF"))
_Loader.add_implicit_resolver(_FLOAT_TAG, _NUMBER_WITH_EXPONENT, list("-+.0123456789"))


def parse_value(text: str) -> Any:
    """One value as YAML reads it: `3`, `1e-3`, `true`, `[bleu, chrf]`, `null`, or text.

    Raises yaml.YAMLError, ValueError or RecursionError for what is none.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader: plain values only
    except (KeyError, AttributeError):  # of PyYAML, for such as !!bool maybe
        raise yaml.YAMLError("a tag that its value does not suit") from None


# --- files ---


def read_yaml(path: Path) -> PlacedSettings:
    """Parse a YAML mapping. Raises ConfigError for a missing file, bad YAML, or a key given twice."""
    text = _read_text(path)
    places: dict[Keys, str] = {}
    try:
        node = yaml.compose(text, _Loader)
        _note_places(node, (), path, places)
        values = parse_value(text)
    except RecursionError:
        message = "nested too deeply, or without end, for a configuration"
        raise ConfigError(f"{path}: {message}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(_syntax_error(path, error)) from None
    if values is not None and not isinstance(values, dict):
        message = "a configuration is made of 'section:' and 'key: value' lines"
        raise ConfigError(f"{path}:1: {message}")
    # A section that holds nothing but comments is None.
    given = {key: value for key, value in (values or {}).items() if value is not None}
    return PlacedSettings(given, places, str(path))


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


def _note_places(node: yaml.Node | None, outer: Keys, path: Path, places: dict[Keys, str]) -> None:
    """Note the line of each key and item below a node."""
    for key, written, value in _children(node):
        keys = (*outer, key)
        place = f"{path}:{written.start_mark.line + 1}"
        if keys in places:
            name = ".".join(map(str, keys))
            message = f"'{name}' was already given at {places[keys]}; keep one of them"
            raise ConfigError(f"{place}: {message}")
        if len(places) >= _MOST_PLACES:
            message = f"more than {_MOST_PLACES:,} keys and items; aliases repeat too much here"
            raise ConfigError(f"{place}: {message}")
        places[keys] = place
        _note_places(value, keys, path, places)


def _children(node: yaml.Node | None) -> list[tuple[str | int, yaml.Node, yaml.Node]]:
    """The key or index of each child of a node, the node where that is written, and the child."""
    if isinstance(node, yaml.MappingNode):
        return [(str(key.value), key, value) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [(index, item, item) for index, item in enumerate(node.value)]
    return []


# --- the command line ---


def apply_overrides(settings: PlacedSettings, overrides: list[str]) -> None:
    """Put `section.key=value` settings from the command line over those of the file, in place.

    Raises ConfigError for an override of another form.
    """
    for override in overrides:
        name, equals, text = override.partition("=")
        keys = tuple(name.strip().split("."))
        if not equals or not all(keys):
            is_file = override.endswith((".yaml", ".yml"))
            hint = f"; did you mean --config {override}?" if is_file else ""
            message = f"'{override}' is not of the form section.key=value{hint}"
            raise ConfigError(f"{COMMAND_LINE}: {message}")
        try:
            value = parse_value(text)
        except (yaml.YAMLError, ValueError, RecursionError):
            message = f"{name}: '{text}' is not a YAML value; quote it"
            raise ConfigError(f"{COMMAND_LINE}: {message}") from None
        _put(settings, keys, value)


def _put(settings: PlacedSettings, keys: tuple[str, ...], value: Any) -> None:
    section = settings.values
    for depth, key in enumerate(keys[:-1], start=1):
        section = section.setdefault(key, {})
        if not isinstance(section, dict):
            message = f"{'.'.join(keys)}: '{key}' is a setting, not a section"
            raise ConfigError(f"{COMMAND_LINE}: {message}")
        settings.places.setdefault(keys[:depth], COMMAND_LINE)
    section[keys[-1]] = value
    settings.places[keys] = COMMAND_LINE
