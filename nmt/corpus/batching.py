"""Which pairs make which batch, in what order; and a batch's tensors.

The plan of an epoch is a pure function of (lengths, batch_tokens, seed, epoch), so that a `Position` is the
whole state of the data. Shapes: B pairs, S source and T target positions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nmt.corpus.store import Ids, Int32, ParallelCorpus
from nmt.text.vocab import BOS, EOS, PAD

# A new shape of batch costs time and, on a CPU, memory that is kept: some 50 kernels of 100 kB. So there are few.
_ROWS = 8  # rows of larger batches are a multiple of it


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
    kept: Tensor  # int64 [n]: where tgt_out, flattened, is no padding

    @property
    def tokens(self) -> int:
        """Target tokens, EOS among them."""
        return len(self.kept)

    @property
    def labels(self) -> Tensor:
        """The target tokens [n], without padding."""
        return self.tgt_out.flatten()[self.kept]

    def to(self, device: torch.device) -> "Batch":
        """Put the batch on a device."""
        return Batch(*(_moved(t, device) for t in (self.src, self.tgt_in, self.tgt_out, self.kept)))


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    if device.type == "cuda":  # pinned memory is copied while the GPU computes
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def fitting(lengths: Int32, max_length: int) -> npt.NDArray[np.int64]:
    """The indices of the pairs of lengths [N, 2] that a model takes: no side is empty, each leaves room for EOS."""
    return np.flatnonzero(((lengths > 0) & (lengths < max_length)).all(axis=1))


def plan_epoch(
    lengths: Int32, batch_tokens: int, seed: int, epoch: int
) -> list[npt.NDArray[np.int64]]:
    """Group the indices of all pairs: each batch of like lengths, the batches in random order.

    A batch holds at most `batch_tokens` padded positions on its longer side (a longer pair stands alone), counted in
    `_rounded` widths.
    """
    chance = np.random.default_rng([seed, epoch])
    shuffled = chance.permutation(len(lengths))
    order = shuffled[_by_shape(lengths[shuffled])]  # equal pairs stay in random order
    batches = _cut(order, _rounded(lengths[order].max(axis=1) + 1), batch_tokens)
    return [batches[i] for i in chance.permutation(len(batches))]


def _by_shape(lengths: Int32) -> npt.NDArray[np.int64]:
    """Order pairs [N, 2] so that neighbours differ little on both sides.

    By the longer side, then by how much longer the source is, rising and falling in turn: the next width
    begins with the kind of pair that the last one ended with.
    """
    width = lengths.max(axis=1)
    tilt = lengths[:, 0] - lengths[:, 1]
    return np.lexsort((np.where(width % 2, tilt, -tilt), width))


def _cut(
    order: npt.NDArray[np.int64], widths: Int32, batch_tokens: int
) -> list[npt.NDArray[np.int64]]:
    """Split `order`, the pairs of rising widths, into batches of as many rows as rows × widest allow."""
    batches, start = [], 0
    while start < len(order):
        most = widths[start : start + max(1, batch_tokens // widths[start])]
        rows = max(
            1, int(np.searchsorted(most * np.arange(1, len(most) + 1), batch_tokens, side="right"))
        )
        if rows > _ROWS and start + rows < len(order):
            rows -= rows % _ROWS
        batches.append(order[start : start + rows])
        start += rows
    return batches


def _rounded(widths: Int32) -> Int32:
    """The next of few widths, the closer the shorter they are."""
    steps = np.select([widths <= 16, widths <= 32, widths <= 64], [1, 2, 4], 8).astype(np.int32)
    return -(-widths // steps) * steps


def collate(sources: list[Ids], targets: list[Ids], widest: int = 0) -> Batch:
    """Put pairs of ids side by side; widths are rounded up, but not beyond `widest`."""
    widths = (int(_rounded(np.array(max(map(len, rows)) + 1))) for rows in (sources, targets))
    src, tgt_out = (
        pad(rows, min(width, widest))
        for rows, width in zip((sources, targets), widths, strict=True)
    )
    tgt_in = tgt_out.roll(1, dims=1)
    tgt_in[:, 0] = BOS
    tgt_in[tgt_in == EOS] = PAD  # where a shorter row's EOS moved into its padding
    return Batch(src, tgt_in, tgt_out, (tgt_out != PAD).flatten().nonzero().squeeze(1))


def pad(rows: Sequence[Ids | list[int]], width: int = 0) -> Tensor:
    """Rows of ids, EOS after each, PAD on the right, as int64 [B,S]: S is `width` or what the longest row needs."""
    padded = np.full((len(rows), max(width, max(map(len, rows)) + 1)), PAD, np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
        row[len(ids)] = EOS
    return torch.from_numpy(padded)


def load_batch(corpus: ParallelCorpus, indices: npt.NDArray[np.int64], widest: int) -> Batch:
    """Read these pairs and put them side by side, for a model that takes at most `widest` positions."""
    pairs = [corpus[int(i)] for i in indices]
    return collate([src for src, _ in pairs], [tgt for _, tgt in pairs], widest)


def batches_from(
    lengths: Int32, batch_tokens: int, seed: int, position: Position
) -> Iterator[tuple[npt.NDArray[np.int64], Position]]:
    """Endless batches, as indices, from `position` on, each with the position after it."""
    epoch, start = position.epoch, position.batch
    while True:
        plan = plan_epoch(lengths, batch_tokens, seed, epoch)
        for number in range(start, len(plan)):
            yield plan[number], Position(epoch, number + 1)
        epoch, start = epoch + 1, 0
