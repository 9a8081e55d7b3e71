"""Linear layers whose weights are laid out once, as oneDNN's kernels want them, and not again for every product."""

from functools import partial

import torch
from torch import nn


def pack(model: nn.Module) -> None:
    """Lay out the weights of all linear layers, bfloat16 on a CPU, for inference: what they are now is what counts.

    It is what torch's compiler does, by operators that are not documented; where there are none, nothing changes.
    """
    operators = torch.ops.mkldnn
    if not (hasattr(operators, "_linear_pointwise") and operators._is_mkldnn_bf16_supported()):
        return
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            packed = operators._reorder_linear_weight(layer.weight.detach())
            product = partial(operators._linear_pointwise, W=packed, B=layer.bias)
            layer.forward = partial(product, attr="none", scalars=[], algorithm="")  # type: ignore[method-assign]
