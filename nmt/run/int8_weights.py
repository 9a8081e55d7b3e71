"""Weights in int8 with a scale for each row: a quarter of float32, as CTranslate2 rounds them too.

A matrix [o,i] is kept as whole numbers from -127 to 127 under its own name, and the value of 1 of each row [o] under
that name with `SCALE` after it. The largest value of a row is ±127, so to round the values again changes nothing.
"""

from typing import TYPE_CHECKING

from nmt.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor

SCALE = ".scale"
_LARGEST = 127


def rounded_to_int8(weights: "dict[str, Tensor]") -> "dict[str, Tensor]":
    """Matrices in int8 with their scales; all else in float32."""
    import torch

    rounded: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        values = tensor.detach().float()
        if values.dim() != 2:
            rounded[name] = values
            continue
        largest = values.abs().amax(1)  # [o]
        scales = torch.where(largest == 0, 1.0, largest / _LARGEST)
        rounded[name] = (values / scales[:, None]).round().to(torch.int8)
        rounded[name + SCALE] = scales
    return rounded


def values_of_int8(stored: "dict[str, Tensor]") -> "dict[str, Tensor]":
    """Undo `rounded_to_int8`; what is not in int8 stays as it is. Raises ModelError where a scale does not fit."""
    import torch

    weights: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if tensor.dtype == torch.int8:
            scales = stored.get(name + SCALE)
            if scales is None or tensor.dim() != 2 or scales.shape != tensor.shape[:1]:
                raise ModelError(f"'{name}' is in int8, but its scales are missing or do not fit")
            weights[name] = tensor.float() * scales[:, None]
        elif not (name.endswith(SCALE) and name.removesuffix(SCALE) in stored):
            weights[name] = tensor
    return weights
