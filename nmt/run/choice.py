"""Which checkpoint of a run is used, and whether it belongs to the run's vocabularies."""

import time
from collections.abc import Iterator
from pathlib import Path

from nmt.errors import FormatError, ModelError, Say, print_nothing
from nmt.run import checkpoint
from nmt.run.checkpoint import Meta, Weights
from nmt.run.folder import SIDES, RunDir, SideName
from nmt.text.side import Side

# A training may replace the checkpoint that is being read: how often another is tried, and after how many seconds.
_TRIES = 20
_PAUSE = 0.02

Loaded = tuple[Path, Meta, Weights]


class _Replaced(Exception):
    """A training at work has replaced or deleted what was being read."""


def load_checkpoint(run: RunDir, warn: Say = print_nothing) -> Loaded:
    """The checkpoint of a run to use: its folder, what it says about itself, its weights. Raises ModelError."""
    for _ in range(_TRIES):
        try:
            return _load_asked(run.checkpoint) if run.checkpoint else _load_best(run, warn)
        except _Replaced:
            time.sleep(_PAUSE)
    fix = "a training replaces its checkpoints faster than they can be read; try again"
    raise ModelError(f"{run.path}: {fix}")


def _load_asked(folder: Path) -> Loaded:
    return folder, *checkpoint.load(folder)


def _load_best(run: RunDir, warn: Say) -> Loaded:
    """The best checkpoint, or the last whole one; an average only where no other is whole."""
    marked = checkpoint.best(run)
    newest_first = [*reversed(run.steps()), *reversed(run.steps("average"))]
    candidates = [folder for folder in newest_first if folder != marked]
    if marked is not None:
        candidates.insert(0, marked)
    elif run.best.exists():
        warn(f"{run.best}: names a checkpoint that is not there; taking the last whole one")
    fix = "run nmt train, or name a trained run"
    problem = f"{run.path}{run.note}: no trained model here; {fix}"
    for folder in candidates:
        before = _identity(folder)
        try:
            return _load_asked(folder)
        except FormatError:
            raise
        except ModelError as error:
            if _identity(folder) != before or before is None:
                raise _Replaced from None
            problem = str(error)
            warn(f"{problem}; trying the last whole checkpoint")
    raise ModelError(problem)


def _identity(folder: Path) -> int | None:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return None


def check_fits(folder: Path, meta: Meta, src: Side, tgt: Side) -> None:
    """Raise ModelError if a checkpoint was trained with other vocabularies than these sides'."""
    for name, trained_with, own in _other_vocabularies(meta, src, tgt):
        raise ModelError(
            f"{folder}: trained with another {name} vocabulary ({trained_with}) than "
            f"vocab.{name}.tsv ({own}); restore that file, or train again"
        )


def refuse_other_vocabularies(folder: Path, meta: Meta, first: Path, src: Side, tgt: Side) -> None:
    """Raise ModelError if a checkpoint has other vocabularies than the first of an ensemble."""
    for name, _, _ in _other_vocabularies(meta, src, tgt):
        message = f"has another {name} vocabulary than {first}"
        fix = "name runs that were trained on the same corpora with the same text settings"
        raise ModelError(f"{folder}: {message}; {fix}")


def _other_vocabularies(meta: Meta, src: Side, tgt: Side) -> Iterator[tuple[SideName, str, str]]:
    """Each side whose vocabulary a checkpoint was not trained with: its name, the checkpoint's hash and its own."""
    for name, side, trained_with in zip(SIDES, (src, tgt), meta.fingerprints, strict=True):
        own = side.fingerprint()
        if trained_with != own:
            yield name, trained_with, own
