"""A model, or several, as search sees them. Shapes: N rows, V target tokens, F forbidden tokens, P placeholders."""

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from nmt.machine.device import wide
from nmt.text.vocab import EOS


class PendingPlaceholders:
    """The placeholders that each row still has to write, each once.

    A row does not end before it has written them, and writes no others. Only at its limit, where it has to
    end, are the probabilities those of the model.
    """

    def __init__(self, tokens: Tensor, is_pending: Tensor, limits: Tensor) -> None:
        """Take the ids `tokens` [P], which of them each row has to write, and the rows' `limits` [N] in tokens."""
        self._tokens = tokens
        self._is_pending = is_pending  # [N,P]
        self._limits = limits
        self._length = 0  # tokens of each row, with the one that comes next

    def enforce(self, logits: Tensor, last: Tensor) -> None:
        """Tick off the newest tokens [N]; change the next logits [N,V] in place.

        A pending placeholder is at least as likely as EOS, so that it is written where the row would have ended.
        """
        self._is_pending = self._is_pending & (last[:, None] != self._tokens)  # [N,P]
        self._length += 1
        at_limit = self._length > self._limits  # [N]
        own = logits[:, self._tokens]  # [N,P]
        raised = torch.maximum(own, logits[:, EOS : EOS + 1])  # a slice: an index would be copied
        wanted = torch.where(at_limit[:, None], own, raised)
        logits[:, self._tokens] = wanted.masked_fill(~self._is_pending, -torch.inf)
        logits[:, EOS].masked_fill_(self.owing() & ~at_limit, -torch.inf)

    def owing(self) -> Tensor:
        """Which rows still have to write some, bool [N]."""
        return self._is_pending.any(dim=1)

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        self._is_pending = self._is_pending[rows]
        self._limits = self._limits[rows]


class Predictor(Protocol):
    """Tells how likely each next token is."""

    def step(self, last: Tensor) -> Tensor:
        """Take the newest token of each row [N]; give the logits of the next [N,V], to be changed in place."""

    def select(self, rows: Tensor) -> None:
        """Continue with these rows [N'] in this order: K rows of a sentence, or none of it."""


class EnsemblePredictor:
    """Models of the same vocabularies. The probability of a token is the mean of theirs."""

    def __init__(self, members: Sequence[Predictor]) -> None:
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
    return logits.to(wide(logits.dtype)).log_softmax(dim=1)


class RestrictedStepper:
    """A predictor that may not propose the tokens `forbidden` [F], and has to write those that are `pending`."""

    def __init__(
        self,
        predictor: Predictor,
        forbidden: Tensor,
        pending: PendingPlaceholders | None = None,
    ) -> None:
        self._predictor = predictor
        self._forbidden = forbidden
        self._pending = pending

    def step(self, last: Tensor) -> Tensor:
        """The newest tokens [N] → logits [N,V]."""
        logits = self._predictor.step(last)
        logits.index_fill_(1, self._forbidden, -torch.inf)
        if self._pending is not None:
            self._pending.enforce(logits, last)
        return logits

    def owing(self) -> Tensor | None:
        """Which rows still have to write placeholders, bool [N]; None: none has to write any."""
        return None if self._pending is None else self._pending.owing()

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        self._predictor.select(rows)
        if self._pending is not None:
            self._pending.select(rows)
