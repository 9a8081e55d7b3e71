"""The configuration of a training that starts from another run's weights.

That run decides all that its weights depend on: the text settings of both sides, and the model's shape.
"""

from pathlib import Path
from typing import Any

from nmt.config.load import dump, load_config, read_settings, validated
from nmt.config.schema import Config
from nmt.config.yaml_files import PlacedSettings
from nmt.config.yaml_values import Keys
from nmt.errors import ConfigError, ModelError
from nmt.run.folder import RunDir

_SECTIONS = ("src", "tgt", "model")
# What a training may choose anew. The run it starts from brings the vectors of its tokens.
_FREE: set[Keys] = {
    ("src", "recase"),
    ("src", "detach"),
    ("src", "min_frequency"),
    ("tgt", "min_frequency"),
    ("model", "dropout"),
    ("model", "attention_dropout"),
    ("model", "activation_dropout"),
}
_OWN_VECTORS = {"src_vectors": None, "tgt_vectors": None, "freeze_vectors": False}


def load_training_config(
    path: Path | None, overrides: list[str] | None = None, anew: bool = False
) -> Config:
    """As `load_config`; where `train.start_from` names a run, sides and model are as there.

    `anew`: what was trained in the run folder before does not count, since it will be deleted. Raises ConfigError
    for settings that contradict that run, ModelError if there is no such run.
    """
    settings = read_settings(path, overrides)
    start = _start(settings, anew)
    if start is None:
        return validated(settings)
    given = {keys: value for keys, value in _leaves(settings) if keys not in _FREE}
    inherited = _inherited(start)
    _put_below(settings, inherited)
    config = validated(settings)
    _refuse_contradictions(config, inherited, given, settings, start)
    return config


def start_run(config: Config) -> RunDir | None:
    """The run that a training starts from, if any."""
    start = config.train.start_from
    return None if start is None else _named(start)


def _named(start: str) -> RunDir:
    return RunDir.at(Path(start).expanduser(), "named by train.start_from")


def _start(settings: PlacedSettings, anew: bool) -> RunDir | None:
    """The run that decides: the training's own, once it has checkpoints, so that the other one may be gone."""
    train = settings.values.get("train")
    if not isinstance(train, dict) or not isinstance(train.get("start_from"), str):
        return None  # none, or a mistake that validation tells
    own = settings.values.get("run_dir", Config().run_dir)
    if isinstance(own, str) and not anew:
        run = RunDir(Path(own).expanduser())
        if run.steps() and run.config.is_file():
            return run
    return _named(train["start_from"])


def _inherited(start: RunDir) -> dict[str, Any]:
    """The settings of a run that its weights depend on."""
    if not start.config.is_file():
        fix = "name the folder of a run, or one of its checkpoints"
        raise ModelError(f"{start.path}{start.note}: not a run folder (no config.yaml); {fix}")
    checkpoints = [start.checkpoint] if start.checkpoint else start.steps_and_averages()
    if not any(folder.is_dir() for folder in checkpoints):
        where = start.checkpoint or start.path
        raise ModelError(f"{where}{start.note}: no checkpoint here; name a trained run")
    values = dump(load_config(start.config))
    values["model"] |= _OWN_VECTORS
    return {key: values[key] for key in (*_SECTIONS, "shared_vocab")}


def _leaves(settings: PlacedSettings) -> list[tuple[Keys, Any]]:
    """The settings of the file and the command line that another run may contradict."""
    values = settings.values
    leaves: list[tuple[Keys, Any]] = []
    for name in _SECTIONS:
        section = values.get(name)
        if isinstance(section, dict):
            leaves += [((name, key), value) for key, value in section.items()]
    if "shared_vocab" in values:
        leaves.append((("shared_vocab",), values["shared_vocab"]))
    return leaves


def _put_below(settings: PlacedSettings, inherited: dict[str, Any]) -> None:
    """Put the inherited settings where nothing else is set."""
    values = settings.values
    for name in _SECTIONS:
        section = values.get(name) or {}
        if isinstance(section, dict):
            values[name] = inherited[name] | section
    values.setdefault("shared_vocab", inherited["shared_vocab"])


def _refuse_contradictions(
    config: Config,
    inherited: dict[str, Any],
    given: dict[Keys, Any],
    settings: PlacedSettings,
    start: RunDir,
) -> None:
    effective = dump(config)
    messages = []
    for keys, value in given.items():
        wanted, found = effective, inherited
        for key in keys:
            wanted, found = wanted[key], found[key]  # type: ignore[index]
        if wanted != found:
            name = ".".join(map(str, keys))
            message = f"{name}={value}, but {start.path} has {found}"
            messages.append(f"{settings.place(keys)}: {message}; delete the setting")
    if messages:
        raise ConfigError(*messages)
