"""A batch that is too large for the memory is computed in parts.

Shapes: B pairs, S source and T target positions.
"""

from collections.abc import Iterator
from typing import Protocol

from nmt.errors import UserError
from nmt.machine.oom import Capacity
from nmt.model.batch import Batch
from nmt.model.packed_batch import PackedBatch, PackedShape


class Splitter(Protocol):
    """Splits batches into parts, from when one of them is too large for the memory."""

    @property
    def most_positions(self) -> int | None:
        """The most that is computed at a time. None: every batch has fitted."""

    def halve(self) -> None:
        """From now on compute at most half as much at a time as what has just failed.

        Raises UserError if a single pair has failed.
        """


class MicroBatcher:
    """Splits padded batches."""

    def __init__(self) -> None:
        self._capacity = Capacity()
        self._rows_tried = 0
        self._width_tried = 0

    @property
    def most_positions(self) -> int | None:
        """The most that is computed at a time: B times the longer of S and T. None: every batch has fitted."""
        return self._capacity.positions

    def parts(self, batch: Batch) -> Iterator[Batch]:
        """The batch, in as many parts as needed."""
        pairs = len(batch.src)
        width = max(batch.src.shape[1], batch.tgt_out.shape[1])
        rows = self._capacity.rows(pairs, width)
        for start in range(0, pairs, rows):
            self._rows_tried = rows
            self._width_tried = width
            yield batch if rows == pairs else batch.rows(slice(start, start + rows))

    def halve(self) -> None:
        """As Splitter says."""
        message = f"a single pair of {self._width_tried} tokens is too large for the memory"
        fix = "lower model.max_length, take a smaller model, or free some memory"
        self._capacity.halve(self._rows_tried, self._width_tried, UserError(f"{message}; {fix}"))


class PackedSplitter:
    """Splits packed batches: each part has the same smaller shape."""

    def __init__(self) -> None:
        self._tried: PackedShape | None = None
        self._shape: PackedShape | None = None

    @property
    def most_positions(self) -> int | None:
        """As Splitter says: target rows."""
        return None if self._shape is None else self._shape.tgt_rows

    def parts(self, batch: PackedBatch) -> Iterator[PackedBatch]:
        """The batch, in as many parts as needed."""
        self._tried = self._shape or batch.shape
        yield from batch.parts(self._tried)

    def halve(self) -> None:
        """As Splitter says."""
        assert self._tried is not None  # noqa: S101 - what failed was tried
        self._shape = self._tried.halved()
