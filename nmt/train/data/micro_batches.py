"""A batch that is too large for the memory is computed in parts.

Shapes: B pairs, S source and T target positions.
"""

from collections.abc import Iterator

from nmt.errors import UserError
from nmt.machine.oom import Capacity
from nmt.model.batch import Batch


class MicroBatcher:
    """Splits batches into parts, from when one of them is too large for the memory."""

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
        """From now on compute at most half as much at a time as what has just failed.

        Raises UserError if a single pair has failed.
        """
        message = f"a single pair of {self._width_tried} tokens is too large for the memory"
        fix = "lower model.max_length, take a smaller model, or free some memory"
        self._capacity.halve(self._rows_tried, self._width_tried, UserError(f"{message}; {fix}"))
