"""Out of memory: told from other errors, said in one line, and answered by computing less at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

from nmt.errors import UserError

Result = TypeVar("Result")
# torch has an error class of its own for GPUs only. On CPUs the message holds one of these.
_SIGNS_OF_NO_MEMORY = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "ALLOC_FAILED",
)


def is_out_of_memory(error: Exception) -> bool:
    """Whether torch or numpy raised this error because there was not enough memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return any(sign in str(error) for sign in _SIGNS_OF_NO_MEMORY)


def none_on_oom(compute: Callable[[], Result]) -> Result | None:
    """What is computed, or None on out-of-memory, after the exception and its tensors were freed."""
    try:
        return compute()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return None


@contextmanager
def within_memory(what: str, fix: str) -> Iterator[None]:
    """Say in one line that `what` does not fit in memory, and the fix. Raises UserError."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise UserError(f"{what} does not fit in memory; {fix}, or free some memory") from None


class Capacity:
    """How much is computed at a time: all of a batch, until one does not fit in memory."""

    def __init__(self) -> None:
        # The most at a time, all rows together; None: all has fitted so far.
        self.positions: int | None = None

    def rows(self, count: int, width: int) -> int:
        """How many of `count` rows of `width` positions to compute at a time."""
        if self.positions is None:
            return count
        return max(1, min(count, self.positions // width))

    def halve(self, rows: int, width: int, too_large: UserError) -> None:
        """From now on compute at most half as much as these rows, which did not fit; raises `too_large` for one row."""
        if rows == 1:
            raise too_large
        self.positions = rows // 2 * width
