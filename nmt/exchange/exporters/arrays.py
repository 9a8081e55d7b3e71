"""The weights of our Transformer as numpy's arrays. Nothing here imports torch before it is given a tensor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from nmt.model.transformer import Transformer

Array = NDArray[np.float32]

# What a forbidden token gets in place of its bias: a number of float16 too, whose largest is 65,504.
FORBIDDEN = -6e4


def values(tensor: "Tensor") -> Array:
    """A tensor's values in float32, as a copy: CTranslate2 quantizes arrays in place."""
    array: Array = tensor.detach().float().cpu().numpy()
    return array.copy()


def output_bias(model: "Transformer", forbidden: Sequence[int]) -> Array:
    """What is added to the logits [V]: our bias, scaled as our logits are, and what keeps tokens out."""
    bias = np.zeros(model.tgt_tokens, np.float32)
    if model.output.bias is not None:
        bias += values(model.output.bias) * np.float32(model.output_scale)
    bias[list(forbidden)] = FORBIDDEN
    return bias
