"""Several systems side by side: scores, and for each pair of them whether the difference is more than chance."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nmt.errors import ConfigError, DataError
from nmt.evaluate.doubts import check_hypotheses
from nmt.evaluate.evaluation import About, Asked, Evaluation, figures_of
from nmt.evaluate.fault_rates import fault_rates_of_systems
from nmt.evaluate.measurement import Measurement, Test, measure
from nmt.evaluate.metrics import Lines, References
from nmt.evaluate.significance import SIGNIFICANT, Pair, pairs
from nmt.evaluate.tables import cell, format_groups, in_columns

MOST = 10  # systems; 45 pairs


@dataclass(frozen=True)
class PairsByMetric:
    """Each pair of systems by one metric."""

    metric: str
    signature: str
    pairs: list[Pair]


@dataclass(frozen=True)
class SystemsEvaluation:
    """Several systems' evaluations, by name, and their pairs by each metric."""

    about: About
    systems: dict[str, Evaluation]
    test: Test
    pairs: list[PairsByMetric]
    measured: list[Measurement]

    @property
    def warnings(self) -> list[str]:
        """What makes the systems doubtful, each with the system's name."""
        return [
            f"{name}: {warning}"
            for name, evaluation in self.systems.items()
            for warning in evaluation.warnings
        ]

    def as_text(self, _hypotheses: Lines | None = None) -> str:
        """Tables for people; of the worst lines, the numbers."""
        tables = [self._scores(), self._signatures()]
        tables += [self._matrix(each) for each in self.pairs]
        tables += [self._worst_lines(), self._groups(), self._fault_rates()]
        return "\n\n".join(table for table in tables if table)

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines and for the history."""
        by_metric = {}
        for each in self.pairs:
            found = [asdict(pair) for pair in each.pairs]
            by_metric[each.metric] = {"signature": each.signature, "pairs": found}
        return {
            **self.about,
            "systems": {name: each.as_json() for name, each in self.systems.items()},
            "significance": {"test": self.test, "metrics": by_metric},
        }

    def _scores(self) -> str:
        first = next(iter(self.systems.values()))
        rows = [["", "system", *(score.metric for score in first.all_scores())]]
        for number, (name, evaluation) in enumerate(self.systems.items(), start=1):
            rows.append([str(number), name, *map(cell, evaluation.all_scores())])
        return in_columns(rows)

    def _signatures(self) -> str:
        first = next(iter(self.systems.values()))
        return in_columns([[score.metric, score.signature] for score in first.all_scores()])

    def _matrix(self, by_metric: PairsByMetric) -> str:
        """The p-value of each pair: systems by name, and by their numbers in the table of scores."""
        names = list(self.systems)
        entries = {}
        for pair in by_metric.pairs:
            mark = "*" if pair.is_significant else ""
            entries[pair.first, pair.second] = f"{pair.p_value:.4f}{mark}"
            entries[pair.second, pair.first] = f"{pair.p_value:.4f}{mark}"
        rows = [["", by_metric.metric, *map(str, range(1, len(names) + 1))]]
        for number, name in enumerate(names, start=1):
            rows.append([str(number), name, *(entries.get((name, each), "–") for each in names)])
        kind = {"bootstrap": "paired bootstrap", "randomisation": "approximate randomisation"}
        head = f"p of each pair by {by_metric.metric}, {kind[self.test]}; * under {SIGNIFICANT}"
        return f"{head}\n{in_columns(rows)}"

    def _worst_lines(self) -> str:
        rows = []
        for name, evaluation in self.systems.items():
            for each in evaluation.segment_scores:
                lines = ", ".join(f"{bad.line} ({bad.score:.4f})" for bad in each.worst)
                rows.append([f"worst lines by {each.score.metric}", name, lines])
        return in_columns(rows) if rows else ""

    def _groups(self) -> str:
        return format_groups([(name, each.groups) for name, each in self.systems.items()])

    def _fault_rates(self) -> str:
        evaluations = list(self.systems.values())
        numbers = map(str, range(1, len(evaluations) + 1))
        rows = [["lines with, in %", *numbers, "reference"]]
        for place, rate in enumerate(evaluations[0].fault_rates):
            theirs = [f"{each.fault_rates[place].translation:.1f}" for each in evaluations]
            rows.append([rate.kind, *theirs, f"{rate.reference:.1f}"])
        return in_columns(rows)


def evaluate_systems(
    systems: Mapping[str, Lines],
    references: References,
    metrics: Lines,
    about: About,
    about_systems: Mapping[str, About],
    sources: Lines | None,
    asked: Asked | None = None,
) -> SystemsEvaluation:
    """Evaluate two to ten systems, name → translations, and compare each two of them.

    Raises DataError if counts differ or a text cannot be scored as it is, ConfigError for an unknown metric.
    """
    asked = asked or Asked()
    refuse_too_many(systems)
    warnings = [_doubts(name, lines, references) for name, lines in systems.items()]
    measured = [measure(metric, systems, references) for metric in metrics]
    figures = figures_of(measured, asked)
    rates = fault_rates_of_systems(list(systems.values()), references, sources)
    evaluations = {}
    for place, name in enumerate(systems):
        evaluations[name] = Evaluation(
            about=about_systems[name],
            scores=figures.scores(place),
            comparisons=[],
            fault_rates=rates[place],
            warnings=warnings[place],
            segment_scores=figures.segment_scores(place),
            groups=figures.groups(place),
        )
    measured += figures.segments
    found = [_pairs(each, asked.test) for each in measured]
    return SystemsEvaluation(about, evaluations, asked.test, found, measured)


def _doubts(name: str, lines: Lines, references: References) -> list[str]:
    try:
        return check_hypotheses(lines, references)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def refuse_too_many(systems: Mapping[str, object]) -> None:
    """Raise ConfigError for more systems than a table can hold."""
    if len(systems) > MOST:
        raise ConfigError(f"{len(systems)} systems; at most {MOST} are compared at a time")


def _pairs(measured: Measurement, test: Test) -> PairsByMetric:
    return PairsByMetric(measured.metric, measured.signed(test), pairs(measured, test))
