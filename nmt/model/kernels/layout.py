"""How the positions of sequences lie in memory between attentions: padded, or packed without padding.

oneDNN multiplies bfloat16 with kernels that it compiles for one shape. Each takes a millisecond and
300 kB for good, and between the kernels memory falls into pieces. Packed positions need few of them.

Shapes: N sequences of T positions, n tokens among them, R rows, c values per position.
"""

from typing import Any, NamedTuple

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


class Arranged(NamedTuple):
    """A batch as the hardware computes it best: its ids, and how they lie in memory."""

    src: Tensor  # int64 [B,S]
    tgt: Tensor  # int64 [B,T]
    src_is_padded: bool
    src_layout: Layout = PADDED
    tgt_layout: Layout = PADDED


def arrange(src: Tensor, tgt: Tensor, src_is_padded: bool, dtype: torch.dtype) -> Arranged:
    """A batch for a model that computes in `dtype`: on a CPU in bfloat16, both sides are packed and equally wide."""
    if dtype != torch.bfloat16 or src.device.type != "cpu":
        return Arranged(src, tgt, src_is_padded)
    width = max(src.shape[1], tgt.shape[1])  # few shapes, few kernels
    src_is_padded |= src.shape[1] < width
    src = F.pad(src, (0, width - src.shape[1]), value=PAD)
    tgt = F.pad(tgt, (0, width - tgt.shape[1]), value=PAD)
    return Arranged(src, tgt, src_is_padded, Packed(src), Packed(tgt))
