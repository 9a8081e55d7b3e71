"""N-best lists beside each other."""

import pytest

from nmt.search.hypotheses import NBest


def ids(found: list[NBest]) -> list[list[list[int]]]:
    return [[hypothesis.ids for hypothesis in n_best] for n_best in found]


def log_probs(found: list[NBest]) -> list[float]:
    return [hypothesis.log_prob for n_best in found for hypothesis in n_best]


def assert_alike(found: list[NBest], others: list[NBest]) -> None:
    assert ids(found) == ids(others)
    assert log_probs(found) == pytest.approx(log_probs(others), rel=1e-4)
