"""How the positions of sequences lie in memory between attentions: padded, or packed without padding.

oneDNN multiplies bfloat16 with kernels that it compiles for one shape. Each takes a millisecond and
300 kB for good, and between the kernels memory falls into pieces. Packed positions need few of them.

Shapes: N sequences of T positions, n tokens among them, R rows, c values a position.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from nmt.text.vocab import PAD

_MULTIPLE = 128  # of which R is one


class Layout:
    """Positions stay where they are."""

    def pack(self, x: Tensor) -> Tensor:
        """[N,T,c] → the same, as layers take it, but for their attention."""
        return x

    def unpack(self, x: Tensor) -> Tensor:
        """What `pack` gives → [N,T,c], as attention takes it."""
        return x


PADDED = Layout()


class Packed(Layout):
    """The tokens of sequences ids [N,T] are rows one after another, and a few spare rows follow.

    At padding, `unpack` gives values that mean nothing. What uses them must give them no gradient.
    """

    def __init__(self, ids: Tensor) -> None:
        self.shape = ids.shape
        positions = (ids != PAD).flatten().nonzero().squeeze(1)  # [n]
        self.tokens = len(positions)
        spare = _MULTIPLE - self.tokens % _MULTIPLE  # at least one
        self.positions = F.pad(positions, (0, spare))  # [R]: of each row; of spare rows, any
        self.rows = torch.full((ids.numel(),), self.tokens)  # [N·T]; padding is the first spare row
        self.rows[positions] = torch.arange(self.tokens)

    def pack(self, x: Tensor) -> Tensor:
        """[N,T,c] → [R,c]. Spare rows must have no gradient: `unpack` sees to that."""
        x = x.flatten(0, 1)
        packed: Tensor = _Rows.apply(x, self.positions, self.rows, len(x))  # type: ignore[no-untyped-call]
        return packed

    def unpack(self, x: Tensor) -> Tensor:
        """[R,c] → [N,T,c]."""
        padded: Tensor = _Rows.apply(x, self.rows, self.positions, self.tokens)  # type: ignore[no-untyped-call]
        return padded.unflatten(0, self.shape)


class _Rows(torch.autograd.Function):
    """Rows of x in another order. Each is used once at most, so gradients are selected too, not summed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, inverse: Tensor, used: int) -> Tensor:
        """Of x, of which the first `used` rows are used, those of `order`; `inverse` leads back."""
        ctx.inverse = inverse
        ctx.used = used
        return x.index_select(0, order)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        """The gradient of x: zeros in the rows that are not used."""
        of_x = gradients[0].index_select(0, ctx.inverse)
        of_x[ctx.used :] = 0
        return of_x, None, None, None
