"""Dropout (Srivastava et al., 2014) whose random numbers cost little on a CPU."""

from math import ceil

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

_LEVELS = 2**16  # a draw has 16 bits, so a rate is rounded to a multiple of 1/65536
_DRAWS_PER_NUMBER = 4  # a random number has 64 bits


class Dropout(nn.Module):
    """Sets a share `rate` of the values to zero while training, and scales up the rest.

    On a CPU torch draws one random number after another, which takes a seventh of the time of an
    update. Here SFC64 gives 16 bits a value, seeded from torch's generator, so that
    `torch.manual_seed` decides all the same.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape → the same shape."""
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.rate, self.training)
        factors = self.factors(x.shape, x.dtype)
        return x if factors is None else x * factors

    def onto(self, residual: Tensor, x: Tensor) -> Tensor:
        """Give residual + dropout(x), on a CPU in one pass."""
        if x.device.type != "cpu":
            return residual + self(x)
        factors = self.factors(x.shape, x.dtype)
        return residual + x if factors is None else torch.addcmul(residual, x, factors)

    def factors(self, shape: torch.Size, dtype: torch.dtype) -> Tensor | None:
        """What to multiply values of this shape by, on a CPU: 0 or 1 / (1 - rate).

        None: nothing is dropped.
        """
        if not self.training or self.rate == 0.0:
            return None
        threshold = round(self.rate * _LEVELS)
        survives = _draws(shape.numel()) >= threshold
        ones = torch.from_numpy(survives.view(np.uint8)).view(shape)
        scale = 1 / (1 - self.rate)
        return ones.to(dtype).mul_(scale)


def _draws(count: int) -> npt.NDArray[np.uint16]:
    """Draw `count` numbers below `_LEVELS`, each equally likely."""
    seed = int(torch.randint(2**62, (1,)))
    numbers = np.random.SFC64(seed).random_raw(ceil(count / _DRAWS_PER_NUMBER))
    draws = numbers.view(np.uint16)
    return draws[:count]
