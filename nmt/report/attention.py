"""Where a model looked while it translated some sentences: cross-attention between tokens.

Shapes: S source tokens, T target tokens.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Looked:
    """One sentence: weights [T][S], rows of which sum to 1, between its tokens."""

    run: str
    source: list[str]
    target: list[str]
    weights: list[list[float]]
    about: str  # which layer and heads
