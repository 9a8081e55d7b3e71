"""Which trained run a command means. Corpora are not known here, so that translating starts without them."""

import os
from pathlib import Path

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import ConfigError, ModelError
from nmt.files import write_text
from nmt.run_dir import LATEST, RunDir, refuse_strange


def remember(run: RunDir) -> None:
    """Make this the run that `nmt translate` takes when none is named, once it has a checkpoint."""
    if run.steps():
        write_text(LATEST, f"{run.path}\n")


def find_run(
    model: Path | None, config: Path | None, overrides: list[str]
) -> tuple[Config, RunDir]:
    """The trained run that is meant: `model`, else the config's, else $NMT_MODEL, else the last one trained here.

    Its own configuration holds, but for the `search` and `evaluate` sections of `config` and for overrides of those.
    Raises ModelError if there is none, ConfigError for an override of anything else.
    """
    for override in overrides:
        if "=" not in override:
            files = "nmt translate < FILE and nmt evaluate --hyp FILE --ref FILE"
            raise ConfigError(
                f"command line: '{override}' is no KEY=VALUE; files are given as in {files}"
            )
        if not override.startswith(("search.", "evaluate.", "run_dir=")):
            raise ConfigError(
                f"command line: {override}: a trained model takes only search.* and evaluate.*"
            )
        if config is None and override.startswith("run_dir="):
            raise ConfigError(
                "command line: run_dir= goes with --config; name a trained run with --model DIR"
            )
    asked = load_config(config, overrides) if config is not None else None
    run = _locate(model, asked)
    if not run.config.is_file():
        train = "nmt train" if config is None else f"nmt train --config {config}"
        raise ModelError(
            f"{run.path}: not a run folder (no config.yaml); run {train}, or name one with --model"
        )
    refuse_strange(run)
    trained = load_config(run.config, [o for o in overrides if not o.startswith("run_dir=")])
    if asked is not None:
        trained = trained.model_copy(update={"search": asked.search, "evaluate": asked.evaluate})
    return trained, run


def refuse_escape(run: RunDir, history: str | None) -> None:
    """Raise ConfigError where a run, which may be a stranger's, names a file elsewhere that would be written."""
    if history and (Path(history).is_absolute() or ".." in Path(history).parts):
        meant = "give --config FILE, or --history FILE, if it is meant"
        raise ConfigError(
            f"{run.config}: evaluate.history={history} leads out of this folder; {meant}"
        )


def _locate(model: Path | None, asked: Config | None) -> RunDir:
    if model is not None:
        return RunDir(model)
    if asked is not None:
        return RunDir(Path(asked.run_dir))
    try:
        return RunDir(
            Path(os.environ.get("NMT_MODEL") or LATEST.read_text(encoding="utf-8").strip())
        )
    except OSError:
        mend = "run nmt train, or give --model DIR or $NMT_MODEL"
        raise ModelError(f"no model: nothing was trained in this folder; {mend}") from None
