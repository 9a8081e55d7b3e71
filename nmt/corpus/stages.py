"""Whether a run's folder is free for a configuration, and which stages are due."""

from pathlib import Path
from typing import Any

import yaml

from nmt.config.load import dump, load_config
from nmt.config.schema import Config
from nmt.corpus.encode import build_vocabularies, vocabularies_are_current
from nmt.corpus.prepare import is_current, ledger_line, prepare
from nmt.corpus.sources import find_sources
from nmt.errors import ConfigError, Say
from nmt.files import remove, write_text
from nmt.run_dir import SIDES, SPLITS, RunDir

_MEND = "give another run_dir, or --overwrite to delete its checkpoints"
# Settings that change what is still to come, not what a run's checkpoints have already become.
_FREE: dict[str, Any] = {"run_dir": True, "search": True, "evaluate": True, "data": {"max_bytes"}}
_FREE["prepare"] = {"workers"}
_FREE["train"] = {
    "accumulate",
    "average",
    "average_of",
    "clip_norm",
    "device",
    "keep",
    "log_every",
    "max_minutes",
}
_FREE["train"] |= {
    "patience",
    "peak_lr",
    "precision",
    "save_every",
    "tensorboard",
    "updates",
    "validate_every",
}


def claim(config: Config, overwrite: bool) -> RunDir:
    """The run folder of a configuration, with `config.yaml` written in it.

    Raises ConfigError if the folder holds checkpoints that were trained with another configuration (`overwrite`
    deletes them), or a `config.yaml` of something else.
    """
    run = RunDir(Path(config.run_dir))
    if run.config.exists() and not run.prepare_report.exists():
        try:
            load_config(run.config)
        except ConfigError:
            told = "is of something else, and would be replaced; give another run_dir"
            raise ConfigError(f"{run.config}: {told}") from None
    if overwrite:
        find_sources(config)  # before anything is deleted for a training that cannot begin
        _clear(run)
    elif (
        run.steps()
        and run.config.exists()
        and (differing := _differences(load_config(run.config), config))
    ):
        told = f"was trained with another configuration ({'; '.join(differing)})"
        raise ConfigError(f"{run.path}: {told}; {_MEND}")
    write_text(run.config, yaml.safe_dump(dump(config), sort_keys=False, allow_unicode=True))
    return run


def _clear(run: RunDir) -> None:
    for folder in (run.checkpoints, run.validation, run.tensorboard):
        remove(folder)
    for file in (run.best, run.metrics, run.log):
        file.unlink(missing_ok=True)


def _differences(old: Config, new: Config) -> list[str]:
    before, after = _flat(old), _flat(new)
    return [f"{key}: {before[key]} → {after[key]}" for key in before if before[key] != after[key]]


def _flat(config: Config) -> dict[str, Any]:
    """{"train": {"seed": 1}} → {"train.seed": 1}, without what is free to change."""
    sections = config.model_dump(mode="json", exclude=_FREE)
    flat = {"shared_vocab": sections.pop("shared_vocab")}
    return flat | {
        f"{section}.{key}": value
        for section in sections
        for key, value in sections[section].items()
    }


def ensure_prepared(config: Config, run: RunDir, say: Say) -> None:
    """Run `prepare` if its results are missing or stale. A trained run keeps the text that it was trained on."""
    if is_current(config, run):
        return
    if run.steps():
        say(
            f"{run.path}: its corpora have changed or are gone; it goes on with the text as it was prepared"
        )
    else:
        run_prepare(config, run, say)


def ensure_vocabularies(config: Config, run: RunDir, say: Say) -> None:
    """Run `build-vocab` if its results are missing or stale. A trained run keeps its vocabularies."""
    if not run.steps() and not vocabularies_are_current(config, run):
        run_build_vocab(config, run, say)


def _refuse_if_trained(run: RunDir, stage: str) -> None:
    """Raise ConfigError where running a stage again would part a trained model from its vocabularies."""
    if run.steps():
        raise ConfigError(
            f"{run.path}: {stage} would replace what its checkpoints were trained on; {_MEND}"
        )


def run_prepare(config: Config, run: RunDir, say: Say) -> None:
    """Prepare, and tell what was kept and dropped. Raises ConfigError if the run is trained already."""
    _refuse_if_trained(run, "prepare")
    report = prepare(config, run)
    for entry in report["corpora"]:
        say(f"prepare: {entry['name']}: {ledger_line(entry)}")
    say("prepare: " + ", ".join(f"{split} {report[split]['pairs']:,} pairs" for split in SPLITS))


def run_build_vocab(config: Config, run: RunDir, say: Say) -> None:
    """Build the vocabularies, and tell their sizes and cover. Raises ConfigError if the run is trained already."""
    _refuse_if_trained(run, "build-vocab")
    report = build_vocabularies(config, run)
    for name in SIDES:
        side = report[name]
        dev = "dev: coverage {dev_coverage:.2f} %, OOV {dev_oov:.2f} %, unknown even so {dev_unk:.2f} %"
        covers = "dev is empty" if side["dev_coverage"] is None else dev.format(**side)
        say(
            f"build-vocab: {name}: {side['size']:,} tokens, {side['spelling']:,} of them to spell with; {covers}"
        )
