"""A Transformer one step at a time, as search sees it. Shapes: N rows, V target tokens."""

from torch import Tensor

from nmt.model.cache import Cache
from nmt.model.transformer import Transformer


class ModelStepper:
    """One Transformer over its key/value cache."""

    def __init__(self, model: Transformer, cache: Cache) -> None:
        self._model = model
        self._cache = cache

    def step(self, last: Tensor) -> Tensor:
        """Decode one position: the newest tokens [N] → logits [N,V]."""
        return self._model.decode(last[:, None], self._cache)[:, -1]

    def select(self, rows: Tensor) -> None:
        """Continue with these rows of the cache."""
        self._cache.select(rows)
