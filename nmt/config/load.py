"""Loading a configuration: a YAML file, `section.key=value` overrides, and every mistake with its place."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from nmt.config.allowed import field_at
from nmt.config.mistakes import describe_mistakes, fix, suggestion
from nmt.config.schema import Config
from nmt.config.yaml_files import PlacedSettings, apply_overrides, parse_value, read_yaml
from nmt.errors import ConfigError


def load_config(path: Path | None, overrides: list[str] | None = None) -> Config:
    """Read a YAML file (defaults where `path` is None) and apply `section.key=value` overrides.

    Raises ConfigError with every mistake found, one a line, each with its place.
    """
    return validated(read_settings(path, overrides))


def read_settings(path: Path | None, overrides: list[str] | None = None) -> PlacedSettings:
    """The settings of a file and of the command line, as they were written. Raises ConfigError."""
    if path is None:
        settings = PlacedSettings(values={}, places={}, origin="the command line")
    else:
        settings = read_yaml(path)
    apply_overrides(settings, overrides or [])
    return settings


def validated(settings: PlacedSettings) -> Config:
    """The configuration that settings make. Raises ConfigError as `load_config` does."""
    try:
        return Config.model_validate(settings.values)
    except ValidationError as error:
        raise ConfigError(*describe_mistakes(error, Config, settings)) from None


def refusal(setting: str, text: str) -> str | None:
    """What a setting must be where it does not take this value, in itself; None where it does."""
    field = field_at(setting.split("."), Config)
    try:
        value = parse_value(text)
        kind: Any = Annotated[field.annotation, field]
        TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False)).validate_python(value)
    except (yaml.YAMLError, RecursionError, ValueError):  # ValidationError is a ValueError
        return fix(field, text)
    return None


def unknown_setting(name: str) -> str | None:
    """What is wrong with the name of a setting, and which one was meant; None if there is such a setting."""
    keys = name.split(".")
    near = difflib.get_close_matches(name, list(_names(Config)), n=1, cutoff=0.8)
    for depth in range(1, len(keys) + 1):
        try:
            field_at(keys[:depth], Config)
        except KeyError:
            part = tuple(keys[:depth])
            if near:
                return f"unknown key '{name}'; did you mean '{near[0]}'?"
            return f"unknown key '{'.'.join(part)}'{suggestion(part, Config)}"
    return None


def settings_named(last: str) -> list[str]:
    """Every setting whose name ends so: "updates" is that of train.updates."""
    return [name for name in _names(Config) if name.endswith(f".{last}")]


def _names(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The name of every setting, such as train.updates."""
    for name, field in section.model_fields.items():
        yield f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _names(field.annotation, f"{prefix}{name}.")


def dump(config: Config) -> dict[str, Any]:
    """The effective settings as plain YAML-able values; `load_config` reads them back unchanged."""
    return config.model_dump(mode="json")
