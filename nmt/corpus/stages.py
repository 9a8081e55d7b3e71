"""Whether a run's folder is free for a configuration, and which stages are due."""

from pathlib import Path
from typing import Any

from nmt.config.load import dump, load_config
from nmt.config.schema import STATEMENTS, Config
from nmt.config.yaml_values import dump_yaml
from nmt.corpus.cleaning.ledger import ledger_line
from nmt.corpus.cleaning.prepare import is_current, prepare, why_stale
from nmt.corpus.encoding.encode import build_vocabularies, vocabularies_are_current
from nmt.corpus.identity.contamination import contamination_line
from nmt.corpus.reading.sources import find_sources, spreadsheets
from nmt.errors import ConfigError, DataError, Say, counted, print_nothing
from nmt.files import readable_or, refuse_unreadable
from nmt.machine.workers import MapChunks, map_chunks
from nmt.run.folder import SIDES, SPLITS, RunDir
from nmt.run.ownership import (
    delete_training,
    refuse_foreign_config,
    refuse_foreign_files,
    refuse_foreign_places,
    refuse_foreign_stores,
    refuse_sources_in_the_way,
    refuse_to_delete,
    staging,
    write_config,
)
from nmt.run.start_from import start_run

_FIX = "give another run_dir, or --overwrite to delete its checkpoints"

# Settings that change what is still to come, not what a run's checkpoints have already become.
_FREE: dict[str, Any] = {
    "run_dir": True,
    "search": True,
    "evaluate": True,
    "data": {"max_bytes": True, **STATEMENTS},
    "prepare": {"workers"},
    "train": {
        "accumulate",
        "average",
        "average_of",
        "clip_norm",
        "compile",
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


def claim(config: Config, overwrite: bool, say: Say = print_nothing) -> RunDir:
    """The run folder of a configuration, with `config.yaml` written in it.

    Raises ConfigError if the folder holds checkpoints that were trained with another configuration (`overwrite`
    deletes them, and says so), or something of the user's that is in the way; DataError if a new training would have no
    corpora.
    """
    run = RunDir(Path(config.run_dir))
    _refuse_unfit_folder(run)
    _refuse_to_start_from_itself(config, run)
    text = dump_yaml(dump(config))
    refuse_foreign_places(run)
    refuse_foreign_config(run, text)
    if overwrite or not run.steps():
        # Before anything is written, or deleted, for a training that cannot begin.
        _refuse_missing_vectors(config)
        _refuse_what_is_in_the_way(config, run)
    elif run.config.exists():
        _refuse_if_different(config, run)
    if overwrite:
        refuse_to_delete(run)
        _delete_training(run, say)
    write_config(run, text)
    return run


def _delete_training(run: RunDir, say: Say) -> None:
    steps = run.steps()
    delete_training(run)
    if steps:
        checkpoints = counted(len(steps), "checkpoint")
        say(f"nmt: {run.path}: deleted a training, {checkpoints} up to {steps[-1].name}")


def _refuse_unfit_folder(run: RunDir) -> None:
    """Raise ConfigError where a run would be scattered among everything else."""
    folder = run.path.resolve()
    if folder in Path.cwd().resolve().parents or folder == Path("~").expanduser().resolve():
        fix = f"choose a separate folder, such as {run.path / 'runs' / 'mine'}"
        raise ConfigError(f"run_dir={run.path}: also holds other files; {fix}")


def _refuse_to_start_from_itself(config: Config, run: RunDir) -> None:
    """Raise ConfigError where a training would take the place of the run that it starts from."""
    start = start_run(config)
    if start is not None and start.path.resolve() == run.path.resolve():
        message = f"train.start_from={config.train.start_from} is in run_dir={run.path}"
        raise ConfigError(f"{message}; give another run_dir")


def _refuse_missing_vectors(config: Config) -> None:
    for key in ("src_vectors", "tgt_vectors"):
        path = getattr(config.model, key)
        if path is None:
            continue
        with readable_or(DataError):
            is_there = Path(path).is_file()
        if not is_there:
            raise DataError(f"model.{key}={path}: no such file")
        refuse_unreadable(Path(path), DataError)


def _refuse_what_is_in_the_way(config: Config, run: RunDir) -> None:
    """Raise ConfigError for anything in the run folder that nmt did not write, and would replace."""
    for sources in find_sources(config).values():
        for source in sources:
            refuse_sources_in_the_way(run, source.files())
    is_prepared = is_current(config, run)
    if not is_prepared:
        _refuse_foreign_text(config, run)
    if not (is_prepared and vocabularies_are_current(config, run)):
        _refuse_foreign_vocabularies(config, run)


def _refuse_foreign_text(config: Config, run: RunDir) -> None:
    languages = (config.src.language, config.tgt.language)
    text = [run.text(split, language) for split in SPLITS for language in languages]
    refuse_foreign_files(run, [run.prepare_report, run.train_keys, *text])


def _refuse_foreign_vocabularies(config: Config, run: RunDir) -> None:
    files = [run.vocab_report]
    for side in SIDES:
        files.append(run.vocab(side))
        if config.side(side).tokenizer == "sentencepiece":
            files.append(run.pieces(side))
    refuse_foreign_files(run, files)
    refuse_foreign_stores(run)


def _refuse_if_different(config: Config, run: RunDir) -> None:
    """Raise ConfigError if a run was trained with another configuration."""
    differences = _differences(load_config(run.config), config)
    if differences:
        raise ConfigError(
            f"{run.path}: was trained with another configuration ({'; '.join(differences)}); {_FIX}"
        )


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


def ensure_prepared(config: Config, run: RunDir, say: Say, warn: Say) -> None:
    """Run `prepare` if its results are missing or stale. A trained run keeps the text that it was trained on."""
    change = why_stale(config, run)
    if change is None:
        return
    if run.steps():
        effect = "the run keeps the text that it was trained on"
        warn(f"{run.path}: {change}; {effect}; to train on the new one, give another run_dir")
    else:
        run_prepare(config, run, say)


def ensure_vocabularies(config: Config, run: RunDir, say: Say) -> None:
    """Run `build-vocab` if its results are missing or stale. A trained run keeps its vocabularies.

    Raises DataError for a run that has checkpoints, but nothing to train on, as one that was imported.
    """
    if not run.steps():
        if not vocabularies_are_current(config, run):
            run_build_vocab(config, run, say)
    elif not run.store("train").is_dir():
        fix = f"to train on from it, give another run_dir and train.start_from={run.path}"
        raise DataError(f"{run.path}: has a model, but no encoded text to train it on; {fix}")


def run_prepare(config: Config, run: RunDir, say: Say, in_chunks: MapChunks = map_chunks) -> None:
    """Prepare, and say what was kept and dropped.

    A trained run keeps the text that it was trained on: there is nothing to do if that is still what would be made, and
    else ConfigError is raised.
    """
    if run.steps():
        find_sources(config)  # a corpus that is not there has not changed
        _keep_what_is_trained_on(run, "prepare", why_stale(config, run), say)
        return
    _refuse_foreign_text(config, run)
    with staging(run) as staged:
        report = prepare(config, staged, in_chunks)
    for table in spreadsheets(config):
        say(f"prepare: {table}: columns in a spreadsheet's quotation marks were read without them")
    for entry in report["corpora"]:
        say(f"prepare: {entry['name']}: {ledger_line(entry)}")
    contaminated = contamination_line(report, config.prepare.public_tests)
    if contaminated is not None:
        say(f"prepare: {contaminated}")
    sizes = [f"{split} {counted(report[split]['pairs'], 'pair')}" for split in SPLITS]
    say("prepare: " + ", ".join(sizes))


def run_build_vocab(config: Config, run: RunDir, say: Say) -> None:
    """Build the vocabularies, and say what they cover. Of a trained run, raises ConfigError as `run_prepare` does."""
    if run.steps():
        stale = (
            None
            if vocabularies_are_current(config, run)
            else "its vocabularies are missing, or not those of these settings"
        )
        _keep_what_is_trained_on(run, "build-vocab", stale, say)
        return
    _refuse_foreign_vocabularies(config, run)
    with staging(run, prepared=run) as staged:
        report = build_vocabularies(config, staged)
    for name in SIDES:
        side = report[name]
        sizes = f"{side['size']:,} tokens, {side['spelling']:,} of them for spelling"
        say(f"build-vocab: {name}: {sizes}; {_coverage(side)}")


def _coverage(side: dict[str, Any]) -> str:
    if side["dev_coverage"] is None:
        return "dev is empty"
    return (
        f"dev: coverage {side['dev_coverage']:.2f} %, OOV {side['dev_oov']:.2f} %, "
        f"still <unk> after spelling {side['dev_unk']:.2f} %"
    )


def _keep_what_is_trained_on(run: RunDir, stage: str, change: str | None, say: Say) -> None:
    """Say that nothing is to be done, or raise ConfigError for a `change` that would replace what was trained on."""
    if change is not None:
        effect = f"{stage} would replace what its checkpoints were trained on"
        raise ConfigError(f"{run.path}: {change}; {effect}; {_FIX}")
    say(f"{stage}: {run.path} is trained already: nothing to do")
