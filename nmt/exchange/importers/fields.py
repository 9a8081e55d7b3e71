"""Checked access to untrusted JSON and YAML."""

import json
from pathlib import Path
from typing import Any

import yaml

from nmt.errors import ModelError
from nmt.files import read_bytes, unreadable

_LONGEST_SHOWN = 60  # characters of a value in a message
# Marian's settings are two kilobytes with a dozen lists. PyYAML takes seconds for much more.
_LARGEST_YAML = 2**15  # bytes
_MOST_BRACKETS = 200


class Fields:
    """A mapping of names to values, and where it was read. Each method raises ModelError for an unfit value."""

    def __init__(self, place: str, values: dict[str, Any]) -> None:
        self.place = place
        self.values = values

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.unfit(name, "not a whole number")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._get(name, default)
        if not isinstance(value, bool):
            raise self.unfit(name, "neither true nor false")
        return value

    def word(self, name: str, default: str | None = None) -> str:
        """Text."""
        value = self._get(name, default)
        if not isinstance(value, str):
            raise self.unfit(name, "not text")
        return value

    def _get(self, name: str, default: Any) -> Any:
        value = self.values.get(name)
        value = default if value is None else value
        if value is None:
            raise ModelError(f"{self.place}: '{name}' is missing")
        return value

    def unfit(self, name: str, why: str) -> ModelError:
        """What to raise for the value of a name."""
        return ModelError(f"{self.place}: '{name}' is {brief(self.values.get(name))}: {why}")


def brief(value: Any) -> str:
    """A value as a message shows it: of nested ones only the kind."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__}"
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_SHOWN:
        return "a huge number"
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def json_fields(path: Path) -> Fields:
    """The object that a JSON file holds. Raises ModelError if it is missing, damaged, or something else."""
    try:
        values = json.loads(read_bytes(path).decode())
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; fetch it as well") from None
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not JSON ({_first_line(error)}); fetch it again") from None
    if not isinstance(values, dict):
        raise ModelError(f"{path}: no JSON object; fetch it again")
    return Fields(str(path), values)


def yaml_fields(text: bytes, place: str) -> Fields:
    """The mapping that YAML holds. Raises ModelError, which names the `place`, if it holds something else."""
    brackets = text.count(b"[") + text.count(b"{")
    if len(text) > _LARGEST_YAML or brackets > _MOST_BRACKETS:
        raise ModelError(
            f"{place}: {len(text):,} bytes, {brackets:,} brackets; no settings have so many"
        )
    try:
        values = yaml.safe_load(text.decode())
    except Exception as error:  # PyYAML raises its own and half of Python's for damaged text
        raise ModelError(f"{place}: not YAML ({_first_line(error)})") from None
    if not isinstance(values, dict):
        raise ModelError(f"{place}: no settings, as YAML writes them")
    return Fields(place, values)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
