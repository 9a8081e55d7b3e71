"""A batch that is too large for the memory, in parts. Shapes: B pairs, S source and T target positions."""

from collections.abc import Iterator

import torch

from nmt.corpus.batching import Batch
from nmt.errors import UserError
from nmt.text.vocab import PAD

_SIGNS = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
)  # of GPUs, of CPUs on Windows and elsewhere


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch says with this error that there was no memory; it has a kind of error for GPUs only."""
    return isinstance(error, torch.OutOfMemoryError) or any(sign in str(error) for sign in _SIGNS)


class Room:
    """How much is computed at a time: whole batches, until one of them proves too large for the memory."""

    def __init__(self) -> None:
        self.positions: int | None = None  # B times the longer of S and T
        self._tried: tuple[int, int] = (0, 0)  # B, and the longer of S and T

    def parts(self, batch: Batch) -> Iterator[Batch]:
        """The batch, in as many parts as there have to be."""
        pairs, width = len(batch.src), max(batch.src.shape[1], batch.tgt_out.shape[1])
        size = pairs if self.positions is None else max(1, min(pairs, self.positions // width))
        for start in range(0, pairs, size):
            self._tried = (size, width)
            yield batch if size == pairs else _rows(batch, slice(start, start + size))

    def halve(self) -> None:
        """From now on compute at most half as much as what failed. Raises UserError where that was a single pair."""
        pairs, width = self._tried
        if pairs == 1:
            mend = "lower model.max_length, take a smaller model, or free some memory"
            raise UserError(f"a single pair of {width} tokens is too large for the memory; {mend}")
        self.positions = pairs // 2 * width


def _rows(batch: Batch, rows: slice) -> Batch:
    tgt_out = batch.tgt_out[rows]
    kept = (tgt_out != PAD).flatten().nonzero().squeeze(1)
    return Batch(batch.src[rows], batch.tgt_in[rows], tgt_out, kept)
