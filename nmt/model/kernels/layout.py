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

_ROW_STEP = 128  # R is a multiple of it


class Layout:
    """Positions stay where they are."""

    def pack(self, x: Tensor) -> Tensor:
        """[N,T,c] → the same, as all but attention takes it."""
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
        spare = _ROW_STEP - self.tokens % _ROW_STEP  # at least one
        self.positions = F.pad(positions, (0, spare))  # [R]: of each row; of spare rows, any
        self.rows = torch.full((ids.numel(),), self.tokens)  # [N·T]; padding is the first spare row
        self.rows[positions] = torch.arange(self.tokens)

    def pack(self, x: Tensor) -> Tensor:
        """[N,T,c] → [R,c]."""
        packed: Tensor = _Pack.apply(x.flatten(0, 1), self)  # type: ignore[no-untyped-call]
        return packed

    def unpack(self, x: Tensor) -> Tensor:
        """[R,c] → [N,T,c]."""
        padded: Tensor = _Unpack.apply(x, self)  # type: ignore[no-untyped-call]
        return padded.unflatten(0, self.shape)


class _Pack(torch.autograd.Function):
    """Rows from positions. Spare rows have no gradient: `_Unpack` sees to that."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layout: Packed) -> Tensor:
        """[N·T,c] → [R,c]."""
        ctx.layout = layout
        return x.index_select(0, layout.positions)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """[R,c] → [N·T,c], where padding gets the zeros of a spare row."""
        return gradients[0].index_select(0, ctx.layout.rows), None


class _Unpack(torch.autograd.Function):
    """Positions from rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layout: Packed) -> Tensor:
        """[R,c] → [N·T,c]."""
        ctx.layout = layout
        return x.index_select(0, layout.rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """[N·T,c] → [R,c], where spare rows get zeros."""
        of_rows = gradients[0].index_select(0, ctx.layout.positions)
        of_rows[ctx.layout.tokens :] = 0
        return of_rows, None
