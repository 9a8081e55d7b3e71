"""Is a system better than another? Paired tests by one metric, of two systems or of each pair of several."""

from collections.abc import Iterable
from itertools import combinations

from nmt.errors import DataError
from nmt.evaluation.measurement import Measurement, measure
from nmt.evaluation.metrics import Lines, References, check_counts, count_of_lines
from nmt.evaluation.results import USUAL_TEST, Comparison, PairedTest, SystemPair


def compare(
    hypotheses: Lines,
    baseline: Lines,
    references: References,
    metrics: Iterable[str],
    test: PairedTest = USUAL_TEST,
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


def comparison(measured: Measurement, test: PairedTest) -> Comparison:
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


def pairs(measured: Measurement, test: PairedTest = USUAL_TEST) -> list[SystemPair]:
    """Each pair of systems once, in the order in which they were measured."""
    values = measured.values
    p_values = measured.p_values(test)
    found = []
    for one, other in combinations(range(len(values)), 2):
        difference = values[one] - values[other]
        names = measured.systems[one], measured.systems[other]
        found.append(SystemPair(*names, difference, float(p_values[one, other])))
    return found
