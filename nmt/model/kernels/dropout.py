"""Dropout (Srivastava et al., 2014) whose chance costs little on a CPU."""

import numpy as np
import torch
from torch import Tensor, nn

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
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.rate, self.training)
        factors = self.factors(x.shape, x.dtype)
        return x if factors is None else x * factors

    def onto(self, residual: Tensor, x: Tensor) -> Tensor:
        """Give residual + dropout(x), on a CPU in one pass."""
        factors = self.factors(x.shape, x.dtype) if x.device.type == "cpu" else None
        return residual + self(x) if factors is None else torch.addcmul(residual, x, factors)

    def factors(self, shape: torch.Size, dtype: torch.dtype) -> Tensor | None:
        """What values of this shape are multiplied by, on a CPU: 0 or 1 / (1 - rate); None: nothing is dropped."""
        if not self.training or self.rate == 0.0:
            return None
        count = shape.numel()
        seed = int(torch.randint(2**62, (1,)))
        draws = np.random.SFC64(seed).random_raw((count + 3) // 4).view(np.uint16)[:count]
        kept = torch.from_numpy((draws >= round(self.rate * _DRAWS)).view(np.uint8)).view(shape)
        return kept.to(dtype).mul_(1 / (1 - self.rate))
