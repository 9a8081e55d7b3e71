"""How good systems are, in numbers: scores, whether differences are chance, and where they lie.

Shapes: N lines, S systems, R references, P pairs of systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmt.evaluation.fault_rates import fault_rates
from nmt.evaluation.measurement import Measurement
from nmt.evaluation.resampling import Floats
from nmt.evaluation.results import FaultRate, Score
from nmt.evaluation.test_set import TestSet
from nmt.report.systems.buckets import Bucketed, by_frequency, by_length, by_ratio
from nmt.report.systems.lines import Seen
from nmt.report.systems.ngrams import Advantage, advantages

_BINS = 40
_LEAST_WIDTH = 0.01  # of a distribution


@dataclass(frozen=True)
class Distribution:
    """How often resampled test sets gave a score: `counts` [S][B] between `edges` [B+1]."""

    edges: list[float]
    counts: list[list[int]]


@dataclass(frozen=True)
class MetricPart:
    """One metric: scores [S], p-values [S][S] of both paired tests, distributions of the bootstrap."""

    metric: str
    lower_is_better: bool
    scores: list[Score]
    bootstrap: list[list[float]]
    randomisation: list[list[float]]
    randomisation_signature: str
    distribution: Distribution


@dataclass(frozen=True)
class Quality:
    """All that a page shows of systems beside each other."""

    systems: list[str]
    lines: int
    references: int
    metrics: list[MetricPart]
    by_length: Bucketed
    by_frequency: Bucketed
    by_ratio: Bucketed
    faults: list[FaultRate]
    terms: list[FaultRate]  # of a glossary: more is better
    advantages: list[Advantage]


def quality_of(
    test_set: TestSet,
    measurements: Sequence[Measurement],
    seen: Seen,
    train_counts: dict[str, int] | None,
    terms: Sequence[FaultRate] = (),
) -> Quality:
    """The second part of a page; `train_counts` are those of a run's target vocabulary."""
    return Quality(
        systems=list(test_set.systems),
        lines=len(test_set),
        references=len(test_set.references),
        metrics=[_metric_part(each) for each in measurements],
        by_length=by_length(test_set, measurements[0]),
        by_frequency=by_frequency(seen.words, train_counts),
        by_ratio=by_ratio(test_set),
        faults=fault_rates(test_set, seen.faults),
        terms=list(terms),
        advantages=advantages(list(test_set.systems), seen.words),
    )


def _metric_part(measurement: Measurement) -> MetricPart:
    is_alone = len(measurement.systems) == 1
    return MetricPart(
        metric=measurement.metric,
        lower_is_better=measurement.functions.lower_is_better,
        scores=measurement.scores(),
        bootstrap=[] if is_alone else measurement.p_values("bootstrap").tolist(),
        randomisation=[] if is_alone else measurement.p_values("randomisation").tolist(),
        randomisation_signature=measurement.signed("randomisation"),
        distribution=_distribution(measurement.resampled),
    )


def _distribution(resampled: list[Floats]) -> Distribution:
    together = np.concatenate(resampled)
    mean = together.mean()
    # Scores that should be equal differ in their last bit, which leaves no room for bins.
    lowest = min(together.min(), mean - _LEAST_WIDTH / 2)
    highest = max(together.max(), mean + _LEAST_WIDTH / 2)
    edges = np.linspace(lowest, highest, _BINS + 1)
    counts = [np.histogram(scores, bins=edges)[0].tolist() for scores in resampled]
    return Distribution([round(float(edge), 4) for edge in edges], counts)
