"""What is wrong with a configuration: one line a mistake, with its place, the key, the value and the fix."""

import difflib
import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from nmt.config.allowed import (
    Kind,
    allowed,
    choices,
    has_length,
    kind_at,
    setting_names,
    settings_of,
    takes_any_text,
)
from nmt.config.yaml_files import PlacedSettings
from nmt.config.yaml_values import Keys, Place

_SETTING_NAME = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")  # train.updates
_SHOWN = 80  # characters of a value
_TOO_LARGE = 2**63  # for a number of the computer


def explain(error: ValidationError, settings: PlacedSettings) -> list[str]:
    """Every mistake that a validation found, one a line, in the order of their places."""
    mistakes = [_explain_one(problem, settings) for problem in error.errors()]
    mistakes.sort(key=lambda mistake: mistake[0])
    lines = [f"{place}: {message}" for place, message in mistakes]
    return list(dict.fromkeys(lines))  # two items of a list may have the same mistake


def _explain_one(problem: Any, settings: PlacedSettings) -> tuple[Place, str]:
    """The place of a mistake and what it is, `problem` being one of pydantic's error details."""
    keys: Keys = problem["loc"]
    place = settings.place(keys)
    if problem["type"] == "extra_forbidden":
        return place, unknown_key(keys)
    if problem["type"] == "value_error":  # the schema's own words
        message = str(problem["ctx"]["error"])
        about = f"{_name(keys)}: " if keys and not message.startswith(_name(keys)) else ""
        return _place_of_named(message, settings) or place, f"{about}{message}"
    value = problem["input"]
    if has_length(kind_at(keys[:-1])):  # its items make sense only together
        keys = keys[:-1]
        value = settings.value(keys)
    return place, f"{_name(keys)}={shown(value)}: {fix(kind_at(keys), value)}"


def fix(kind: Kind, value: Any) -> str:
    """What to write instead of a value that is not of the setting's kind."""
    must = f"must be {allowed(kind)}"
    if isinstance(value, str):
        if settings_of(kind):
            return f"{must}; give each setting its own value, with a space behind the colon"
        near = difflib.get_close_matches(value, choices(kind), n=1)
        return f"{must}; did you mean {near[0]}?" if near else must
    if not isinstance(value, int | float):
        return must
    if takes_any_text(kind):
        return f"{must}; put it in quotes"
    if value >= _TOO_LARGE and "of at least" in must:
        return f"{must}, and less than 2^63"
    return must


def unknown_key(keys: Sequence[str | int]) -> str:
    """What to say of a key that no setting has: the nearest one; if there is none, all that are known there."""
    *outer, last = unknown = _first_unknown(keys)
    known = settings_of(kind_at(outer))
    nearest = difflib.get_close_matches(str(last), known, n=1, cutoff=0.5)
    nearest = [_name([*outer, name]) for name in nearest]
    elsewhere = [name for name in setting_names() if name.endswith(f".{last}")]
    if len(unknown) < len(keys):  # a section, with a setting of it
        unknown = keys
        nearest = difflib.get_close_matches(_name(keys), list(setting_names()), n=1) or nearest
    found = [*elsewhere, *nearest]
    hint = f"did you mean '{found[0]}'?" if found else f"known here: {', '.join(known)}"
    return f"unknown key '{_name(unknown)}'; {hint}"


def _first_unknown(keys: Sequence[str | int]) -> Sequence[str | int]:
    """The part of a name up to the first key that no setting has."""
    for depth in range(1, len(keys)):
        try:
            kind_at(keys[:depth])
        except KeyError:
            return keys[:depth]
    return keys


def shown(value: Any) -> str:
    """A value as YAML would have it, cut short."""
    is_plain = isinstance(value, str | float)
    try:
        text = repr(value) if is_plain else json.dumps(value, ensure_ascii=False)
    except ValueError:  # thousands of digits
        text = "…"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _name(keys: Sequence[str | int]) -> str:
    return ".".join(map(str, keys))


def _place_of_named(message: str, settings: PlacedSettings) -> Place | None:
    """Where a setting that a message names was written, an override first; None if nowhere."""
    places = []
    for name in _SETTING_NAME.findall(message):
        keys = tuple(name.split("."))
        if keys in settings.places:
            places.append(settings.places[keys])
    overrides = [place for place in places if not place.is_in_file]
    return next(iter([*overrides, *places]), None)
