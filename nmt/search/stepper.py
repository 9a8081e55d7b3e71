"""What search steps through: a model, or several. Shapes: N rows, V target tokens."""

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from nmt.machine.device import accumulation_dtype


class Stepper(Protocol):
    """Tells how likely each next token is. It starts with K rows for each sentence."""

    def step(self, last: Tensor) -> Tensor:
        """Take the newest token of each row [N]; give the logits of the next [N,V], to be changed in place."""

    def select(self, rows: Tensor) -> None:
        """Continue with these rows [N'] in this order: K rows of a sentence, or none of it."""


class Ensemble:
    """Models of the same vocabularies. The probability of a token is the mean of theirs."""

    def __init__(self, members: Sequence[Stepper]) -> None:
        self._members = members

    def step(self, last: Tensor) -> Tensor:
        """The newest tokens [N] → logits [N,V]."""
        log_probs = [_log_probs(member.step(last)) for member in self._members]
        # The sum instead of the mean: a constant added to all logits changes nothing.
        return reduce(torch.logaddexp, log_probs)

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        for member in self._members:
            member.select(rows)


def _log_probs(logits: Tensor) -> Tensor:
    """Logits [N,V] → log-probabilities [N,V]."""
    return logits.to(accumulation_dtype(logits.dtype)).log_softmax(dim=1)
