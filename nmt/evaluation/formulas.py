"""From sufficient statistics to scores, many rows at a time, as sacrebleu computes one.

Shapes: R rows, each a test set's sums; C statistics of a metric. Sacrebleu's own functions take a row in some
10 µs; approximate randomisation asks for a million.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric

Rows = np.ndarray[Any, np.dtype[np.float64]]
Formula = Callable[[Rows], Rows]  # [R, C] → [R]

_LOG_OF_ZERO = -9999999999.0  # sacrebleu's


def bleu_rows(rows: Rows) -> Rows:
    """BLEU with exponential smoothing of rows [R, 2 + 4 + 4]: lengths, matches of 1- to 4-grams, and all of them."""
    hypothesis_length, reference_length = rows[:, 0], rows[:, 1]
    matches, totals = rows[:, 2:6], rows[:, 6:10]
    orders = matches.shape[1]
    smoothing = np.ones(len(rows))
    logs = np.zeros(len(rows))
    is_past_the_end = np.zeros(
        len(rows), dtype=bool
    )  # no n-grams of an order: none of a higher one
    for order in range(orders):
        correct, total = matches[:, order], totals[:, order]
        is_past_the_end |= total == 0
        is_missed = (correct == 0) & ~is_past_the_end
        smoothing[is_missed] *= 2
        divisor = np.where(is_past_the_end, 1.0, total)
        precision = 100.0 * correct / divisor
        precision[is_missed] = 100.0 / (smoothing * divisor)[is_missed]
        precision[is_past_the_end] = 0.0
        logs += _log(precision)
    penalty = _brevity_penalty(hypothesis_length, reference_length)
    scores = penalty * np.exp(logs / orders)
    return np.where(matches.any(axis=1), scores, 0.0)


def _brevity_penalty(hypothesis_length: Rows, reference_length: Rows) -> Rows:
    is_empty = hypothesis_length == 0
    ratio = reference_length / np.where(is_empty, 1.0, hypothesis_length)
    penalty = np.exp(np.minimum(0.0, 1 - ratio))
    penalty[is_empty & (reference_length > 0)] = 0.0
    return penalty


def _log(values: Rows) -> Rows:
    is_zero = values == 0
    return np.where(is_zero, _LOG_OF_ZERO, np.log(np.where(is_zero, 1.0, values)))


def chrf_rows(rows: Rows) -> Rows:
    """ChrF (β = 2) of rows [R, 3 × orders]: n-grams of the hypothesis, of the reference, and matches, by order."""
    factor = CHRF.BETA**2
    precisions = np.zeros(len(rows))
    recalls = np.zeros(len(rows))
    effective_orders = np.zeros(len(rows))
    for start in range(0, rows.shape[1], 3):
        of_hypothesis, of_reference, matches = rows[:, start : start + 3].T
        counts = (of_hypothesis > 0) & (of_reference > 0)
        precisions[counts] += matches[counts] / of_hypothesis[counts]
        recalls[counts] += matches[counts] / of_reference[counts]
        effective_orders[counts] += 1
    orders = np.maximum(effective_orders, 1)
    precision, recall = precisions / orders, recalls / orders
    is_zero = precision + recall == 0
    scores = (1 + factor) * precision * recall
    scores /= np.where(is_zero, 1.0, factor * precision + recall)
    return np.where(is_zero, 0.0, 100 * scores)


def ter_rows(rows: Rows) -> Rows:
    """TER of rows [R, 2]: edits, and length of the references."""
    edits, reference_length = rows[:, 0], rows[:, 1]
    is_empty = reference_length == 0
    rates = edits / np.where(is_empty, 1.0, reference_length)
    without_reference = np.where(edits > 0, 1.0, 0.0)
    return 100 * np.where(is_empty, without_reference, rates)


_FORMULAS: tuple[tuple[type[Metric], Formula], ...] = (
    (BLEU, bleu_rows),
    (CHRF, chrf_rows),
    (TER, ter_rows),
)


def formula_of(metric: Metric) -> Formula:
    """The formula of one of sacrebleu's metrics, with the settings that METRICS has."""
    return next(formula for kind, formula in _FORMULAS if isinstance(metric, kind))
