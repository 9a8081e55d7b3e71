"""Systems measured by one metric: scores, intervals, scores of each sentence, and whether differences are chance.

Shapes: S systems, N lines, C sufficient statistics of a line (for BLEU lengths and n-gram counts), R trials. Each line
is looked at once; all the rest is sums. The scores are those of the `sacrebleu` command.

Some names of sacrebleu begin with "_": its public functions count all lines anew for each score and each pair of
systems. These names are the same in 2.5.0, 2.5.1 and 2.6.0, and the tests compare with the command itself.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import _compute_p_value, estimate_ci

from nmt.evaluation.annotations import SegmentScores
from nmt.evaluation.counting import bleu_statistics, chrf_statistics
from nmt.evaluation.formulas import formula_of
from nmt.evaluation.metrics import (
    LOWER_IS_BETTER,
    Lines,
    References,
    check_counts,
    new_metric,
    prepared,
    prepared_references,
)
from nmt.evaluation.resampling import (
    RESAMPLES,
    TRIALS,
    Floats,
    Statistics,
    bootstrap_sums,
    kept_sums,
    seed,
)
from nmt.evaluation.results import USUAL_TEST, BadLine, PairedTest, Score

_WORST = 5  # lines that reports name
_PLACES = 7  # of sums that are not whole; what summing in another order changes lies far below


@dataclass(frozen=True)
class MetricFunctions:
    """What turns sufficient statistics into scores, and what the scores mean.

    `score` takes the statistics of each line [N, C]; `sentence` those of one line. `rows` takes sums [R, C];
    `resampled` the same as sacrebleu bootstraps: its numbers have the precision of float32.
    """

    score: Callable[[Statistics], float]
    sentence: Callable[[list[float]], float]
    rows: Callable[[Statistics], Statistics]
    resampled: Callable[[Statistics], Floats]
    lowest: float
    highest: float
    lower_is_better: bool


@dataclass(frozen=True)
class Measurement:
    """Systems by one metric, and what each line adds: `statistics` [S, N, C]."""

    metric: str
    systems: tuple[str, ...]
    statistics: Statistics
    functions: MetricFunctions
    signature: str  # without what a test adds: `signed` gives it whole

    @cached_property
    def values(self) -> list[float]:
        """The score of each system."""
        return [float(self.functions.score(lines)) for lines in self.statistics]

    @cached_property
    def resampled(self) -> list[Floats]:
        """The scores of each system on 1000 test sets that are drawn from this one: [R] each."""
        return [self.functions.resampled(sums) for sums in bootstrap_sums(self.statistics)]

    def scores(self) -> list[Score]:
        """The score of each system with its interval."""
        scores = []
        for whole, resampled in zip(self.values, self.resampled, strict=True):
            value = self._within_range(whole)
            mean, half_width = estimate_ci(resampled)
            scores.append(
                Score(
                    metric=self.metric,
                    value=value,
                    # sacrebleu resamples in float32: where all lines score alike, the value may be outside by a hair.
                    low=min(value, self._within_range(mean - half_width)),
                    high=max(value, self._within_range(mean + half_width)),
                    signature=self.signed("bootstrap"),
                )
            )
        return scores

    def sentences(self) -> Statistics:
        """The score of each line of each system, as `sacrebleu --sentence-level` gives it: [S, N]."""
        return np.array(
            [[self.functions.sentence(row) for row in lines.tolist()] for lines in self.statistics]
        )

    def p_values(self, test: PairedTest = USUAL_TEST) -> Statistics:
        """How often chance alone would make a difference larger than that of two systems: [S, S], 1 if equal."""
        return _TESTS[test](self)

    def only(self, lines: Sequence[int]) -> "Measurement":
        """The same for some of the lines."""
        return replace(self, statistics=self.statistics[:, list(lines)])

    def signed(self, test: PairedTest) -> str:
        """The signature of scores and p-values by a test, as sacrebleu writes it."""
        chance = {"bootstrap": f"bs:{RESAMPLES}", "randomisation": f"ar:{TRIALS}"}[test]
        first, *rest = self.signature.split("|")
        return "|".join([first, chance, f"seed:{seed()}".lower(), *rest])

    def _within_range(self, value: float) -> float:
        return min(self.functions.highest, max(self.functions.lowest, float(value)))


def measure(metric: str, systems: Mapping[str, Lines], references: References) -> Measurement:
    """Look at each line of each system, name → detokenised lines, by a metric in METRICS.

    Raises DataError if counts differ or nothing is given, ConfigError for an unknown metric.
    """
    for lines in systems.values():
        check_counts(lines, references)
    statistics = count(metric, list(systems.values()), references)
    return measurement_of(metric, systems, statistics, references)


def count(metric: str, systems: Sequence[Lines], references: References) -> Statistics:
    """The sufficient statistics of each line of each system: [S, N, C].

    Those of a part of the lines are the same alone: parts may be counted apart, and joined.
    """
    own = _STATISTICS.get(metric)
    if own is not None and len(references) == 1:
        return own(systems, references[0])
    sacrebleu = new_metric(metric, references=prepared_references(metric, references))
    statistics = []
    for lines in systems:
        statistics.append(sacrebleu._extract_corpus_statistics(prepared(metric, lines), None))
    return np.array(statistics, dtype=np.float64)


# What nmt counts itself, for one reference: the same statistics, for many lines at once.
_STATISTICS: dict[str, Callable[[Sequence[Lines], Lines], Statistics]] = {
    "bleu": partial(bleu_statistics, "bleu"),
    "bleu_width": partial(bleu_statistics, "bleu_width"),
    "chrf": chrf_statistics,
}


def measurement_of(
    metric: str, systems: Iterable[str], statistics: Statistics, references: References
) -> Measurement:
    """The measurement of systems, by name, whose lines are counted."""
    sacrebleu = new_metric(metric, references=_few(prepared_references(metric, references)))
    return Measurement(
        metric=metric,
        systems=tuple(systems),
        statistics=statistics,
        functions=_functions(metric, sacrebleu),
        signature=str(sacrebleu.get_signature()),
    )


def _few(references: list[list[Any]]) -> list[list[Any]]:
    """A line for each number of references that a line has, from which sacrebleu knows what its signature says."""
    lines: dict[int, tuple[Any, ...]] = {}
    for versions in zip(*references, strict=True):
        lines.setdefault(versions.count(None), versions)
    return [list(each) for each in zip(*lines.values(), strict=True)]


def score(hypotheses: Lines, references: References, metrics: Iterable[str]) -> list[Score]:
    """Measure one system's detokenised lines; `metrics` are names in METRICS. Raises as `measure` does."""
    scores = []
    for name in metrics:
        scores += measure(name, {"": hypotheses}, references).scores()
    return scores


def measure_segments(given: SegmentScores) -> Measurement:
    """The means of the scores as a measurement, with interval and tests as metrics have them.

    Its statistics are each line's score and 1.
    """
    scores = np.array(list(given.columns.values()))  # [S, N]
    return Measurement(
        metric=given.name,
        systems=tuple(given.columns),
        statistics=np.stack([scores, np.ones_like(scores)], axis=2),
        functions=MetricFunctions(
            score=lambda lines: math.fsum(lines[:, 0]) / len(lines),
            sentence=lambda line: line[0],
            rows=lambda sums: sums[:, 0] / sums[:, 1],
            resampled=lambda sums: sums[:, 0] / sums[:, 1],
            lowest=-math.inf,
            highest=math.inf,
            lower_is_better=given.lower_is_better,
        ),
        signature="mean",
    )


def worst_lines(measured: Measurement) -> list[list[BadLine]]:
    """The worst lines of each system, the worst first."""
    found = []
    for scores in measured.sentences():
        badness = scores if measured.functions.lower_is_better else -scores
        order = np.argsort(-badness, kind="stable")[:_WORST]
        found.append([BadLine(int(line) + 1, float(scores[line])) for line in order])
    return found


def _functions(name: str, metric: Metric) -> MetricFunctions:
    of_a_sentence = metric
    if name.startswith("bleu"):
        of_a_sentence = new_metric(name, effective_order=True)  # as --sentence-level
    is_better_low = name in LOWER_IS_BETTER
    return MetricFunctions(
        score=lambda lines: metric._compute_score_from_stats(lines.sum(axis=0).tolist()).score,
        sentence=lambda row: of_a_sentence._compute_score_from_stats(row).score,
        rows=formula_of(metric),
        resampled=lambda sums: _as_sacrebleu_bootstraps(metric, sums),
        lowest=0.0,
        highest=math.inf if is_better_low else 100.0,
        lower_is_better=is_better_low,
    )


def _as_sacrebleu_bootstraps(metric: Metric, sums: Statistics) -> Floats:
    rows: Any = sums.astype(np.float32)
    return np.array([metric._compute_score_from_stats(row).score for row in rows])


def _bootstrap_p_values(measured: Measurement) -> Statistics:
    """Paired bootstrap (Koehn, 2004), as `sacrebleu --paired-bs`: differences of the same drawn test sets."""
    values = measured.values
    resampled = measured.resampled
    p_values = np.ones((len(values), len(values)))
    for first, second in combinations(range(len(values)), 2):
        difference = abs(values[first] - values[second])
        if difference == 0:
            continue  # no trial can exceed it as sacrebleu counts, and it would give its smallest p
        differences = np.abs(resampled[second] - resampled[first])
        p_value = _compute_p_value(differences - differences.mean(), difference)
        p_values[first, second] = p_values[second, first] = p_value
    return p_values


def _randomisation_p_values(measured: Measurement) -> Statistics:
    """Approximate randomisation (Riezler and Maxwell, 2005), as `sacrebleu --paired-ar`: outputs swapped by coin.

    Where sums are not whole (TER's against three references, people's ratings) they are rounded, so that trials which
    equal the real difference do so exactly; in sacrebleu the last bit then decides whether they are larger.
    """
    totals = measured.statistics.sum(axis=1).round(_PLACES)  # [S, C]
    kept = kept_sums(measured.statistics).round(_PLACES)  # [S, R, C]
    systems = len(totals)
    p_values = np.ones((systems, systems))
    for first, second in combinations(range(systems), 2):
        swapped = (totals[second] - kept[second] + kept[first]).round(_PLACES)
        rest = (totals[first] + totals[second] - swapped).round(_PLACES)
        # The real systems are in the first row, so that an equal difference is exactly equal.
        one = measured.functions.rows(np.vstack([totals[first], swapped]))
        other = measured.functions.rows(np.vstack([totals[second], rest]))
        difference, *trials = np.abs(one - other)
        if difference > 0:
            p_value = _compute_p_value(np.array(trials), difference)
            p_values[first, second] = p_values[second, first] = p_value
    return p_values


_TESTS: dict[PairedTest, Callable[[Measurement], Statistics]] = {
    "bootstrap": _bootstrap_p_values,
    "randomisation": _randomisation_p_values,
}
