"""Which pairs make which batch, in what order; and a batch's tensors.

The plan of an epoch is a pure function of (lengths, batch_tokens, seed, epoch), so that a `Position` is the
whole state of the data.

Shapes: N pairs in all, B pairs in a batch, S source and T target positions, n target tokens without padding, m of
them rounded up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.corpus.store import Ids, Int32, ParallelCorpus
from nmt.text.vocab import BOS, EOS, PAD

Indices = npt.NDArray[np.int64]  # of pairs
Row = Ids | list[int]  # the ids of a sentence, without BOS and EOS

# Batches have few shapes: each new one costs time and, on a CPU, memory for good (see `nmt/model/kernels/layout.py`).
_ROW_STEP = 8  # the rows of larger batches are a multiple of it
_TOKEN_STEP = 128  # so are the target tokens that are projected to the vocabulary


@dataclass(frozen=True, order=True)
class Position:
    """How many batches have been consumed: `batch` of them in epoch `epoch`, and all of the epochs before."""

    epoch: int = 0
    batch: int = 0


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


def copied_to(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy to a device, without waiting for what it is doing; on MPS that is not safe."""
    return tensor.to(device, non_blocking=device.type != "mps")


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


def rounded(widths: Int32) -> Int32:
    """Round up to one of few widths, which are the closer the shorter they are."""
    steps = np.select([widths <= 16, widths <= 32, widths <= 64], [1, 2, 4], 8).astype(np.int32)
    return -(-widths // steps) * steps


def load_batch(corpus: ParallelCorpus, indices: Indices, widest: int) -> Batch:
    """Read these pairs and put them side by side, for a model that takes at most `widest` positions."""
    block = corpus.block_of(indices)
    src_lengths, tgt_lengths = block.lengths.T
    return _collated(_Rows(block.src, src_lengths), _Rows(block.tgt, tgt_lengths), widest)


def collate(sources: Sequence[Row], targets: Sequence[Row], widest: int = 0) -> Batch:
    """Put pairs of ids side by side; widths are rounded up, but not beyond `widest`."""
    return _collated(_end_to_end(sources), _end_to_end(targets), widest)


class _Rows(NamedTuple):
    """Sentences of one side, end to end, without BOS and EOS."""

    ids: Ids  # [sum of lengths]
    lengths: Ids  # [B]


def _end_to_end(rows: Sequence[Row]) -> _Rows:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    ids = np.concatenate(rows, dtype=np.int64, casting="unsafe")  # an empty list is of floats
    return _Rows(ids, lengths)


def _collated(sources: _Rows, targets: _Rows, widest: int) -> Batch:
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


def _padded_width(rows: _Rows, widest: int) -> int:
    longest = rows.lengths.max() + 1  # with EOS
    return min(int(rounded(longest)), widest)


def pad(rows: Sequence[Row], width: int = 0) -> Tensor:
    """Rows of ids, EOS after each, PAD on the right, as int64 [B,S]: S is `width` or what the longest row needs."""
    return _padded(_end_to_end(rows), width)


def _padded(rows: _Rows, width: int) -> Tensor:
    """As `pad`, without a loop over the rows: on a GPU, Python would be what is waited for."""
    longest = int(rows.lengths.max()) + 1  # with EOS
    padded = np.full((len(rows.lengths), max(width, longest)), PAD, np.int64)  # [B,S]
    is_token = np.arange(padded.shape[1]) < rows.lengths[:, None]  # [B,S]
    padded[is_token] = rows.ids
    padded[np.arange(len(padded)), rows.lengths] = EOS
    return torch.from_numpy(padded)


def batches_from(
    lengths: Int32, batch_tokens: int, seed: int, position: Position
) -> Iterator[tuple[Indices, Position]]:
    """Endless batches, as indices, from `position` on, each with the position after it."""
    epoch = position.epoch
    start = position.batch
    while True:
        plan = plan_epoch(lengths, batch_tokens, seed, epoch)
        for number in range(start, len(plan)):
            yield plan[number], Position(epoch, number + 1)
        epoch += 1
        start = 0
