"""What is wrong with a configuration: one line a mistake, with its place, the key, the value and the fix."""

import difflib
import re
import reprlib
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from nmt.config.yaml_files import COMMAND_LINE, Keys, PlacedSettings

_SETTING_NAME = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")  # train.updates
_SHORT = reprlib.Repr()
_SHORT.maxstring = 80
_SHORT.maxother = 80


def describe_mistakes(
    error: ValidationError, schema: type[BaseModel], settings: PlacedSettings
) -> str:
    """Every mistake that a validation found, one a line."""
    lines = [_describe(problem, schema, settings) for problem in error.errors()]
    return "\n".join(lines)


def _describe(problem: Any, schema: type[BaseModel], settings: PlacedSettings) -> str:
    """One mistake, `problem` being one of pydantic's error details."""
    keys: Keys = problem["loc"]
    name = ".".join(map(str, keys))
    place = settings.place(keys)
    if problem["type"] == "extra_forbidden":
        return f"{place}: unknown key '{name}'{_suggestion(keys, schema)}"
    if problem["type"] == "missing":
        return f"{place}: '{name}' is missing"
    if problem["type"] == "value_error":
        message = str(problem["ctx"]["error"])
        about = f"{name}: " if name and not message.startswith(name) else ""
        return f"{_place_of_named(message, settings) or place}: {about}{message}"
    wanted = problem["msg"][0].lower() + problem["msg"][1:]
    return f"{place}: {name}={_shortened(problem['input'])}: {wanted}"


def _shortened(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python refuses to write a number of thousands of digits
        return "…"


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


def _suggestion(keys: Keys, schema: type[BaseModel]) -> str:
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
