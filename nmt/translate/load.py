"""The translator of a trained run: its best checkpoint, or the last whole one."""

from pathlib import Path

import torch
from torch import Tensor

from nmt.checkpoint import best, load_weights, put_weights, read_meta
from nmt.config.schema import Config
from nmt.errors import ModelError, Say, print_nothing
from nmt.model.device import open_device, resolve_precision, within_memory
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir
from nmt.text.side import Side, load_side
from nmt.translate.translator import Translator


def load_translator(
    config: Config,
    run: RunDir,
    device: str = "auto",
    precision: str = "auto",
    warn: Say = print_nothing,
) -> Translator:
    """The translator of a run's best checkpoint; if that is damaged, of the last whole one, with a warning.

    Raises ModelError if there is none, or if it does not belong to the run's vocabularies.
    """
    folder, weights = _load_best(run, warn)
    src = load_side(config, run, "src")
    tgt = load_side(config, run, "tgt")
    check_fits(folder, src, tgt)
    where = open_device(device)
    with torch.device("meta"):  # shapes only
        shapes = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    put_weights(shapes, weights, folder)  # refuses what does not fit before anything is allocated
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    put_weights(model, weights, folder)
    resolved = resolve_precision(precision, where)
    taught = config.prepare.augment
    with within_memory(f"the model of {folder}", "take another device"):
        translator = Translator(model.to(where), src, tgt, config.search, resolved, taught, warn)
    translator.checkpoint = folder
    return translator


def _load_best(run: RunDir, warn: Say) -> tuple[Path, dict[str, Tensor]]:
    """The folder and the weights of the checkpoint to use."""
    candidates = list(reversed(run.steps()))
    marked = best(run)
    if marked is not None:
        candidates.insert(0, marked)
    elif run.best.exists():
        warn(f"{run.best}: names a checkpoint that is not there; taking the last whole one")
    problem = f"{run.path}: no trained model here; run nmt train, or name a run with --model"
    for folder in candidates:
        try:
            return folder, load_weights(folder)
        except ModelError as error:
            problem = str(error)
            warn(f"{problem}; trying the last whole checkpoint")
    raise ModelError(problem)


def check_fits(folder: Path, src: Side, tgt: Side) -> None:
    """Raise ModelError if a checkpoint was trained with other vocabularies than these sides'."""
    trained_with = read_meta(folder).fingerprints
    for name, side, fingerprint in zip(SIDES, (src, tgt), trained_with, strict=True):
        own = side.fingerprint()
        if fingerprint != own:
            raise ModelError(
                f"{folder}: trained with another {name} vocabulary ({fingerprint}) than "
                f"vocab.{name}.tsv ({own}); restore that file, or train again"
            )
