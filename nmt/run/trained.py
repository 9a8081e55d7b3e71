"""A trained run: which one is meant, and the configuration that holds for it."""

import os
from pathlib import Path
from typing import NamedTuple

from nmt.config.load import load_config
from nmt.config.schema import Config, SearchConfig
from nmt.config.yaml_values import COMMAND_LINE, Place
from nmt.errors import ConfigError, ModelError
from nmt.files import readable_or, refuse_special_files
from nmt.run.folder import EXPORT, LATEST, RunDir
from nmt.run.ownership import read_latest

# Why a run is taken that nobody has named.
TRAINED_LAST = f"named by {LATEST}"

# The settings that only one method of search looks at.
_ONLY_FOR = {
    "search.beam_size": "beam",
    "search.temperature": "sample",
    "search.top_k": "sample",
    "search.seed": "sample",
}


class TrainedRun(NamedTuple):
    """A run to translate with. The settings are its own, but for those of search and evaluation that come first."""

    config: Config
    run: RunDir


def find_run_folder(model: Path | None) -> RunDir:
    """The run that is meant: `model`, else $NMT_MODEL, else the last one trained here, else the one in the package.

    Raises ModelError if `runs/latest` cannot be read.
    """
    if model is not None:
        return RunDir.at(model)
    named = os.environ.get("NMT_MODEL")
    if named:
        return RunDir.at(Path(named), "named by $NMT_MODEL")
    try:
        return RunDir.at(read_latest(), TRAINED_LAST)
    except (FileNotFoundError, NotADirectoryError):
        return RunDir.pretrained("comes with nmt; no other is named")
    except OSError as error:
        fix = "make it readable, or name a run with --model"
        raise ModelError(f"{LATEST}: {error.strerror}; {fix}") from None


def load_trained_run(
    run: RunDir,
    overrides: list[str],
    fix: str = "train one with nmt train, or name another",
    place: Place = COMMAND_LINE,
) -> TrainedRun:
    """A run with its configuration and some overrides of it, which were written at `place`.

    `fix` says what to do if there is no such run. Raises ModelError if it is missing or not a run, ConfigError for a
    mistake in its configuration or in the overrides.
    """
    with readable_or(ModelError):
        _refuse_absent(run, fix)
        refuse_special_files(run.places())
    settings = load_config(run.config, overrides, place)
    # Every run has this section: the defaults are not its model.
    if "model" not in settings.model_fields_set:
        raise ConfigError(f"{run.config}: cut off: has no section 'model'; restore it from a copy")
    return TrainedRun(settings, run)


def _refuse_absent(run: RunDir, fix: str) -> None:
    """Raise ModelError if there is no run, or not the checkpoint that is asked for."""
    where = f"{run.path}{run.note}"
    if not run.path.exists():
        raise ModelError(f"{where}: does not exist; {fix}")
    if not run.config.is_file():
        if (run.path / EXPORT).is_file():
            message = "is for other programs, not a run folder"
            raise ModelError(f"{where}: {message}; name the run that it was exported from")
        raise ModelError(f"{where}: not a run folder (no config.yaml); {fix}")
    if run.checkpoint is not None and not run.checkpoint.is_dir():
        present = ", ".join(path.name for path in run.steps_and_averages()) or "none"
        raise ModelError(
            f"{run.checkpoint}{run.note}: no such checkpoint; {run.checkpoints} has {present}"
        )


def refuse_idle(overrides: list[str], search: SearchConfig, place: Place = COMMAND_LINE) -> None:
    """Raise ConfigError for a setting that the search would ignore, by its method or for lack of a memory."""
    for override in overrides:
        if override.startswith("search.memory_") and search.memory is None:
            message = f"{override} has no effect without a translation memory"
            raise ConfigError(f"{place}: {message}; add search.memory (--memory FILE)")
        method = _ONLY_FOR.get(override.partition("=")[0], search.method)
        is_greedy = override == "search.beam_size=1" and search.effective_method == "greedy"
        if method != search.method and not is_greedy:
            message = f"{override} has no effect with search.method={search.method}"
            raise ConfigError(f"{place}: {message}; add search.method={method}")
    if search.verify == "retry" and search.effective_method != "beam":
        fix = "use search.verify=flag, or search.method=beam with search.beam_size of at least 2"
        raise ConfigError(f"{place}: search.verify=retry needs beam search; {fix}")


def refuse_elsewhere(run: RunDir, setting: str, path: str | None, fix: str) -> None:
    """Raise ConfigError where a run, which may be untrusted, names a file outside its folder, or a folder with links.

    Raises ModelError where it names a pipe or a device, which might never end.
    """
    if not path:
        return
    named = Path(path)
    for each in [named, *named.rglob("*")]:
        if not _is_inside(each, run.path):
            raise ConfigError(f"{run.config}: {setting}={path} is outside the run's folder; {fix}")
    refuse_special_files([named])


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a file is, or would be, in a folder, wherever links lead."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links that lead in a circle
        return False
