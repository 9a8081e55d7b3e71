"""One evaluation: scores, the comparison with a baseline, doubts, and what is printed and kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nmt.evaluate.metrics import Score, by_metric, check_hypotheses, format_scores, score, to_json
from nmt.evaluate.significance import Comparison, check_gate, compare, format_comparisons


@dataclass(frozen=True)
class Evaluation:
    """What was measured, of what (`about`: plain values), and what makes it doubtful."""

    about: Mapping[str, Any]
    scores: list[Score]
    comparisons: list[Comparison]
    warnings: list[str]

    def as_text(self) -> str:
        """Tables for people."""
        tables = [format_scores(self.scores)]
        if self.comparisons:
            tables.append(format_comparisons(self.comparisons))
        return "\n".join(tables)

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines and for the history."""
        compared = {"comparisons": by_metric(self.comparisons)} if self.comparisons else {}
        return to_json(self.scores, {**self.about, "warnings": self.warnings, **compared})

    def gate(self, floors: Mapping[str, float], below_baseline: bool) -> None:
        """Raise GateError where a score is under its floor or, if asked, significantly under the baseline's."""
        check_gate(self.scores, floors, self.comparisons if below_baseline else ())


def evaluate(
    hypotheses: Sequence[str],
    references: Sequence[str],
    baseline: Sequence[str] | None,
    metrics: Sequence[str],
    about: Mapping[str, Any],
) -> Evaluation:
    """Score translations, and compare them with a baseline's if one is given.

    Raises DataError where counts differ or the text cannot be scored as it is, ConfigError for an unknown metric.
    """
    warnings = check_hypotheses(hypotheses, references)
    comparisons = [] if baseline is None else compare(hypotheses, baseline, references, metrics)
    return Evaluation(about, score(hypotheses, references, metrics), comparisons, warnings)
