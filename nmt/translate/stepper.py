"""A model, or several, as search sees them."""

import torch
from torch import Tensor

from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
from nmt.text.vocab import BOS, PAD, UNK


class ModelStepper:
    """One Transformer over its key/value cache. It proposes neither PAD nor BOS, nor UNK if forbidden."""

    def __init__(self, model: Transformer, cache: Cache, forbid_unknown: bool) -> None:
        self.model, self.cache = model, cache
        self.forbidden = [PAD, BOS, UNK] if forbid_unknown else [PAD, BOS]

    def step(self, last: Tensor) -> Tensor:
        """Decode one position: the newest tokens [N] → logits [N,V]."""
        logits = self.model.decode(last[:, None], self.cache)[:, -1]
        for token in self.forbidden:
            logits[:, token] = -torch.inf
        return logits

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the cache."""
        self.cache.select(rows)
