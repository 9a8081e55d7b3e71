"""Pairs end to end in a fixed number of rows: all batches have one shape, so a GPU can replay a recorded update.

Shapes: N pairs, in R_s source rows and R_t target rows; P places, of which N are the pairs' and the others hold
the spare rows; n target tokens.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nmt.errors import UserError
from nmt.machine.device import copied_to
from nmt.model.batch import Ids, Int32, Rows
from nmt.model.kernels.packed_attention import Sequences
from nmt.text.vocab import BOS, EOS, PAD

_ROW_STEP = 128  # rows come in multiples of it, as matrix units want them
_START_STEP = 4  # so that each part of `PackedBatch.values` begins at a multiple of 16 bytes
_SLACK = 1.02  # batches of random pairs differ by so much in what the totals do not decide


class PackedShape(NamedTuple):
    """What all batches of a training have room for."""

    src_rows: int  # R_s
    tgt_rows: int  # R_t
    places: int  # P
    longest: int  # rows that a sentence takes at most, on either side

    @property
    def pairs(self) -> int:
        """How many pairs a batch has at most: the other places are for spare rows."""
        return self.places - ceil(max(self.src_rows, self.tgt_rows) / self.longest)

    @property
    def sizes(self) -> list[int]:
        """How many numbers each of the seven parts of `PackedBatch.values` has."""
        src = [self.src_rows, self.src_rows, self.places + 1]
        tgt = [self.tgt_rows, self.tgt_rows, self.places + 1]
        return [*src, *tgt, self.tgt_rows]

    def halved(self) -> "PackedShape":
        """Half of it. Raises UserError if it has room for little more than one pair."""
        if max(self.src_rows, self.tgt_rows) < 2 * self.longest:
            message = f"a batch of {self.tgt_rows} tokens is too large for the memory"
            fix = "lower prepare.max_tokens, take a smaller model, or free some memory"
            raise UserError(f"{message}; {fix}")
        src_rows = _rounded_up(self.src_rows / 2, self.longest)
        tgt_rows = _rounded_up(self.tgt_rows / 2, self.longest)
        return _with_places(src_rows, tgt_rows, ceil(self.pairs / 2), self.longest)


def packed_shape(lengths: Int32, batch_tokens: int) -> PackedShape:
    """The shape for pairs of lengths [N, 2]: the side that has more tokens in all gets `batch_tokens` rows."""
    totals = (lengths + 1).sum(axis=0, dtype=np.int64)  # with EOS
    longest = _rounded_up(int(lengths.max()) + 1)
    shares = totals / totals.max()  # 1 for the longer side
    rows = [
        _rounded_up(batch_tokens * (share if share == 1 else min(1.0, share * _SLACK)), longest)
        for share in shares.tolist()
    ]
    pairs = ceil(batch_tokens / totals.max() * len(lengths) * _SLACK)
    return _with_places(rows[0], rows[1], pairs, longest)


def _with_places(src_rows: int, tgt_rows: int, pairs: int, longest: int) -> PackedShape:
    spare = ceil(max(src_rows, tgt_rows) / longest)
    starts = ceil((pairs + spare + 1) / _START_STEP) * _START_STEP
    return PackedShape(src_rows, tgt_rows, starts - 1, longest)


def _rounded_up(count: float, at_least: int = 1) -> int:
    return ceil(max(count, at_least) / _ROW_STEP) * _ROW_STEP


def cuts(lengths: Int32, shape: PackedShape) -> list[slice]:
    """Where to cut pairs of lengths [N, 2] so that each stretch fits the shape; none is wider than `longest`."""
    ends = np.cumsum(lengths + 1, axis=0, dtype=np.int64)  # [N, 2]
    most = np.array([shape.src_rows, shape.tgt_rows])
    used = np.zeros(2, np.int64)
    found: list[slice] = []
    start = 0
    while start < len(lengths):
        room = used + most
        stops = [int(np.searchsorted(ends[:, side], room[side], side="right")) for side in (0, 1)]
        stop = min(*stops, start + shape.pairs)
        found.append(slice(start, stop))
        used = ends[stop - 1]
        start = stop
    return found


class PackedSide(NamedTuple):
    """One side of a packed batch, as the model reads it."""

    ids: Tensor  # int32 [R]; PAD in spare rows
    positions: Tensor  # int32 [R]: of each token in its sentence
    sequences: Sequences


class PackedPairs(NamedTuple):
    """Both sides, and what the target is to be."""

    src: PackedSide  # each sentence ends in EOS
    tgt: PackedSide  # each sentence begins with BOS
    labels: Tensor  # int32 [R_t]: each sentence ends in EOS; PAD in spare rows


@dataclass(frozen=True)
class PackedBatch:
    """Pairs end to end. Their numbers are in one tensor, so that one copy brings them to a GPU."""

    shape: PackedShape
    values: Tensor  # int32 [sum of shape.sizes]
    tokens: int  # n, target tokens, EOS among them
    sources: Rows
    targets: Rows

    def pinned(self) -> "PackedBatch":
        """The batch in pinned memory, from which it is copied to a GPU while that computes."""
        return self._with(Tensor.pin_memory)

    def to(self, device: torch.device) -> "PackedBatch":
        """Put the batch on a device."""
        return self._with(lambda values: copied_to(values, device))

    def _with(self, change: Callable[[Tensor], Tensor]) -> "PackedBatch":
        values = change(self.values)
        return PackedBatch(self.shape, values, self.tokens, self.sources, self.targets)

    def parts(self, shape: PackedShape) -> Iterator["PackedBatch"]:
        """The batch in as many smaller ones of this shape as needed, on the same device."""
        if shape == self.shape:
            yield self
            return
        lengths = np.stack([self.sources.lengths, self.targets.lengths], axis=1).astype(np.int32)
        for part in cuts(lengths, shape):
            batch = packed(_rows(self.sources, part), _rows(self.targets, part), shape)
            yield batch.to(self.values.device)


def _rows(rows: Rows, part: slice) -> Rows:
    """Some of the sentences."""
    ends = np.cumsum(rows.lengths)
    first = int(ends[part.start] - rows.lengths[part.start])
    return Rows(rows.ids[first : int(ends[part.stop - 1])], rows.lengths[part])


def pairs_in(values: Tensor, shape: PackedShape) -> PackedPairs:
    """Views of the values of a batch."""
    src, src_positions, src_starts, tgt, tgt_positions, tgt_starts, labels = values.split(
        shape.sizes
    )
    return PackedPairs(
        PackedSide(src, src_positions, Sequences(src_starts, shape.longest)),
        PackedSide(tgt, tgt_positions, Sequences(tgt_starts, shape.longest)),
        labels,
    )


def packed(sources: Rows, targets: Rows, shape: PackedShape) -> PackedBatch:
    """Put pairs end to end; they fit the shape (`cuts`)."""
    src = _Packed(sources, shape.src_rows, shape)
    tgt = _Packed(targets, shape.tgt_rows, shape)
    numbers = [
        *(src.ids, src.positions, src.starts),
        *(tgt.inputs(), tgt.positions, tgt.starts, tgt.ids),
    ]
    values = torch.from_numpy(np.concatenate(numbers))
    return PackedBatch(shape, values, tgt.used, sources, targets)


class _Packed:
    """The sentences of one side in their rows."""

    def __init__(self, rows: Rows, count: int, shape: PackedShape) -> None:
        lengths = rows.lengths.astype(np.int64) + 1  # [N], with EOS
        ends = np.cumsum(lengths)
        self.used = int(ends[-1])
        self._firsts = ends - lengths
        is_last = np.zeros(self.used, np.bool_)
        is_last[ends - 1] = True
        self.ids = np.full(count, PAD, np.int32)
        self.ids[: self.used][~is_last] = rows.ids
        self.ids[ends - 1] = EOS
        self.positions = np.zeros(count, np.int32)
        self.positions[: self.used] = np.arange(self.used) - np.repeat(self._firsts, lengths)
        self.starts = self._starts(ends, count, shape)

    def _starts(self, ends: Ids, count: int, shape: PackedShape) -> Int32:
        """Where each place begins, and the end: spare rows are sentences of PAD, since no row may be left out."""
        spare = np.arange(1, shape.places - len(ends) + 1) * shape.longest
        starts = [np.zeros(1, np.int64), ends, np.minimum(self.used + spare, count)]
        return np.concatenate(starts).astype(np.int32)

    def inputs(self) -> Int32:
        """What the decoder reads: the ids one row later, each sentence behind BOS."""
        inputs: npt.NDArray[np.int32] = np.roll(self.ids, 1)
        inputs[self.used :] = PAD
        inputs[self._firsts] = BOS
        return inputs
