"""One evaluation: scores, the comparison with a baseline, doubts, and what is printed and kept of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nmt.evaluate.fault_rates import Check, check, format_checks
from nmt.evaluate.metrics import Lines, Score, by_metric, check_hypotheses, format_scores, score
from nmt.evaluate.significance import Comparison, compare, format_comparisons

About = Mapping[str, Any]


@dataclass(frozen=True)
class Evaluation:
    """What was measured, of what (`about`: plain values), and what makes it doubtful."""

    about: About
    scores: list[Score]
    comparisons: list[Comparison]
    checks: list[Check]
    warnings: list[str]

    def as_text(self) -> str:
        """Tables for people."""
        tables = (
            format_scores(self.scores),
            format_comparisons(self.comparisons),
            format_checks(self.checks),
        )
        return "\n\n".join(filter(None, tables))

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines and for the history."""
        compared = {"comparisons": by_metric(self.comparisons)} if self.comparisons else {}
        checks = {
            each.kind: {"translation": each.translation, "reference": each.reference}
            for each in self.checks
        }
        return {
            **self.about,
            "warnings": self.warnings,
            **compared,
            "checks": checks,
            "scores": by_metric(self.scores),
        }


def evaluate(
    hypotheses: Lines,
    references: Lines,
    baseline: Lines | None,
    metrics: Lines,
    about: About,
    sources: Lines | None,
) -> Evaluation:
    """Score translations, compare them with a baseline's if one is given, and look for faults of single lines.

    Raises DataError where counts differ or the text cannot be scored as it is, ConfigError for an unknown metric.
    """
    warnings = check_hypotheses(hypotheses, references)
    comparisons = [] if baseline is None else compare(hypotheses, baseline, references, metrics)
    checks = check(hypotheses, references, sources)
    return Evaluation(about, score(hypotheses, references, metrics), comparisons, checks, warnings)
