"""Sources that are like a sentence: those that share its rare tokens.

Shapes: R sources, V source tokens, q queries at a time.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from nmt.corpus.batching import Row
from nmt.corpus.store import Ids

_SCORES_AT_ONCE = 2**24  # 64 MB


class SimilarSources:
    """An index of sources by their tokens.

    How alike two sentences are is the cosine of their vectors, in which each token that they have counts with
    log(1 + R / sources that have it), however often it stands in them: tf-idf (Spärck Jones, 1972).
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

    def __call__(self, queries: Sequence[Row], count: int) -> list[list[int]]:
        """The most similar sources of each query, at most `count` and the likest first; none that shares no token."""
        found = []
        size = max(1, _SCORES_AT_ONCE // len(self._vectors))
        for start in range(0, len(queries), size):
            scores = torch.sparse.mm(self._vectors, self._columns(queries[start : start + size]))
            best = scores.topk(min(count, len(scores)), dim=0)
            found += list(_above_zero(best.values.T, best.indices.T))
        return found

    def _columns(self, queries: Sequence[Row]) -> Tensor:
        """Vectors of the queries, but for their length, which changes no order: [V,q]."""
        places, tokens = _each_once(queries, len(self._rarity))
        columns = torch.zeros(len(self._rarity), len(queries))
        columns[tokens, places] = self._rarity[tokens]
        return columns


def _each_once(sentences: Sequence[Row], tokens: int) -> tuple[Tensor, Tensor]:
    """The tokens of each sentence, each once: which sentence, and which of the V tokens."""
    lengths = [len(sentence) for sentence in sentences]
    ids: Ids = np.concatenate([np.asarray(sentence, np.int64) for sentence in sentences])
    pairs = np.unique(np.repeat(np.arange(len(sentences)), lengths) * tokens + ids)
    return torch.from_numpy(pairs // tokens), torch.from_numpy(pairs % tokens)


def _above_zero(scores: Tensor, sources: Tensor) -> Iterator[list[int]]:
    """Of each query the sources [q,count] whose score is above 0."""
    for of_query, numbers in zip(scores.tolist(), sources.tolist(), strict=True):
        yield [number for number, score in zip(numbers, of_query, strict=True) if score > 0]
