"""Which trained run a command means.

Corpora are not known here, so that translating starts without them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.shell.streams import warn
from nmt.errors import ConfigError, UserError
from nmt.run.folder import LATEST, RunDir
from nmt.run.ownership import write_latest

if TYPE_CHECKING:
    from nmt.config.schema import SearchConfig
    from nmt.engines.base import EngineName, EngineRequest
    from nmt.run.trained import TrainedRun


def remember(run: RunDir) -> None:
    """Make this the run that `nmt translate` takes when none is named, once it has a best checkpoint."""
    from nmt.run.checkpoint import best

    if best(run) is None:
        return
    try:
        write_latest(run)
    except UserError as error:
        warn(f"{error}; name this run with --model {run.path}")
    except OSError as error:
        warn(f"{LATEST}: {error.strerror}; name this run with --model {run.path}")


def find_run(model: Path | None, config: Path | None, overrides: list[str]) -> "TrainedRun":
    """The trained run that is meant: `model`, else the config's, else $NMT_MODEL, else the last one trained here.

    If none is named and none was trained here, it is the one that comes with nmt.

    A run may be named by one of its checkpoints, which is then the one that is meant. Its own configuration holds,
    except that the `search` and `evaluate` sections of `config`, and overrides of those, come first. Raises
    ModelError if there is no such run or checkpoint, ConfigError for an override of anything else.
    """
    from nmt.config.load import load_config
    from nmt.run.trained import TrainedRun, find_run_folder, load_trained_run, refuse_idle

    _refuse_idle_run_dir(overrides, config)
    asked = None if config is None else load_config(config, overrides)
    if model is None and asked is not None:
        run = RunDir(Path(asked.run_dir))
    else:
        run = find_run_folder(model)
    train = "nmt train" if config is None else f"nmt train --config {config}"
    own = [override for override in overrides if not override.startswith("run_dir=")]
    name = "a run" if model is None else "another run"
    settings, _ = load_trained_run(run, own, f"run {train}, or name {name} with --model")
    if asked is not None:
        update = {"search": asked.search, "evaluate": asked.evaluate}
        settings = settings.model_copy(update=update)
    refuse_idle(overrides, settings.search)
    return TrainedRun(settings, run)


def engine_request(
    engine: "EngineName",
    device: str,
    precision: str,
    ensemble: list[Path] | None,
    scores: bool = False,
) -> "EngineRequest":
    """What computes, with the trained runs that --ensemble names; raises as `find_run`."""
    from nmt.engines.base import EngineRequest
    from nmt.run.trained import load_trained_run

    others = []
    for other in ensemble or []:
        others.append(load_trained_run(RunDir.at(other), [], "name another with --ensemble"))
    return EngineRequest(engine, device, precision, tuple(others), scores=scores)


def _refuse_idle_run_dir(overrides: list[str], config: Path | None) -> None:
    for override in overrides:
        if config is None and override.startswith("run_dir="):
            fix = "name a trained run with --model DIR"
            raise ConfigError(f"command line: run_dir= goes with --config; {fix}")


def refuse_history_elsewhere(run: RunDir, history: str | None) -> None:
    """Raise ConfigError where a run, which may be untrusted, names a file outside its folder to write to."""
    from nmt.run.trained import refuse_elsewhere

    fix = "if you want that file, give --config FILE or --history FILE"
    refuse_elsewhere(run, "evaluate.history", history, fix)


def refuse_files_elsewhere(
    run: RunDir, search: "SearchConfig", config: Path | None, overrides: list[str]
) -> None:
    """Raise ConfigError where a run, which may be untrusted, names pairs or terms outside its folder.

    What the user names, in a `config` or in the overrides, may be anywhere.
    """
    from nmt.run.trained import refuse_elsewhere

    if config is not None:
        return
    files = {"memory": [search.memory], "glossary": search.glossary}
    for name, named in files.items():
        is_asked = any(each.startswith(f"search.{name}=") for each in overrides)
        fix = f"if you want that, give --config FILE or --{name} FILE"
        for file in () if is_asked else named:
            refuse_elsewhere(run, f"search.{name}", file, fix)
