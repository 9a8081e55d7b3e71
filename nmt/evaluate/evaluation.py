"""One system's evaluation: scores, the comparison with a baseline, fault rates, doubts; as text and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nmt.evaluate.doubts import check_hypotheses
from nmt.evaluate.fault_rates import FaultRate, fault_rates
from nmt.evaluate.groups import Group
from nmt.evaluate.measurement import Measurement, Score, Test, measure
from nmt.evaluate.metrics import Lines, References
from nmt.evaluate.segment_scores import (
    BadLine,
    SegmentScores,
    measure_segments,
    worst_lines,
)
from nmt.evaluate.significance import Comparison, check_baseline, comparison
from nmt.evaluate.tables import (
    format_comparisons,
    format_fault_rates,
    format_groups,
    format_scores,
    format_segment_scores,
)

About = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What is asked beside the scores of the whole test set."""

    test: Test = "bootstrap"
    groups: list[Group] = field(default_factory=list)
    segment_scores: list[SegmentScores] = field(default_factory=list)


@dataclass(frozen=True)
class GroupScores:
    """The scores of one system on the lines of one label."""

    label: str
    lines: int
    scores: list[Score]


@dataclass(frozen=True)
class SegmentScore:
    """The mean of a system's segment scores with its interval, and the worst of them."""

    score: Score
    worst: list[BadLine]


@dataclass(frozen=True)
class Evaluation:
    """What was measured, of what (`about`: plain values), and what makes it doubtful."""

    about: About
    scores: list[Score]
    comparisons: list[Comparison]
    fault_rates: list[FaultRate]
    warnings: list[str]
    segment_scores: list[SegmentScore] = field(default_factory=list)
    groups: list[GroupScores] = field(default_factory=list)
    measured: list[Measurement] = field(default_factory=list, repr=False)  # the system last

    def all_scores(self) -> list[Score]:
        """The scores of the whole test set, by metrics and by segment scores."""
        return [*self.scores, *(each.score for each in self.segment_scores)]

    def as_text(self, hypotheses: Lines | None = None) -> str:
        """Tables for people; with `hypotheses` they show the worst lines."""
        tables = [
            format_scores(self.scores),
            format_comparisons(self.comparisons),
            format_segment_scores(self.segment_scores, hypotheses),
            format_groups([(None, self.groups)]),
            format_fault_rates(self.fault_rates),
        ]
        return "\n\n".join(table for table in tables if table)

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines and for the history."""
        record: dict[str, Any] = {**self.about, "warnings": self.warnings}
        if self.comparisons:
            record["comparisons"] = by_metric(self.comparisons)
        record["checks"] = {
            rate.kind: {"translation": rate.translation, "reference": rate.reference}
            for rate in self.fault_rates
        }
        record["scores"] = by_metric(self.scores)
        if self.segment_scores:
            record["segment_scores"] = _segment_scores_as_json(self.segment_scores)
        if self.groups:
            record["groups"] = {
                each.label: {"lines": each.lines, "scores": by_metric(each.scores)}
                for each in self.groups
            }
        return record


def _segment_scores_as_json(segment_scores: Iterable[SegmentScore]) -> dict[str, dict[str, Any]]:
    record = by_metric(each.score for each in segment_scores)
    for each in segment_scores:
        record[each.score.metric]["worst"] = [asdict(line) for line in each.worst]
    return record


def by_metric(results: Iterable[Score | Comparison]) -> dict[str, dict[str, Any]]:
    """Turn results of one metric each into plain values: metric → the other fields."""
    fields_by_metric = {}
    for result in results:
        fields = asdict(result)
        metric = fields.pop("metric")
        fields_by_metric[metric] = fields
    return fields_by_metric


def evaluate(
    hypotheses: Lines,
    references: References,
    baseline: Lines | None,
    metrics: Lines,
    about: About,
    sources: Lines | None,
    asked: Asked | None = None,
) -> Evaluation:
    """Score translations, compare them with a baseline's if one is given, and look for faults in each line.

    Raises DataError if counts differ or the text cannot be scored as it is, ConfigError for an unknown metric.
    """
    asked = asked or Asked()
    warnings = check_hypotheses(hypotheses, references)
    systems = {"system": hypotheses}
    if baseline is not None:
        check_baseline(baseline, hypotheses)
        systems = {"baseline": baseline, "system": hypotheses}
    measured = [measure(name, systems, references) for name in metrics]
    comparisons = [] if baseline is None else [comparison(each, asked.test) for each in measured]
    figures = figures_of(measured, asked)
    return Evaluation(
        about=about,
        scores=figures.scores(-1),
        comparisons=comparisons,
        fault_rates=fault_rates(hypotheses, references, sources),
        warnings=warnings,
        segment_scores=figures.segment_scores(-1),
        groups=figures.groups(-1),
        measured=[*measured, *figures.segments],
    )


@dataclass(frozen=True)
class Figures:
    """The scores of every system, by index; the last system is -1."""

    segments: list[Measurement]
    by_metric: list[list[Score]]  # [metric][system]
    by_segments: list[list[SegmentScore]]
    by_group: list[tuple[Group, list[list[Score]]]]  # a group, and [metric][system]

    def scores(self, system: int) -> list[Score]:
        """Its score by each metric."""
        return [scores[system] for scores in self.by_metric]

    def segment_scores(self, system: int) -> list[SegmentScore]:
        """Its segment scores of each kind."""
        return [scores[system] for scores in self.by_segments]

    def groups(self, system: int) -> list[GroupScores]:
        """Its scores by label."""
        found = []
        for group, by_metric in self.by_group:
            scores = [of_systems[system] for of_systems in by_metric]
            found.append(GroupScores(group.label, len(group.lines), scores))
        return found


def figures_of(measured: list[Measurement], asked: Asked) -> Figures:
    """Score the systems on all lines, by the segment scores that were given, and on the lines of each label."""
    segments = [measure_segments(each) for each in asked.segment_scores]
    by_segments = []
    for each in segments:
        pairs = zip(each.scores(), worst_lines(each), strict=True)
        by_segments.append([SegmentScore(score, worst) for score, worst in pairs])
    by_group = []
    for group in asked.groups:
        by_group.append((group, [each.only(group.lines).scores() for each in measured + segments]))
    return Figures(segments, [each.scores() for each in measured], by_segments, by_group)
