"""A model, as search sees it. Shapes: N rows, V target tokens, F forbidden tokens, P placeholders."""

import torch
from torch import Tensor

from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
from nmt.text.vocab import EOS

# Taken from the logit of EOS. It is finite, since a sentence at its limit must be able to end even so.
_TOO_EARLY = 1e4


class PendingPlaceholders:
    """The placeholders that each row still has to write, each once.

    A row does not end before it has written them, and writes no others.
    """

    def __init__(self, tokens: Tensor, is_pending: Tensor) -> None:
        """`tokens` [P] are the placeholders' ids; `is_pending` [N,P] says which of them each row has to write."""
        self._tokens = tokens
        self._is_pending = is_pending

    def enforce(self, logits: Tensor, last: Tensor) -> None:
        """Tick off the newest tokens [N]; change the next logits [N,V] in place.

        A pending placeholder is at least as likely as EOS, so that it is written where the row would have ended.
        """
        self._is_pending = self._is_pending & (last[:, None] != self._tokens)  # [N,P]
        raised = torch.maximum(logits[:, self._tokens], logits[:, EOS : EOS + 1])  # [N,P]
        logits[:, self._tokens] = raised.masked_fill(~self._is_pending, -torch.inf)
        logits[:, EOS] -= _TOO_EARLY * self._is_pending.any(dim=1)

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        self._is_pending = self._is_pending[rows]


class ModelStepper:
    """One Transformer over its key/value cache. It never proposes the tokens `forbidden` [F]."""

    def __init__(
        self,
        model: Transformer,
        cache: Cache,
        forbidden: Tensor,
        pending: PendingPlaceholders | None = None,
    ) -> None:
        self.model = model
        self.cache = cache
        self.forbidden = forbidden
        self.pending = pending

    def step(self, last: Tensor) -> Tensor:
        """Decode one position: the newest tokens [N] → logits [N,V]."""
        logits = self.model.decode(last[:, None], self.cache)[:, -1]
        logits.index_fill_(1, self.forbidden, -torch.inf)
        if self.pending is not None:
            self.pending.enforce(logits, last)
        return logits

    def select(self, rows: Tensor) -> None:
        """Continue with these rows of the cache."""
        self.cache.select(rows)
        if self.pending is not None:
            self.pending.select(rows)
