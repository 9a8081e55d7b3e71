"""YAML settings that remember where they were written, so that a mistake can be shown by file and line."""

import difflib
import re
import reprlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from nmt.errors import ConfigError

Place = tuple[str | int, ...]
COMMAND_LINE = "command line"
_LARGEST = 2**20  # bytes of a configuration
_MOST_PLACES = 20_000  # keys and items, counted as often as aliases repeat them: ten short lines can mean billions
_SHORT = reprlib.Repr()  # of a value that is told of
_SHORT.maxstring = _SHORT.maxother = 80


@dataclass
class Mapping:
    """Settings as plain values, and the place (`file:line` or COMMAND_LINE) of each key."""

    values: dict[str, Any]
    places: dict[Place, str]
    origin: str

    def place(self, location: Place) -> str:
        """Where `location`, or the nearest section around it, was written."""
        around = (location[:length] for length in range(len(location), 0, -1))
        return next((self.places[near] for near in around if near in self.places), self.origin)


class _Loader(yaml.SafeLoader):
    """YAML as people write it: 1e-3 is a number, and only true and false are booleans, as in YAML 1.2."""


_BOOLEAN_TAG = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOLEAN_TAG]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_NUMBER = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, list("-+.0123456789"))
_Loader.add_implicit_resolver(
    _BOOLEAN_TAG, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def parse_value(text: str) -> Any:
    """One value as YAML reads it: `3`, `1e-3`, `true`, `[bleu, chrf]`, `null`, or text."""
    return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader: plain values only


def read_yaml(path: Path) -> Mapping:
    """Parse a YAML mapping. Raises ConfigError for a missing file, bad YAML, or a key given twice."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(
                f"{path}: larger than {_LARGEST:,} bytes; a configuration is some lines of YAML"
            )
        text = path.read_text(encoding="utf-8-sig")
        node = yaml.compose(text, _Loader)
        places: dict[Place, str] = {}
        _note_places(node, (), path, places)
        values = parse_value(text)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); name an existing YAML file"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from None
    except RecursionError:
        raise ConfigError(
            f"{path}: nested too deeply, or without end, for a configuration"
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        line = f":{mark.line + 1}" if (mark := getattr(error, "problem_mark", None)) else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{line}: not valid YAML ({problem})") from None
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:1: a configuration is made of 'section:' and 'key: value' lines")
    given = {
        key: value for key, value in (values or {}).items() if value is not None
    }  # a section of comments only
    return Mapping(given, places, str(path))


def _note_places(
    node: yaml.Node | None, prefix: Place, path: Path, places: dict[Place, str]
) -> None:
    children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(str(key.value), key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(index, item, item) for index, item in enumerate(node.value)]
    for key, at, value in children:
        location = (*prefix, key)
        line = at.start_mark.line + 1
        if location in places:
            name = ".".join(map(str, location))
            raise ConfigError(
                f"{path}:{line}: '{name}' was already given at {places[location]}; keep one of them"
            )
        if len(places) >= _MOST_PLACES:
            raise ConfigError(
                f"{path}:{line}: more than {_MOST_PLACES:,} keys and items; aliases repeat too much here"
            )
        places[location] = f"{path}:{line}"
        _note_places(value, location, path, places)


def apply_overrides(settings: Mapping, overrides: list[str]) -> None:
    """Put `section.key=value` settings from the command line over those of the file, in place."""
    for override in overrides:
        name, equals, text = override.partition("=")
        keys = name.strip().split(".")
        if not equals or not all(keys):
            hint = (
                f"; did you mean --config {override}?"
                if override.endswith((".yaml", ".yml"))
                else ""
            )
            raise ConfigError(
                f"command line: '{override}' is not of the form section.key=value{hint}"
            )
        try:
            value = parse_value(text)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise ConfigError(
                f"command line: {name}: '{text}' is not a YAML value; quote it"
            ) from None
        section = settings.values
        for depth, key in enumerate(keys[:-1], 1):
            section = section.setdefault(key, {})
            if not isinstance(section, dict):
                raise ConfigError(f"command line: {name}: '{key}' is a setting, not a section")
            settings.places.setdefault(tuple(keys[:depth]), COMMAND_LINE)
        section[keys[-1]] = value
        settings.places[tuple(keys)] = COMMAND_LINE


def explain(error: ValidationError, schema: type[BaseModel], settings: Mapping) -> str:
    """Every mistake of a failed validation, one line each: place, key, value, mend."""
    lines = []
    for problem in error.errors():
        location: Place = problem["loc"]
        name = ".".join(map(str, location))
        place = settings.place(location)
        if problem["type"] == "extra_forbidden":
            lines.append(f"{place}: unknown key '{name}'{_nearest(location, schema)}")
        elif problem["type"] == "value_error":
            said = str(problem["ctx"]["error"])
            about = f"{name}: " if name and not said.startswith(name) else ""
            lines.append(f"{_place_of(said, settings) or place}: {about}{said}")
        elif problem["type"] == "missing":
            lines.append(f"{place}: '{name}' is missing")
        else:
            wanted = problem["msg"][0].lower() + problem["msg"][1:]
            lines.append(f"{place}: {name}={_shown(problem['input'])}: {wanted}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "…"


def _place_of(message: str, settings: Mapping) -> str:
    """Where a setting that a message about several names was written: the command line before the file."""
    named = [tuple(name.split(".")) for name in re.findall(r"[a-z_]+(?:\.[a-z_]+)+", message)]
    places = [settings.places[name] for name in named if name in settings.places]
    return COMMAND_LINE if COMMAND_LINE in places else next(iter(places), "")


def _nearest(location: Place, schema: type[BaseModel]) -> str:
    section, (*outer, last) = schema, location
    for key in outer:
        if field := section.model_fields.get(str(key)):  # none for the number of an item
            section = next(
                t
                for t in (field.annotation, *get_args(field.annotation))
                if hasattr(t, "model_fields")
            )
    prefix = "".join(f"{key}." for key in outer)
    known = {name: field.annotation for name, field in section.model_fields.items()}
    inside = [
        f"{name}.{last}"
        for name, kind in known.items()
        if last in getattr(kind, "model_fields", ())
    ]
    near = difflib.get_close_matches(str(last), known, n=1, cutoff=0.5)
    nearest = [*inside, *(prefix + name for name in near)]
    return f"; did you mean '{nearest[0]}'?" if nearest else f"; known here: {', '.join(known)}"
