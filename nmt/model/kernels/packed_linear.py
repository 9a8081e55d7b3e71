"""Linear layers whose weights are laid out as oneDNN wants them once, not at every product."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Product = Callable[[Tensor], Tensor]

# bfloat16 has 8 significant bits; both products round once.
_TOLERANCE = 2**-6


def pack(model: nn.Module) -> None:
    """Lay out the weights of all linear layers, bfloat16 on a CPU, for inference.

    Weights that change later have no effect. torch's compiler does the same, by operators that are
    not documented. So each layer's product is tried first: where torch has no such operators, or
    others than are known here, the layer stays as it is.
    """
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            product = _packed(layer)
            if product is not None:
                layer.forward = product  # type: ignore[assignment, method-assign]


@torch.no_grad()
def _packed(layer: nn.Linear) -> Product | None:
    """The product of a layer with its weights laid out, or None if that does not give what the layer does."""
    operators = torch.ops.mkldnn
    sample = layer.weight[:1]  # [1,inputs]
    try:
        if not operators._is_mkldnn_bf16_supported():
            return None
        product = partial(
            operators._linear_pointwise,
            W=operators._reorder_linear_weight(layer.weight.detach()),
            B=layer.bias,
            attr="none",
            scalars=[],
            algorithm="",
        )
        found = product(sample)
    except (AttributeError, RuntimeError, TypeError):
        return None
    expected = F.linear(sample, layer.weight, layer.bias)
    is_right = torch.allclose(found, expected, rtol=_TOLERANCE, atol=_TOLERANCE)
    return product if is_right else None
