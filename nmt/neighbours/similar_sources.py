"""Sources that are like a sentence: those that share its rare tokens.

Shapes: R sources, V source tokens, q queries at a time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nmt.model.batch import Ids, Row

_SCORES_AT_ONCE = 2**24  # 64 MB


class Similar(NamedTuple):
    """What is like a sentence."""

    numbers: list[int]  # of sources, the most similar first
    likeness: float  # of the first of them, from 0 (there is none) to 1 (the same tokens)


class SimilarSources:
    """An index of sources by their tokens.

    How alike two sentences are is the cosine of their vectors, in which each token that they have counts with
    log(1 + R / sources that have it), however often it is in them: tf-idf (Spärck Jones, 1972).
    """

    def __init__(self, sources: Sequence[Row], src_tokens: int) -> None:
        """`src_tokens` is V."""
        rows, tokens = _each_once(sources, src_tokens)
        sources_with = torch.bincount(tokens, minlength=src_tokens)  # [V]
        self._rarity = torch.log1p(len(sources) / sources_with.clamp(min=1))  # [V]
        weights = self._rarity[tokens]
        norms = torch.zeros(len(sources)).index_add_(0, rows, weights.square()).sqrt()  # [R]
        places = torch.stack((rows, tokens))
        size = (len(sources), src_tokens)
        self._vectors = torch.sparse_coo_tensor(
            places, weights / norms[rows], size, check_invariants=True
        ).coalesce()

    def __call__(self, queries: Sequence[Row], count: int) -> list[Similar]:
        """The most similar sources of each query, at most `count`, and none that shares no token with it."""
        found = []
        size = max(1, _SCORES_AT_ONCE // max(self._vectors.shape))
        wanted = min(count, len(self._vectors))
        for start in range(0, len(queries), size):
            columns = self._columns(queries[start : start + size])  # [V,q]
            cosines = torch.sparse.mm(self._vectors, columns)  # [R,q]
            best = cosines.topk(wanted, dim=0)  # [wanted,q]
            found += list(map(_similar, best.values.T.tolist(), best.indices.T.tolist()))
        return found

    def _columns(self, queries: Sequence[Row]) -> Tensor:
        """The vectors of queries: [V,q]."""
        places, tokens = _each_once(queries, len(self._rarity))
        columns = torch.zeros(len(self._rarity), len(queries))
        columns[tokens, places] = self._rarity[tokens]
        return columns / columns.norm(dim=0)


def _similar(cosines: list[float], numbers: list[int]) -> Similar:
    """Without the sources whose cosine is 0; cosines fall."""
    found = [number for number, cosine in zip(numbers, cosines, strict=True) if cosine > 0]
    return Similar(found, min(1.0, cosines[0]))  # rounding can bring a cosine above 1


def _each_once(sentences: Sequence[Row], tokens: int) -> tuple[Tensor, Tensor]:
    """The tokens of each sentence, each once: which sentence, and which of the V tokens."""
    lengths = [len(sentence) for sentence in sentences]
    ids: Ids = np.concatenate([np.asarray(sentence, np.int64) for sentence in sentences])
    places = np.repeat(np.arange(len(sentences)), lengths)
    # Both as one number, so that each pair of them is there once.
    numbers = np.unique(places * tokens + ids)
    places, ids = np.divmod(numbers, tokens)
    return torch.from_numpy(places), torch.from_numpy(ids)
