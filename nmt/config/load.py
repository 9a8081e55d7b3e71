"""Loading a configuration: a YAML file, `section.key=value` overrides, and every mistake with its place."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nmt.config.mistakes import describe_mistakes
from nmt.config.schema import Config
from nmt.config.yaml_files import PlacedSettings, apply_overrides, read_yaml
from nmt.errors import ConfigError


def load_config(path: Path | None, overrides: list[str] | None = None) -> Config:
    """Read a YAML file (defaults where `path` is None) and apply `section.key=value` overrides.

    Raises ConfigError with every mistake found, one a line, each with its place.
    """
    if path is None:
        settings = PlacedSettings(values={}, places={}, origin="the command line")
    else:
        settings = read_yaml(path)
    apply_overrides(settings, overrides or [])
    try:
        return Config.model_validate(settings.values)
    except ValidationError as error:
        raise ConfigError(describe_mistakes(error, Config, settings)) from None


def dump(config: Config) -> dict[str, Any]:
    """The effective settings as plain YAML-able values; `load_config` reads them back unchanged."""
    return config.model_dump(mode="json")
