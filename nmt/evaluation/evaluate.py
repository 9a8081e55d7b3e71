"""Systems are measured on a test set, one or several: scores, comparisons, fault rates, doubts.

Shapes: S systems, M metrics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nmt.errors import DataError
from nmt.evaluation.annotations import LabelledLines, SegmentScores
from nmt.evaluation.doubts import check_hypotheses
from nmt.evaluation.fault_rates import fault_rates
from nmt.evaluation.measurement import Measurement, measure, measure_segments, worst_lines
from nmt.evaluation.metrics import Lines
from nmt.evaluation.results import (
    USUAL_TEST,
    About,
    Comparison,
    Evaluation,
    LabelScores,
    PairedTest,
    PairsByMetric,
    Score,
    SegmentScore,
    SystemResult,
)
from nmt.evaluation.significance import check_baseline, comparison, pairs
from nmt.evaluation.test_set import TestSet, named, refuse_too_many


@dataclass(frozen=True)
class EvaluationOptions:
    """What is asked beside the scores of the whole test set."""

    test: PairedTest = USUAL_TEST
    baseline: Lines | None = None  # what one system is compared with
    labels: Sequence[LabelledLines] = ()
    segment_scores: Sequence[SegmentScores] = ()


@dataclass(frozen=True)
class MeasuredSystems:
    """The systems of a test set by each metric, and by the segment scores that were given.

    A baseline is measured before the system: systems are counted from the end, the last is -1.
    """

    test_set: TestSet
    options: EvaluationOptions
    warnings: list[list[str]]  # [S]
    metrics: list[Measurement]
    segments: list[Measurement]

    @property
    def measurements(self) -> list[Measurement]:
        """All of them."""
        return [*self.metrics, *self.segments]

    def places(self) -> dict[str, int]:
        """The place of each system in a measurement."""
        systems = self.test_set.systems
        return dict(zip(systems, range(-len(systems), 0), strict=True))


def measure_systems(
    test_set: TestSet, metrics: Sequence[str], options: EvaluationOptions
) -> MeasuredSystems:
    """Measure one to ten systems. A baseline goes with one system.

    Raises DataError if counts differ or a text cannot be scored as it is, ConfigError for an unknown metric.
    """
    refuse_too_many(test_set.systems)
    warnings = check_systems(test_set)
    systems = test_set.systems
    if options.baseline is not None:
        [hypotheses] = systems.values()
        check_baseline(options.baseline, hypotheses)
        systems = {"baseline": options.baseline, "system": hypotheses}
    return MeasuredSystems(
        test_set=test_set,
        options=options,
        warnings=warnings,
        metrics=[measure(metric, systems, test_set.references) for metric in metrics],
        segments=[measure_segments(each) for each in options.segment_scores],
    )


def check_systems(test_set: TestSet) -> list[list[str]]:
    """What makes each system doubtful [S]. An error names the system, where there are several."""
    warnings = []
    for name, lines in test_set.systems.items():
        try:
            found = check_hypotheses(lines, test_set.references)
        except DataError as error:
            raise DataError(named(test_set.systems, name, str(error))) from None
        warnings.append([*test_set.doubts, *found])
    return warnings


def evaluate(
    measured: MeasuredSystems, about: About, about_systems: Mapping[str, About]
) -> Evaluation:
    """What the measurements say. `about` and, for several systems, `about_systems` say what was evaluated."""
    test = measured.options.test
    scores = [each.scores() for each in measured.metrics]  # [M][S]
    segment_scores = [_segment_scores(each) for each in measured.segments]
    labels = [_label_scores(measured.measurements, each) for each in measured.options.labels]
    systems = {}
    places = measured.places().items()
    for (name, place), warnings in zip(places, measured.warnings, strict=True):
        systems[name] = SystemResult(
            about=about_systems.get(name, {}),
            warnings=warnings,
            scores=[of_systems[place] for of_systems in scores],
            segment_scores=[of_systems[place] for of_systems in segment_scores],
            labels=[
                LabelScores(label, lines, [of_systems[place] for of_systems in by_metric])
                for label, lines, by_metric in labels
            ],
            comparisons=_comparisons(measured),
        )
    found = [] if len(systems) == 1 else [_pairs(each, test) for each in measured.measurements]
    return Evaluation(about, systems, fault_rates(measured.test_set), test, found)


def _segment_scores(measured: Measurement) -> list[SegmentScore]:
    """Of each system [S]."""
    both = zip(measured.scores(), worst_lines(measured), strict=True)
    return [SegmentScore(score, worst) for score, worst in both]


def _label_scores(
    measurements: Sequence[Measurement], labelled: LabelledLines
) -> tuple[str, int, list[list[Score]]]:
    """A label, the number of its lines, and the scores on them [M][S]."""
    scores = [each.only(labelled.lines).scores() for each in measurements]
    return labelled.label, len(labelled.lines), scores


def _comparisons(measured: MeasuredSystems) -> list[Comparison]:
    """The system beside its baseline, by each metric."""
    if measured.options.baseline is None:
        return []
    return [comparison(each, measured.options.test) for each in measured.metrics]


def _pairs(measured: Measurement, test: PairedTest) -> PairsByMetric:
    return PairsByMetric(measured.metric, measured.signed(test), pairs(measured, test))
