"""One evaluation: scores, the comparison with a baseline, fault rates, doubts; as text and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nmt.evaluate.doubts import check_hypotheses
from nmt.evaluate.fault_rates import FaultRate, fault_rates
from nmt.evaluate.measurement import Score, score
from nmt.evaluate.metrics import Lines, References
from nmt.evaluate.significance import Comparison, compare
from nmt.evaluate.tables import format_comparisons, format_fault_rates, format_scores

About = Mapping[str, Any]


@dataclass(frozen=True)
class Evaluation:
    """What was measured, of what (`about`: plain values), and what makes it doubtful."""

    about: About
    scores: list[Score]
    comparisons: list[Comparison]
    fault_rates: list[FaultRate]
    warnings: list[str]

    def as_text(self) -> str:
        """Tables for people."""
        tables = [
            format_scores(self.scores),
            format_comparisons(self.comparisons),
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
) -> Evaluation:
    """Score translations, compare them with a baseline's if one is given, and look for faults in each line.

    Raises DataError if counts differ or the text cannot be scored as it is, ConfigError for an unknown metric.
    """
    warnings = check_hypotheses(hypotheses, references)
    comparisons = [] if baseline is None else compare(hypotheses, baseline, references, metrics)
    return Evaluation(
        about=about,
        scores=score(hypotheses, references, metrics),
        comparisons=comparisons,
        fault_rates=fault_rates(hypotheses, references, sources),
        warnings=warnings,
    )
