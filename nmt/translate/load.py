"""The translator of a trained run, or of several: of each the best checkpoint, or the last whole one."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch

from nmt import checkpoint
from nmt.checkpoint import Meta, Weights
from nmt.config.schema import Config
from nmt.errors import FormatError, ModelError, Say, print_nothing
from nmt.model.device import (
    Precision,
    keep_kernels,
    open_device,
    resolve_precision,
    within_memory,
)
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir, SideName
from nmt.text.side import Side, keeps_chinese, load_side
from nmt.translate.decoder import Decoder, in_precision
from nmt.translate.engine import TrainedRun
from nmt.translate.load_memory import load_memory
from nmt.translate.retries import numbers_masked
from nmt.translate.translator import Translator

# A training may replace the checkpoint that is being read: how often another is tried, and after how many seconds.
_TRIES = 20
_PAUSE = 0.02
_KERNELS = 16_384  # the shapes of decoding are many and small


def load_translator(
    config: Config,
    run: RunDir,
    device: str = "auto",
    precision: str = "auto",
    warn: Say = print_nothing,
    say: Say = print_nothing,
    others: Sequence[TrainedRun] = (),
) -> Translator:
    """The translator of a run's best checkpoint; if that is damaged, of the last whole one, with a warning.

    A checkpoint that `run` itself names is taken, or none. With `others` it is an ensemble: their models decide
    together with the run's, whose configuration holds. `say` is told what is used, and where. Raises ModelError
    if there is no checkpoint, or if one does not belong to the run's vocabularies.
    """
    decoder, checkpoints = load_decoder(config, run, device, precision, warn, say, others)
    if config.search.memory is not None:
        decoder.remember(load_memory(Path(config.search.memory), decoder, say))
    translator = Translator(
        decoder, decoder.src, decoder.tgt, config.search, config.prepare.augment
    )
    translator.checkpoints = checkpoints
    return translator


def load_decoder(
    config: Config,
    run: RunDir,
    device: str = "auto",
    precision: str = "auto",
    warn: Say = print_nothing,
    say: Say = print_nothing,
    others: Sequence[TrainedRun] = (),
) -> tuple[Decoder, tuple[Path, ...]]:
    """The engine on torch of a run, and the checkpoints that it has, the run's first; as `load_translator`."""
    keep_kernels(_KERNELS)
    folder, meta, weights = load_checkpoint(run, warn)
    src = load_side(config, run, "src")
    tgt = load_side(config, run, "tgt")
    check_fits(folder, meta, src, tgt)
    where = open_device(device)
    resolved = resolve_precision(precision, where)
    build = partial(_built, sides=(src, tgt), device=where, precision=resolved)
    models = [build(config, folder, weights)]
    folders = [folder]
    for its_config, its_run in others:
        its_folder, its_meta, its_weights = load_checkpoint(its_run, warn)
        _refuse_other_vocabularies(its_folder, its_meta, folder, src, tgt)
        models.append(build(its_config, its_folder, its_weights))
        folders.append(its_folder)

    numbers = numbers_masked(config.prepare.augment, keeps_chinese(src, tgt))
    decoder = Decoder(models[0], src, tgt, resolved, warn, numbers, models[1:])
    say(f"nmt: {_named(folders, run.note)}, {resolved} on {where}")
    return decoder, tuple(folders)


def _named(folders: Sequence[Path], note: str) -> str:
    """For people: "model A", or of an ensemble "models A, B and C"; the note goes with the first."""
    *most, last = [f"{folders[0]}{note}", *map(str, folders[1:])]
    return f"models {', '.join(most)} and {last}" if most else f"model {last}"


def _built(
    config: Config,
    folder: Path,
    weights: Weights,
    sides: tuple[Side, Side],
    device: torch.device,
    precision: Precision,
) -> Transformer:
    """The model of a checkpoint's weights. Raises ModelError for weights of another shape."""
    sizes = [len(side.vocab) for side in sides]
    with torch.device("meta"):  # shapes only
        shapes = Transformer(config.model, *sizes)
    # What does not fit is refused before anything is allocated.
    checkpoint.refuse_misfits(shapes, weights, folder)
    model = Transformer(config.model, *sizes)
    checkpoint.copy_weights(model, weights)
    with within_memory(f"the model of {folder}", "take another device"):
        return in_precision(model.to(device), precision)


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
    fix = "a training replaces its checkpoints faster than they can be read; call again"
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


def _refuse_other_vocabularies(folder: Path, meta: Meta, first: Path, src: Side, tgt: Side) -> None:
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
