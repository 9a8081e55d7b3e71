"""Pairs of ids side by side: what the model reads.

Shapes: B pairs in a batch, S source and T target positions, n target tokens without padding, m of them rounded up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.machine.device import copied_to
from nmt.text.vocab import BOS, EOS, PAD

Int32 = npt.NDArray[np.int32]
Ids = npt.NDArray[np.integer]
Row = Ids | list[int]  # the ids of a sentence, without BOS and EOS

# Few shapes: each new one costs time and, on a CPU, memory for good (see `nmt/model/kernels/layout.py`).
_TOKEN_STEP = 128  # the target tokens that are projected to the vocabulary are a multiple of it


@dataclass(frozen=True)
class Batch:
    """Pairs side by side, padded on the right."""

    src: Tensor  # int64 [B,S], each row ends in EOS
    tgt_in: Tensor  # int64 [B,T], each row begins with BOS
    tgt_out: Tensor  # int64 [B,T], each row ends in EOS
    target_positions: Tensor  # int64 [m]: where tgt_out, flattened, is not padding; then zeros
    tokens: int  # n, target tokens, EOS among them
    src_is_padded: bool  # whether any source is shorter than S

    @property
    def labels(self) -> Tensor:
        """The target tokens [n], without padding."""
        return self.tgt_out.flatten()[self.target_positions[: self.tokens]]

    def rows(self, rows: slice) -> "Batch":
        """Some of the pairs, as wide as before."""
        tgt_out = self.tgt_out[rows]
        return Batch(
            self.src[rows], self.tgt_in[rows], tgt_out, *_unpadded(tgt_out), self.src_is_padded
        )

    def pinned(self) -> "Batch":
        """The batch in pinned memory, from which it is copied to a GPU while that computes."""
        return self._each(Tensor.pin_memory)

    def to(self, device: torch.device) -> "Batch":
        """Put the batch on a device."""
        return self._each(lambda tensor: copied_to(tensor, device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        return Batch(
            src=change(self.src),
            tgt_in=change(self.tgt_in),
            tgt_out=change(self.tgt_out),
            target_positions=change(self.target_positions),
            tokens=self.tokens,
            src_is_padded=self.src_is_padded,
        )


def rounded(widths: Int32) -> Int32:
    """Round up to one of few widths, which are the closer the shorter they are."""
    steps = np.select([widths <= 16, widths <= 32, widths <= 64], [1, 2, 4], 8).astype(np.int32)
    return -(-widths // steps) * steps


def collate(sources: Sequence[Row], targets: Sequence[Row], widest: int = 0) -> Batch:
    """Put pairs of ids side by side; widths are rounded up, but not beyond `widest`."""
    return collated(_end_to_end(sources), _end_to_end(targets), widest)


class Rows(NamedTuple):
    """Sentences of one side, end to end, without BOS and EOS."""

    ids: Ids  # [sum of lengths]
    lengths: Ids  # [B]


def _end_to_end(rows: Sequence[Row]) -> Rows:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    ids = np.concatenate(rows, dtype=np.int64, casting="unsafe")  # an empty list is of floats
    return Rows(ids, lengths)


def collated(sources: Rows, targets: Rows, widest: int) -> Batch:
    """As `collate`, of sentences that are end to end already."""
    src = _padded(sources, _padded_width(sources, widest))  # [B,S]
    tgt_out = _padded(targets, _padded_width(targets, widest))  # [B,T]
    tgt_in = tgt_out.roll(1, dims=1)
    tgt_in[:, 0] = BOS
    tgt_in[tgt_in == EOS] = PAD  # where a shorter row's EOS moved into its padding
    src_is_padded = bool((src == PAD).any())
    return Batch(src, tgt_in, tgt_out, *_unpadded(tgt_out), src_is_padded)


def _unpadded(tgt_out: Tensor) -> tuple[Tensor, int]:
    """Where a target [B,T], flattened, is not padding, and how often: [m], n. The m - n at the end are 0."""
    positions = (tgt_out != PAD).flatten().nonzero().squeeze(1)  # [n]
    tokens = len(positions)
    return F.pad(positions, (0, -tokens % _TOKEN_STEP)), tokens


def _padded_width(rows: Rows, widest: int) -> int:
    longest = rows.lengths.max() + 1  # with EOS
    return min(int(rounded(longest)), widest)


def pad(rows: Sequence[Row], width: int = 0) -> Tensor:
    """Rows of ids, EOS after each, PAD on the right, as int64 [B,S]: S is `width` or what the longest row needs."""
    return _padded(_end_to_end(rows), width)


def _padded(rows: Rows, width: int) -> Tensor:
    """As `pad`, without a loop over the rows: on a GPU, Python would be what is waited for."""
    longest = int(rows.lengths.max()) + 1  # with EOS
    padded = np.full((len(rows.lengths), max(width, longest)), PAD, np.int64)  # [B,S]
    is_token = np.arange(padded.shape[1]) < rows.lengths[:, None]  # [B,S]
    padded[is_token] = rows.ids
    padded[np.arange(len(padded)), rows.lengths] = EOS
    return torch.from_numpy(padded)
