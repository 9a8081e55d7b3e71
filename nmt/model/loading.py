"""The model of a checkpoint's weights."""

from copy import deepcopy
from pathlib import Path

import torch

from nmt.config.schema import Config
from nmt.machine.device import Precision, dtype_of
from nmt.machine.oom import within_memory
from nmt.model.kernels.packed_linear import pack
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.checkpoint import Weights
from nmt.text.side import Side


def built(
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


def in_precision(model: Transformer, precision: Precision) -> Transformer:
    """The model with its parameters in a precision: itself, or a copy."""
    dtype = dtype_of(precision)
    if dtype == model.dtype:
        return model
    model = deepcopy(model)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)
    if dtype == torch.bfloat16 and model.output.weight.device.type == "cpu":
        pack(model)
    return model
