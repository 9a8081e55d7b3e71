"""Loading a configuration: a YAML file, `section.key=value` overrides, and every mistake with its place."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nmt.config.allowed import kind_at, setting_names
from nmt.config.mistakes import explain, fix, unknown_key
from nmt.config.schema import Config
from nmt.config.yaml_files import PlacedSettings, apply_overrides, read_yaml
from nmt.config.yaml_values import COMMAND_LINE, Place
from nmt.errors import ConfigError


def load_config(
    path: Path | None, overrides: list[str] | None = None, place: Place = COMMAND_LINE
) -> Config:
    """Read a YAML file (defaults where `path` is None) and apply `section.key=value` overrides.

    Raises ConfigError with every mistake found, one a line, each with its place: that of the overrides is `place`.
    """
    return validated(read_settings(path, overrides, place))


def read_settings(
    path: Path | None, overrides: list[str] | None, place: Place = COMMAND_LINE
) -> PlacedSettings:
    """The settings of a file and of the overrides, as they were written. Raises ConfigError."""
    if path is None:
        settings = PlacedSettings(values={}, places={}, origin=place)
    else:
        settings = read_yaml(path)
    apply_overrides(settings, overrides or [], place)
    return settings


def validated(settings: PlacedSettings) -> Config:
    """The configuration that settings make. Raises ConfigError as `load_config` does."""
    try:
        return Config.model_validate(settings.values)
    except ValidationError as error:
        raise ConfigError(*explain(error, settings)) from None


def refusal(setting: str, text: str) -> str | None:
    """What a setting must be where it does not take this value, in itself; None where it does."""
    keys = tuple(setting.split("."))
    try:
        Config.model_validate(read_settings(None, [f"{setting}={text}"]).values)
    except ConfigError:  # no YAML
        return fix(kind_at(keys), text)
    except ValidationError as error:
        if any(problem["loc"][: len(keys)] == keys for problem in error.errors()):
            return fix(kind_at(keys), text)
    return None


def unknown_setting(name: str) -> str | None:
    """What is wrong with the name of a setting, and which one was meant; None if there is such a setting."""
    keys = name.split(".")
    try:
        kind_at(keys)
    except KeyError:
        return unknown_key(keys)
    return None


def settings_named(last: str) -> list[str]:
    """Every setting whose name ends so: "updates" is that of train.updates."""
    return [name for name in setting_names() if name.endswith(f".{last}")]


def dump(config: Config) -> dict[str, Any]:
    """The effective settings as plain YAML-able values; `load_config` reads them back unchanged."""
    return config.model_dump(mode="json")
