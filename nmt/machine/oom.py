"""Out of memory: told from other errors, and said in one line."""

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


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch raised this error because there was not enough memory."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return any(sign in str(error) for sign in _SIGNS_OF_NO_MEMORY)


def none_on_oom(compute: Callable[[], Result]) -> Result | None:
    """What is computed, or None on out-of-memory, after the exception and its tensors were freed."""
    try:
        return compute()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return None


@contextmanager
def within_memory(what: str, fix: str) -> Iterator[None]:
    """Say in one line that `what` does not fit in memory, and the fix. Raises UserError."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise UserError(f"{what} does not fit in memory; {fix}, or free some memory") from None
