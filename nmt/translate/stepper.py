"""A model, as search sees it. Shapes: N rows, V target tokens, F forbidden tokens, P placeholders."""

import torch
from torch import Tensor

from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
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

    def owing(self) -> Tensor | None:
        """Which rows still have to write placeholders, bool [N]; None: none has to write any."""
        return None if self.pending is None else self.pending.owing()

    def select(self, rows: Tensor) -> None:
        """Continue with these rows of the cache."""
        self.cache.select(rows)
        if self.pending is not None:
            self.pending.select(rows)
