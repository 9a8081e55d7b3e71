"""Which pairs make which batch, and in what order.

The plan of an epoch is a pure function of (lengths, batch_tokens, seed, epoch), so that a `Position` is the
whole state of the data. There are two kinds of plans: of pairs of like lengths, to be padded, and of any pairs, to be
packed.

Shapes: N pairs in all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import numpy.typing as npt

from nmt.corpus.encoding.store import Int32, ParallelCorpus
from nmt.model.batch import Batch, Rows, collated, rounded
from nmt.model.packed_batch import PackedBatch, PackedShape, cuts, packed

Indices = npt.NDArray[np.int64]  # of pairs

# Few shapes: each new one costs time and, on a CPU, memory for good (see `nmt/model/kernels/layout.py`).
_ROW_STEP = 8  # the rows of larger batches are a multiple of it


@dataclass(frozen=True, order=True)
class Position:
    """How many batches have been consumed: `batch` of them in epoch `epoch`, and all of the epochs before.

    `packed` says of which kind these batches are, `cooldown` whether they are of the pairs of the cooldown alone.
    """

    epoch: int = 0
    batch: int = 0
    packed: bool = False
    cooldown: bool = False


def fitting(lengths: Int32, max_length: int) -> Indices:
    """The indices of the pairs of lengths [N, 2] that a model takes: no side is empty, each leaves a place for EOS."""
    fits = (lengths > 0) & (lengths < max_length)  # [N, 2]
    return np.flatnonzero(fits.all(axis=1))


def plan_epoch(lengths: Int32, batch_tokens: int, seed: int, epoch: int) -> list[Indices]:
    """Group the indices of all pairs of lengths [N, 2] into batches of like lengths, in random order.

    A batch holds at most `batch_tokens` padded positions on its longer side, counted in `rounded` widths; a longer
    pair is a batch by itself.
    """
    chance = np.random.default_rng([seed, epoch])
    shuffled = chance.permutation(len(lengths))  # [N]
    order = shuffled[_by_shape(lengths[shuffled])]  # [N]; equal pairs stay in random order
    widths = rounded(lengths[order].max(axis=1) + 1)  # [N], with EOS
    batches = _cut(order, widths, batch_tokens)
    return [batches[i] for i in chance.permutation(len(batches))]


def _by_shape(lengths: Int32) -> Indices:
    """Order pairs of lengths [N, 2] so that neighbours differ little on both sides.

    By the longer side, then by how much longer the source is, rising and falling in turn: the next width
    begins with the kind of pair that the last one ended with.
    """
    width = lengths.max(axis=1)  # [N]
    tilt = lengths[:, 0] - lengths[:, 1]  # [N]
    rising_and_falling = np.where(width % 2, tilt, -tilt)  # [N]
    return np.lexsort((rising_and_falling, width))  # the last key is the main one


def _cut(order: Indices, widths: Int32, batch_tokens: int) -> list[Indices]:
    """Split `order`, pairs of rising widths [N], into batches of at most `batch_tokens` padded positions."""
    batches: list[Indices] = []
    start = 0
    while start < len(order):
        most_rows = max(1, batch_tokens // widths[start])  # if no pair were wider than the first
        candidates = widths[start : start + most_rows]
        padded_tokens = candidates * np.arange(1, len(candidates) + 1)  # of the first 1, 2, … rows
        rows = max(1, int(np.searchsorted(padded_tokens, batch_tokens, side="right")))
        is_last = start + rows >= len(order)
        if rows > _ROW_STEP and not is_last:
            rows -= rows % _ROW_STEP
        batches.append(order[start : start + rows])
        start += rows
    return batches


def plan_packed_epoch(lengths: Int32, shape: PackedShape, seed: int, epoch: int) -> list[Indices]:
    """Group the indices of all pairs of lengths [N, 2], in random order, into batches that fit a shape."""
    order = np.random.default_rng([seed, epoch]).permutation(len(lengths))  # [N]
    return [order[stretch] for stretch in cuts(lengths[order], shape)]


def load_batch(corpus: ParallelCorpus, indices: Indices, widest: int) -> Batch:
    """Read these pairs and put them side by side, for a model that takes at most `widest` positions."""
    return collated(*_rows_of(corpus, indices), widest)


def load_packed_batch(corpus: ParallelCorpus, indices: Indices, shape: PackedShape) -> PackedBatch:
    """Read these pairs and put them end to end."""
    return packed(*_rows_of(corpus, indices), shape)


def _rows_of(corpus: ParallelCorpus, indices: Indices) -> tuple[Rows, Rows]:
    block = corpus.block_of(indices)
    src_lengths, tgt_lengths = block.lengths.T
    return Rows(block.src, src_lengths), Rows(block.tgt, tgt_lengths)


def batches_from(
    plan_of: Callable[[int], list[Indices]], position: Position
) -> Iterator[tuple[Indices, Position]]:
    """Endless batches, as indices, from `position` on, each with the position after it.

    `plan_of` gives the batches of an epoch.
    """
    start = position.batch
    for epoch in count(position.epoch):
        plan = plan_of(epoch)
        for number in range(start, len(plan)):
            yield plan[number], replace(position, epoch=epoch, batch=number + 1)
        start = 0
