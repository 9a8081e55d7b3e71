"""A model, as search sees it. Shapes: N rows, V target tokens, P placeholders."""

import torch
from torch import Tensor

from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
from nmt.text.vocab import EOS

_LATE = 1e4  # taken from the logit of EOS: a sentence that reaches its limit must be able to end even so


class Owed:
    """The placeholders that each row has still to write, each once: it does not end before, and writes no other."""

    def __init__(self, tokens: Tensor, rows: Tensor) -> None:
        """`tokens` [P] are the placeholders' ids, `rows` [N,P] says which of them each row owes."""
        self._tokens, self._rows = tokens, rows

    def enforce(self, logits: Tensor, last: Tensor) -> None:
        """Take note of the newest tokens [N]; change the logits of the next [N,V]: what is owed comes before EOS."""
        self._rows = self._rows & (last[:, None] != self._tokens)
        owed = torch.maximum(logits[:, self._tokens], logits[:, [EOS]])
        logits[:, self._tokens] = owed.masked_fill(~self._rows, -torch.inf)
        logits[:, EOS] -= _LATE * self._rows.any(dim=1)

    def select(self, rows: Tensor) -> None:
        """Keep these rows."""
        self._rows = self._rows[rows]


class ModelStepper:
    """One Transformer over its key/value cache. It never proposes the tokens `forbidden` [F]."""

    def __init__(
        self, model: Transformer, cache: Cache, forbidden: Tensor, owed: Owed | None = None
    ) -> None:
        self.model, self.cache, self.forbidden, self.owed = model, cache, forbidden, owed

    def step(self, last: Tensor) -> Tensor:
        """Decode one position: the newest tokens [N] → logits [N,V]."""
        logits = self.model.decode(last[:, None], self.cache)[:, -1]
        logits.index_fill_(1, self.forbidden, -torch.inf)
        if self.owed is not None:
            self.owed.enforce(logits, last)
        return logits

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the cache."""
        self.cache.select(rows)
        if self.owed is not None:
            self.owed.select(rows)
