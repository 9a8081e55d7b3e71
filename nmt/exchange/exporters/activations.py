"""How large the numbers are that a model's matrices multiply: what int8 has to be able to hold of them."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nmt.exchange.exporters.marian_writer import LARGEST
from nmt.model.linear import Linear
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, EOS

_BATCH = 32  # sentences whose largest number is one measurement
_DEVIATIONS = 1.1


@torch.inference_mode()
def input_multipliers(
    model: Transformer, pairs: Sequence[tuple[list[int], list[int]]]
) -> dict[str, float]:
    """What the inputs of each `Linear`, by its name, are multiplied with to become int8.

    127 / (mean + 1.1 standard deviations) of the largest absolute value in each batch, as browsermt/marian-dev,
    scripts/alphas/extract_stats.py, has it. `pairs` are ids without BOS and EOS.
    """
    measured: dict[str, list[float]] = defaultdict(list)
    current: dict[str, float] = defaultdict(float)

    def note(name: str, inputs: Tensor) -> None:
        current[name] = max(current[name], inputs.abs().max().item())

    linears = {name: part for name, part in model.named_modules() if isinstance(part, Linear)}
    hooks = [
        part.register_forward_pre_hook(lambda _, inputs, name=name: note(name, inputs[0]))
        for name, part in linears.items()
    ]
    try:
        for first in range(0, len(pairs), _BATCH):
            current.clear()
            for src, tgt in pairs[first : first + _BATCH]:  # one by one: padding is no input
                model(torch.tensor([[*src, EOS]]), torch.tensor([[BOS, *tgt]]))
            for name, largest in current.items():
                measured[name].append(largest)
    finally:
        for hook in hooks:
            hook.remove()
    return {name: _multiplier(largest) for name, largest in measured.items()}


def _multiplier(largest: list[float]) -> float:
    covered = np.mean(largest) + _DEVIATIONS * np.std(largest)
    return float(LARGEST / covered) if covered else 1.0
