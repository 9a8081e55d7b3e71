"""What may be written next: each filter changes the logits of a step before a token is chosen.

Shapes: N rows, V target tokens, t tokens of each row so far with BOS, F forbidden tokens, P placeholders.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from nmt.text.vocab import EOS


class TokenFilter(Protocol):
    """A rule about the next token of each row.

    Rows are passed that no longer count: beams without a hypothesis, and sentences that have ended. Their paths hold
    EOS, and anything after it; what a filter does to them has no effect.
    """

    def apply(self, logits: Tensor, paths: Tensor) -> None:
        """Change the logits [N,V] in place; `paths` [N,t] are the tokens so far, BOS first."""

    def incomplete(self) -> Tensor | None:
        """Which rows, bool [N], must not end yet; None if any row may. At its limit a row ends all the same."""
        return None

    def select(self, rows: Tensor) -> None:
        """Continue with these rows [N'] in this order: what is kept of each row follows them."""
        return


class ForbidTokens(TokenFilter):
    """Some tokens are never written."""

    def __init__(self, tokens: Tensor) -> None:
        self._tokens = tokens  # [F]

    def apply(self, logits: Tensor, _paths: Tensor) -> None:
        """Forbid them."""
        logits.index_fill_(1, self._tokens, -torch.inf)


class NoRepeats(TokenFilter):
    """No sequence of `size` tokens is written twice in a row's path."""

    def __init__(self, size: int) -> None:
        self._size = size

    def apply(self, logits: Tensor, paths: Tensor) -> None:
        """Forbid the tokens that would end a sequence that the row has already."""
        written = paths[:, 1:]  # [N,t-1]
        length = written.shape[1]
        if length < self._size:
            return
        sequences = written.unfold(1, self._size, 1)  # [N,t-size,size]
        newest = written[:, None, length - self._size + 1 :]  # [N,1,size-1]
        is_begun = (sequences[:, :, :-1] == newest).all(dim=2)  # [N,t-size]
        bound = torch.full(is_begun.shape, torch.inf, dtype=logits.dtype, device=logits.device)
        bound.masked_fill_(is_begun, -torch.inf)
        logits.scatter_reduce_(1, sequences[:, :, -1], bound, "amin")


class WriteEachOnce(TokenFilter):
    """Each row writes some tokens exactly once, such as the placeholders of its source, and no others of their kind.

    A row does not end before it has written them. Only at its limit, where it has to end, are the probabilities
    those of the model.
    """

    def __init__(self, tokens: Tensor, is_pending: Tensor, limits: Tensor) -> None:
        """Take the ids `tokens` [P], which of them each row has to write, and the rows' `limits` [N] in tokens."""
        self._tokens = tokens
        self._is_pending = is_pending  # [N,P]
        self._limits = limits

    def apply(self, logits: Tensor, paths: Tensor) -> None:
        """Tick off the newest tokens.

        A pending token becomes at least as likely as EOS, so that it is written where the row would have ended.
        """
        self._is_pending = self._is_pending & (paths[:, -1:] != self._tokens)  # [N,P]
        at_limit = paths.shape[1] > self._limits  # [N]
        own = logits[:, self._tokens]  # [N,P]
        raised = torch.maximum(own, logits[:, EOS : EOS + 1])  # a slice: an index would be copied
        wanted = torch.where(at_limit[:, None], own, raised)
        logits[:, self._tokens] = wanted.masked_fill(~self._is_pending, -torch.inf)
        logits[:, EOS].masked_fill_(self.incomplete() & ~at_limit, -torch.inf)

    def incomplete(self) -> Tensor:
        """Which rows still have to write some, bool [N]."""
        return self._is_pending.any(dim=1)

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        self._is_pending = self._is_pending[rows]
        self._limits = self._limits[rows]


class Filters(TokenFilter):
    """Several filters, in their order, as one; those of the sources come before those of the settings."""

    def __init__(self, filters: Sequence[TokenFilter]) -> None:
        self._filters = filters

    def apply(self, logits: Tensor, paths: Tensor) -> None:
        """Change the logits [N,V] in place."""
        for each in self._filters:
            each.apply(logits, paths)

    def incomplete(self) -> Tensor | None:
        """Which rows lack something to any filter."""
        found = [rows for each in self._filters if (rows := each.incomplete()) is not None]
        return reduce(torch.logical_or, found) if found else None

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        for each in self._filters:
            each.select(rows)
