"""Whether a run's folder is free for a configuration, and which stages are due."""

from pathlib import Path
from typing import Any

import yaml

from nmt.config.load import dump, load_config
from nmt.config.schema import Config
from nmt.corpus.encode import build_vocabularies, vocabularies_are_current
from nmt.corpus.ledger import ledger_line
from nmt.corpus.prepare import is_current, prepare
from nmt.corpus.sources import find_sources
from nmt.errors import ConfigError, Say
from nmt.files import remove, write_text
from nmt.run_dir import SIDES, SPLITS, RunDir

_FIX = "give another run_dir, or --overwrite to delete its checkpoints"

# Settings that change what is still to come, not what a run's checkpoints have already become.
_FREE: dict[str, Any] = {
    "run_dir": True,
    "search": True,
    "evaluate": True,
    "data": {"max_bytes"},
    "prepare": {"workers"},
    "train": {
        "accumulate",
        "average",
        "average_of",
        "clip_norm",
        "device",
        "keep",
        "log_every",
        "max_minutes",
        "patience",
        "peak_lr",
        "precision",
        "save_every",
        "tensorboard",
        "updates",
        "validate_every",
    },
}


def claim(config: Config, overwrite: bool) -> RunDir:
    """The run folder of a configuration, with `config.yaml` written in it.

    Raises ConfigError if the folder holds checkpoints that were trained with another configuration (`overwrite`
    deletes them), or a `config.yaml` of something else.
    """
    run = RunDir(Path(config.run_dir))
    _refuse_foreign(run)
    if overwrite:
        find_sources(config)  # before anything is deleted for a training that cannot begin
        _clear(run)
    elif run.steps() and run.config.exists():
        _refuse_if_different(config, run)
    write_text(run.config, yaml.safe_dump(dump(config), sort_keys=False, allow_unicode=True))
    return run


def _refuse_foreign(run: RunDir) -> None:
    """Raise ConfigError for a `config.yaml` that is not ours, as far as one can tell."""
    if run.prepare_report.exists() or not run.config.exists():
        return
    try:
        load_config(run.config)
    except ConfigError:
        raise ConfigError(
            f"{run.config}: belongs to something else, and would be replaced; give another run_dir"
        ) from None


def _refuse_if_different(config: Config, run: RunDir) -> None:
    """Raise ConfigError if a run was trained with another configuration."""
    differences = _differences(load_config(run.config), config)
    if differences:
        raise ConfigError(
            f"{run.path}: was trained with another configuration ({'; '.join(differences)}); {_FIX}"
        )


def _clear(run: RunDir) -> None:
    for folder in (run.checkpoints, run.validation, run.tensorboard):
        remove(folder)
    for file in (run.best, run.metrics, run.log):
        file.unlink(missing_ok=True)


def _differences(old: Config, new: Config) -> list[str]:
    before = _flat(old)
    after = _flat(new)
    return [f"{key}: {before[key]} → {after[key]}" for key in before if before[key] != after[key]]


def _flat(config: Config) -> dict[str, Any]:
    """{"train": {"seed": 1}} → {"train.seed": 1}, without what is free to change."""
    sections = config.model_dump(mode="json", exclude=_FREE)
    flat = {"shared_vocab": sections.pop("shared_vocab")}
    for section, settings in sections.items():
        for key, value in settings.items():
            flat[f"{section}.{key}"] = value
    return flat


def ensure_prepared(config: Config, run: RunDir, say: Say) -> None:
    """Run `prepare` if its results are missing or stale. A trained run keeps the text that it was trained on."""
    if is_current(config, run):
        return
    if run.steps():
        say(
            f"{run.path}: its corpora have changed or are missing; "
            "the run keeps the text that it was trained on"
        )
    else:
        run_prepare(config, run, say)


def ensure_vocabularies(config: Config, run: RunDir, say: Say) -> None:
    """Run `build-vocab` if its results are missing or stale. A trained run keeps its vocabularies."""
    if not run.steps() and not vocabularies_are_current(config, run):
        run_build_vocab(config, run, say)


def run_prepare(config: Config, run: RunDir, say: Say) -> None:
    """Prepare, and say what was kept and dropped. Raises ConfigError if the run is trained already."""
    _refuse_if_trained(run, "prepare")
    report = prepare(config, run)
    for entry in report["corpora"]:
        say(f"prepare: {entry['name']}: {ledger_line(entry)}")
    say("prepare: " + ", ".join(f"{split} {report[split]['pairs']:,} pairs" for split in SPLITS))


def run_build_vocab(config: Config, run: RunDir, say: Say) -> None:
    """Build the vocabularies, and say what they cover. Raises ConfigError if the run is trained already."""
    _refuse_if_trained(run, "build-vocab")
    report = build_vocabularies(config, run)
    for name in SIDES:
        side = report[name]
        sizes = f"{side['size']:,} tokens, {side['spelling']:,} of them for spelling"
        say(f"build-vocab: {name}: {sizes}; {_coverage(side)}")


def _coverage(side: dict[str, Any]) -> str:
    if side["dev_coverage"] is None:
        return "dev is empty"
    return (
        f"dev: coverage {side['dev_coverage']:.2f} %, OOV {side['dev_oov']:.2f} %, "
        f"unknown even when spelled {side['dev_unk']:.2f} %"
    )


def _refuse_if_trained(run: RunDir, stage: str) -> None:
    """Raise ConfigError where running a stage again would part a trained model from its vocabularies."""
    if run.steps():
        raise ConfigError(
            f"{run.path}: {stage} would replace what its checkpoints were trained on; {_FIX}"
        )
