"""A batch that is too large for the memory is computed in parts.

Shapes: B pairs, S source and T target positions, n target tokens without padding.
"""

from collections.abc import Iterator

from nmt.errors import UserError
from nmt.model.batch import Batch


class Splitter:
    """Splits batches into parts, from when one of them is too large for the memory.

    `capacity` is the most that is computed at a time: B times the longer of S and T, or None while
    every batch has fitted.
    """

    def __init__(self) -> None:
        self.capacity: int | None = None
        self._rows_tried = 0
        self._width_tried = 0

    def parts(self, batch: Batch) -> Iterator[Batch]:
        """The batch, in as many parts as needed."""
        pairs = len(batch.src)
        width = max(batch.src.shape[1], batch.tgt_out.shape[1])
        rows = pairs
        if self.capacity is not None:
            rows = max(1, min(pairs, self.capacity // width))
        for start in range(0, pairs, rows):
            self._rows_tried = rows
            self._width_tried = width
            yield batch if rows == pairs else batch.rows(slice(start, start + rows))

    def halve(self) -> None:
        """From now on compute at most half as much at a time as what has just failed.

        Raises UserError if a single pair has failed.
        """
        if self._rows_tried == 1:
            message = f"a single pair of {self._width_tried} tokens is too large for the memory"
            fix = "lower model.max_length, take a smaller model, or free some memory"
            raise UserError(f"{message}; {fix}")
        self.capacity = self._rows_tried // 2 * self._width_tried
