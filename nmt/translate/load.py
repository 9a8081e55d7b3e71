"""The translator of a trained run, or of several: of each the best checkpoint, or the last whole one."""

import time
from collections.abc import Sequence
from pathlib import Path

import torch

from nmt import checkpoint
from nmt.checkpoint import Meta, Weights
from nmt.config.schema import Config
from nmt.errors import FormatError, ModelError, Say, print_nothing
from nmt.model.device import keep_kernels, open_device, resolve_precision, within_memory
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir
from nmt.text.side import Side, keeps_chinese, load_side
from nmt.translate.decoder import Decoder
from nmt.translate.retries import numbers_masked
from nmt.translate.translator import Translator

# A training may replace the checkpoint that is being read: how often another is tried, and after how many seconds.
_TRIES = 20
_PAUSE = 0.02
_KERNELS = 16_384  # the shapes of decoding are many and small

TrainedRun = tuple[Config, RunDir]


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
    model = _built(config, weights, folder, src, tgt, where)

    loaded = [_load_other(other, folder, src, tgt, where, warn) for other in others]
    models = [model for _, model in loaded]
    folders = (folder, *(folder for folder, _ in loaded))
    with within_memory(f"the model of {folder}", "take another device"):
        numbers = numbers_masked(config.prepare.augment, keeps_chinese(src, tgt))
        decoder = Decoder(model, src, tgt, resolved, warn, numbers, models)
    say(f"nmt: {_named(folders, run.note)}, {resolved} on {where}")
    return decoder, folders


def _named(folders: Sequence[Path], note: str) -> str:
    """For people: "model A", or of an ensemble "models A, B and C"; the note goes with the first."""
    *most, last = [f"{folders[0]}{note}", *map(str, folders[1:])]
    return f"models {', '.join(most)} and {last}" if most else f"model {last}"


def _load_other(
    other: TrainedRun, first: Path, src: Side, tgt: Side, where: torch.device, warn: Say
) -> tuple[Path, Transformer]:
    """Another model of an ensemble, and its checkpoint; `first` is that of the first."""
    config, run = other
    folder, meta, weights = load_checkpoint(run, warn)
    for name, side, fingerprint in zip(SIDES, (src, tgt), meta.fingerprints, strict=True):
        if fingerprint != side.fingerprint():
            message = f"has another {name} vocabulary than {first}"
            fix = "an ensemble needs models of the same corpora and text settings"
            raise ModelError(f"{folder}: {message}; {fix}")
    return folder, _built(config, weights, folder, src, tgt, where)


def _built(
    config: Config, weights: Weights, folder: Path, src: Side, tgt: Side, where: torch.device
) -> Transformer:
    """The model of the weights of a checkpoint's `folder`. Raises ModelError for weights of another shape."""
    with torch.device("meta"):  # shapes only
        shapes = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    # What does not fit is refused before anything is allocated.
    checkpoint.refuse_misfits(shapes, weights, folder)
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    checkpoint.copy_weights(model, weights)
    with within_memory(f"the model of {folder}", "take another device"):
        return model.to(where)


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
    fix = "run nmt train, or name a run with --model"
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
    for name, side, fingerprint in zip(SIDES, (src, tgt), meta.fingerprints, strict=True):
        own = side.fingerprint()
        if fingerprint != own:
            raise ModelError(
                f"{folder}: trained with another {name} vocabulary ({fingerprint}) than "
                f"vocab.{name}.tsv ({own}); restore that file, or train again"
            )
