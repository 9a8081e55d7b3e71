"""Is a system better than another? Paired tests by one metric, of two systems or of each pair of several."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from nmt.errors import DataError
from nmt.evaluate.measurement import Measurement, Test, measure
from nmt.evaluate.metrics import (
    LOWER_IS_BETTER,
    Lines,
    References,
    check_counts,
    count_of_lines,
)

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """A system and its baseline by one metric; `difference` = `value` - `baseline`, in the metric's points.

    `p_value` is how often chance alone would move the score further than `difference` (Koehn, 2004, as in
    Moses and `sacrebleu --paired-bs`): each tail of it is tested at the level given, not both together.
    """

    metric: str
    value: float
    baseline: float
    difference: float
    p_value: float
    signature: str

    @property
    def is_significant(self) -> bool:
        """Chance alone would make such a difference in fewer than 5 of 100 cases."""
        return self.p_value < SIGNIFICANT

    @property
    def is_worse(self) -> bool:
        """The system's score lies on the worse side of the baseline's, by however little."""
        return self.difference > 0 if self.metric in LOWER_IS_BETTER else self.difference < 0


def compare(
    hypotheses: Lines,
    baseline: Lines,
    references: References,
    metrics: Iterable[str],
    test: Test = "bootstrap",
) -> list[Comparison]:
    """Paired test of a system against a baseline, with the same seed as `score`.

    Raises DataError if the counts differ or nothing is given, ConfigError for an unknown metric.
    """
    check_counts(hypotheses, references)
    check_baseline(baseline, hypotheses)
    systems = {"baseline": baseline, "system": hypotheses}
    return [comparison(measure(name, systems, references), test) for name in metrics]


def check_baseline(baseline: Lines, hypotheses: Lines) -> None:
    """Raise DataError unless the baseline has as many lines."""
    if len(baseline) != len(hypotheses):
        raise DataError(
            f"{count_of_lines(baseline)} of baseline but {len(hypotheses):,} of reference; "
            "give the baseline's translation of the same test set"
        )


def comparison(measured: Measurement, test: Test) -> Comparison:
    """The second of two measured systems against the first."""
    baseline, value = measured.values
    return Comparison(
        metric=measured.metric,
        value=value,
        baseline=baseline,
        difference=value - baseline,
        p_value=float(measured.p_values(test)[0, 1]),
        signature=measured.signed(test),
    )


@dataclass(frozen=True)
class Pair:
    """Two systems by one metric; `difference` is the first one's score less the second one's."""

    first: str
    second: str
    difference: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """As of a Comparison."""
        return self.p_value < SIGNIFICANT


def pairs(measured: Measurement, test: Test = "bootstrap") -> list[Pair]:
    """Each pair of systems once, in the order in which they were measured."""
    values = measured.values
    p_values = measured.p_values(test)
    found = []
    for one, other in combinations(range(len(values)), 2):
        difference = values[one] - values[other]
        names = measured.systems[one], measured.systems[other]
        found.append(Pair(*names, difference, float(p_values[one, other])))
    return found
