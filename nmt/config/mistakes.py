"""What is wrong with a configuration: one line a mistake, with its place, the key, the value and the fix."""

import difflib
import json
import re
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from nmt.config.allowed import (
    allowed,
    choices,
    field_at,
    has_length,
    is_section,
    takes_any_text,
)
from nmt.config.yaml_files import COMMAND_LINE, Keys, PlacedSettings

_SETTING_NAME = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")  # train.updates
_SHOWN = 80  # characters of a value
_TOO_LARGE = 2**63  # for a number of the computer


def describe_mistakes(
    error: ValidationError, schema: type[BaseModel], settings: PlacedSettings
) -> list[str]:
    """Every mistake that a validation found, one a line: those of the file in the order of its lines."""
    mistakes = [_describe(problem, schema, settings) for problem in error.errors()]
    mistakes.sort(key=lambda mistake: _order(mistake[0]))
    lines = [f"{place}: {message}" for place, message in mistakes]
    return list(dict.fromkeys(lines))  # two items of a list may have the same mistake


def _order(place: str) -> tuple[bool, int]:
    """Where the mistakes of a place come: by line, and those of the command line last."""
    line = place.rpartition(":")[2]
    return place == COMMAND_LINE, int(line) if line.isdigit() else 0


def _describe(problem: Any, schema: type[BaseModel], settings: PlacedSettings) -> tuple[str, str]:
    """The place of a mistake and what it is, `problem` being one of pydantic's error details."""
    keys: Keys = problem["loc"]
    if problem["type"] == "invalid_key":
        keys = (*keys[:-1], shown(problem["input"]))
    name = ".".join(map(str, keys))
    place = settings.place(keys)
    if problem["type"] in ("extra_forbidden", "invalid_key"):
        return place, f"unknown key '{name}'{suggestion(keys, schema)}"
    if problem["type"] == "value_error":
        message = str(problem["ctx"]["error"])
        about = f"{name}: " if name and not message.startswith(name) else ""
        return _place_of_named(message, settings) or place, f"{about}{message}"
    return place, _wrong_value(keys, problem["input"], schema, settings)


def _wrong_value(keys: Keys, value: Any, schema: type[BaseModel], settings: PlacedSettings) -> str:
    """A value that its setting cannot have, and what to write instead."""
    field = field_at(keys, schema)
    outer = field_at(keys[:-1], schema)
    if has_length(outer):  # its items make sense only together
        keys, field, value = keys[:-1], outer, settings.value(keys[:-1])
    return f"{'.'.join(map(str, keys))}={shown(value)}: {fix(field, value)}"


def fix(field: FieldInfo, value: Any) -> str:
    """What to write instead of a value that a field does not take."""
    must = f"must be {allowed(field)}"
    if isinstance(value, str):
        if is_section(field):
            return f"{must}; give each setting its own value, with a space behind the colon"
        near = difflib.get_close_matches(value, choices(field), n=1)
        return f"{must}; did you mean {near[0]}?" if near else must
    if not isinstance(value, int | float):
        return must
    if takes_any_text(field):
        return f"{must}; put it in quotes"
    if value >= _TOO_LARGE and "of at least" in must:
        return f"{must}, and less than 2^63"
    return must


def shown(value: Any) -> str:
    """A value as YAML would have it, cut short."""
    try:
        is_plain = isinstance(value, str | float)
        text = repr(value) if is_plain else json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError):  # thousands of digits; a list in itself; a date
        text = "…" if isinstance(value, int | list | dict) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _place_of_named(message: str, settings: PlacedSettings) -> str:
    """Where a setting that a message names was written, the command line first; "" if nowhere."""
    places = []
    for name in _SETTING_NAME.findall(message):
        keys = tuple(name.split("."))
        if keys in settings.places:
            places.append(settings.places[keys])
    if COMMAND_LINE in places:
        return COMMAND_LINE
    return places[0] if places else ""


def suggestion(keys: Keys, schema: type[BaseModel]) -> str:
    """The known key that is nearest to an unknown one; if there is none, all that are known there."""
    *outer, last = keys
    section = _section_at(outer, schema)
    for name, field in section.model_fields.items():  # the right key, but outside its section
        if last in getattr(field.annotation, "model_fields", ()):
            return f"; did you mean '{name}.{last}'?"
    near = difflib.get_close_matches(str(last), section.model_fields, n=1, cutoff=0.5)
    if near:
        return f"; did you mean '{'.'.join([*map(str, outer), near[0]])}'?"
    return f"; known here: {', '.join(section.model_fields)}"


def _section_at(keys: list[str | int], schema: type[BaseModel]) -> type[BaseModel]:
    """The part of a schema that describes the section at `keys`."""
    section = schema
    for key in keys:
        field = section.model_fields.get(str(key))
        if field is None:  # the number of an item in a list
            continue
        for kind in (field.annotation, *get_args(field.annotation)):
            if kind is not None and hasattr(kind, "model_fields"):
                section = kind
                break
    return section
