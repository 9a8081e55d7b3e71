"""Search is driven by tables of next-token probabilities; the oracle is enumeration.

A prefix is a tuple of tokens without BOS.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random

import torch
from torch import Tensor

from nmt.text.vocab import BOS, EOS

Prefix = tuple[int, ...]
Table = Callable[[Prefix], list[float]]  # a prefix → the log-probability of each next token


class Tables:
    """A stepper with one table for each sentence."""

    def __init__(self, tables: list[Table], beams: int) -> None:
        self.tables, self.beams = tables, beams
        self.rows: list[tuple[int, Prefix]] = [
            (b, ()) for b in range(len(tables)) for _ in range(beams)
        ]
        self.begun = False

    def step(self, last: Tensor) -> Tensor:
        newest = last.tolist()
        if self.begun:
            self.rows = [
                (b, (*prefix, new)) for (b, prefix), new in zip(self.rows, newest, strict=True)
            ]
        else:
            assert newest == [BOS] * len(self.rows)
        self.begun = True
        return torch.tensor([self.tables[b](prefix) for b, prefix in self.rows])

    def select(self, rows: Tensor) -> None:
        self.rows = [self.rows[row] for row in rows.tolist()]
        sentences = [b for b, _ in self.rows]
        assert sentences == [b for b in sorted(set(sentences)) for _ in range(self.beams)]


def table(seed: int, tokens: int, forbidden: float = 0.0, grid: float = 0.0) -> Table:
    """A random distribution after each prefix; a `forbidden` share has none, never EOS; `grid` makes ties."""

    @cache
    def log_probs(prefix: Prefix) -> list[float]:
        chance = Random(f"{seed} {prefix}")
        logits = [chance.gauss(0, 1.5) for _ in range(tokens)]
        if grid:
            logits = [grid * round(logit / grid) for logit in logits]
        allowed = [token == EOS or chance.random() >= forbidden for token in range(tokens)]
        logits = [logit if ok else -math.inf for logit, ok in zip(logits, allowed, strict=True)]
        total = math.log(sum(map(math.exp, logits)))
        return [logit - total for logit in logits]

    return log_probs


def log_prob_of(log_probs: Table, ids: list[int]) -> float:
    ended = (*ids, EOS)
    return sum(log_probs(ended[:i])[token] for i, token in enumerate(ended))


def score_of(log_probs: Table, ids: list[int], alpha: float) -> float:
    """Wu et al. (2016), equation 14, without coverage: log P(Y|X) / ((5 + |Y|)^α / (5 + 1)^α)."""
    return log_prob_of(log_probs, ids) * (5 + 1) ** alpha / (5 + len(ids) + 1) ** alpha


def every_hypothesis(
    log_probs: Table, tokens: int, limit: int, alpha: float
) -> list[tuple[float, list[int]]]:
    """All target sequences of at most `limit` tokens that are possible, best first."""
    words = [token for token in range(tokens) if token != EOS]
    sequences = [list(ids) for length in range(limit + 1) for ids in product(words, repeat=length)]
    scored = [(score_of(log_probs, ids, alpha), ids) for ids in sequences]
    return sorted((pair for pair in scored if pair[0] > -math.inf), reverse=True)
