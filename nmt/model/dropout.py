"""Dropout (Srivastava et al., 2014) whose chance costs little on a CPU."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

_DRAWS = 2**16  # a rate is kept to within 1/65536


class Dropout(nn.Module):
    """Sets a share `rate` of the values to zero while training, and scales up the rest.

    On a CPU torch draws one random number after another, a seventh of the time of a whole update; here SFC64
    gives 16 bits a value, seeded from torch's generator, so that `torch.manual_seed` decides all the same.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape → the same shape."""
        if not self.training or self.rate == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        return x * _mask(x.shape, self.rate).to(x.dtype)


def _mask(shape: torch.Size, rate: float) -> Tensor:
    """float32: 0 for a share `rate` of the values, 1 / (1 - rate) for the rest."""
    count = shape.numel()
    seed = int(torch.randint(2**62, (1,)))
    draws = np.random.SFC64(seed).random_raw((count + 3) // 4).view(np.uint16)[:count]
    kept = draws >= round(rate * _DRAWS)
    return torch.from_numpy(kept.astype(np.float32) * np.float32(1 / (1 - rate))).view(shape)
