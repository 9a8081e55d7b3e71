"""Which checkpoint a training resumes from, and what is said about the others."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nmt.errors import FormatError, ModelError
from nmt.run import checkpoint
from nmt.run.checkpoint import Meta, Weights
from nmt.run.choice import check_fits
from nmt.run.folder import RunDir
from nmt.run.provenance import Provenance
from nmt.text.side import Side
from nmt.train.checkpoints import CheckpointManager
from nmt.train.distributed import World
from nmt.train.model_selection import is_better
from nmt.train.progress import Progress
from nmt.train.update import Updater


def resume(
    updater: Updater[Any], checkpoints: CheckpointManager, src: Side, tgt: Side, world: World
) -> tuple[Progress, list[str]]:
    """Continue from the last intact checkpoint, and set aside the damaged ones after it.

    The updater and its model take up what was saved. Gives how far training had come, and warnings. Rank 0 chooses
    the checkpoint. Raises ModelError if all are damaged, if the last one belongs to other files, or if a rank finds
    another one in its place.
    """
    run = checkpoints.run
    progress = Progress()
    saved, damaged = _found_by_rank_0(run, world)
    warnings = [f"{error}; trying the one before" for error in damaged.values()]
    if saved is not None:
        check_fits(saved.folder, saved.meta, src, tgt)
        _refuse_other_data(saved, run, checkpoints.provenance)
        checkpoint.put_weights(updater.model, saved.weights, saved.folder)
        updater.load_state(saved.training)
        progress = Progress.from_json(saved.meta.progress)
        progress, more = _with_present_best(progress, run, checkpoints.train.early_stop)
        warnings += more
    world.wait()  # until every rank has read the checkpoint
    if world.leads:
        for folder in damaged:
            checkpoint.set_aside(folder)
        _mark_saved_best(progress, run)
    return progress, warnings


@dataclass(frozen=True)
class _Saved:
    """All that one checkpoint holds."""

    folder: Path
    meta: Meta
    weights: Weights
    training: dict[str, Any]


def _found_by_rank_0(run: RunDir, world: World) -> tuple[_Saved | None, dict[Path, str]]:
    """What `_find_last_intact` gives on rank 0, whose choice all ranks take; what is damaged concerns rank 0 alone."""
    saved: _Saved | None = None
    damaged: dict[Path, str] = {}
    if world.leads:
        saved, damaged = _find_last_intact(run)
    chosen = world.decided("" if saved is None else _identity(saved.folder))
    if chosen and not world.leads:
        name, _, _ = chosen.partition(" ")
        folder = run.checkpoints / name
        if not folder.is_dir() or _identity(folder) != chosen:
            fix = "give all processes the same run folder"
            raise ModelError(f"{folder}: is not the checkpoint that rank 0 resumes from; {fix}")
        saved = _load(folder)
    return saved, damaged


def _identity(folder: Path) -> str:
    """The name of a checkpoint, and the hash of its weights."""
    return f"{folder.name} {checkpoint.weights_hash(folder)}"


def _load(folder: Path) -> _Saved:
    """Raises ModelError if the checkpoint is damaged, FormatError if a later version of nmt wrote it."""
    return _Saved(
        folder,
        meta=checkpoint.read_meta(folder),
        weights=checkpoint.load_weights(folder),
        training=checkpoint.load_training(folder),
    )


def _find_last_intact(run: RunDir) -> tuple[_Saved | None, dict[Path, str]]:
    """The checkpoint to resume from, if any, and what is wrong with those after it, newest first.

    Raises ModelError if all are damaged, FormatError if a later version of nmt wrote one.
    """
    damaged: dict[Path, str] = {}
    for folder in reversed(run.steps()):
        try:
            saved = _load(folder)
        except FormatError:
            raise
        except ModelError as error:
            damaged[folder] = str(error)
        else:
            return saved, damaged
    if damaged:
        newest = next(iter(damaged.values()))
        fix = "no other is whole; to start anew, train with --overwrite, or give another run_dir"
        raise ModelError(f"{newest}; {fix}")
    return None, damaged


def _refuse_other_data(saved: _Saved, run: RunDir, provenance: Provenance) -> None:
    """Raise ModelError if the encoded train text has changed since the checkpoint."""
    if saved.meta.provenance.data != provenance.data:
        fix = "restore it, or train with --overwrite"
        raise ModelError(f"{run.store('train')}: is not what {saved.folder} was trained on; {fix}")


def _with_present_best(progress: Progress, run: RunDir, metric: str) -> tuple[Progress, list[str]]:
    """The progress, its best checkpoint made to agree with what is on disk; and warnings.

    An average is marked as best after the progress was saved, and the best checkpoint may be gone.
    """
    marked = checkpoint.best(run)
    if marked is not None and marked.name.startswith("average"):
        try:
            score = checkpoint.read_meta(marked).scores[metric]
        except ModelError as error:
            return progress, [f"{error}; until then it does not count as the best"]
        if is_better(score, progress.best_score, metric):
            progress = replace(progress, best=marked.name, best_score=score)
        return progress, []
    best = run.checkpoints / progress.best
    if progress.best and not best.is_dir():
        effect = "the best from now on takes its place"
        warning = f"{best}: the best checkpoint has vanished; {effect}"
        return replace(progress, best="", best_score=None), [warning]
    return progress, []


def _mark_saved_best(progress: Progress, run: RunDir) -> None:
    """Mark the best checkpoint: a killed process may have saved it, but not yet marked it."""
    if progress.best:
        checkpoint.mark_best(run, run.checkpoints / progress.best)
