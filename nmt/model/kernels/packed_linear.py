"""Linear layers whose weights are laid out as oneDNN wants them once, not at every product."""

from functools import partial

import torch
from torch import nn


def pack(model: nn.Module) -> None:
    """Lay out the weights of all linear layers, bfloat16 on a CPU, for inference.

    Weights that change later have no effect. torch's compiler does the same, by operators that are
    not documented; where torch has none, nothing changes.
    """
    operators = torch.ops.mkldnn
    if not (hasattr(operators, "_linear_pointwise") and operators._is_mkldnn_bf16_supported()):
        return
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            packed = operators._reorder_linear_weight(layer.weight.detach())
            layer.forward = partial(  # type: ignore[method-assign]
                operators._linear_pointwise,
                W=packed,
                B=layer.bias,
                attr="none",
                scalars=[],
                algorithm="",
            )
