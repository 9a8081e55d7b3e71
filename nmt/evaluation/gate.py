"""Is a system good enough? Scores are held to bars, and to a baseline."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from nmt.errors import ConfigError, GateError
from nmt.evaluation.metrics import LOWER_IS_BETTER, new_metric
from nmt.evaluation.results import Comparison, Score
from nmt.evaluation.test_set import named


def parse_floors(texts: Iterable[str], segment_scores: Collection[str] = ()) -> dict[str, float]:
    """Read `METRIC=X` strings such as "bleu=20", of metrics or of segment scores that are given.

    Raises ConfigError naming the string and the fix.
    """
    floors: dict[str, float] = {}
    for text in texts:
        before, equals, after = text.partition("=")
        name = before.strip()
        number = after.strip()
        if not equals:
            raise ConfigError(f"{text!r} is not a threshold; write METRIC=X, such as bleu=20")
        if name not in segment_scores:
            new_metric(name)  # raises for an unknown one
        if name in floors:
            raise ConfigError(
                f"{text!r}: {name} already has the threshold {floors[name]:g}; give one"
            )
        try:
            floor = float(number)
        except ValueError:
            floor = math.nan
        if not math.isfinite(floor):
            raise ConfigError(
                f"{text!r}: {number!r} is not a number; write METRIC=X, such as {name}=20"
            )
        floors[name] = floor
    return floors


def check_gate(
    scores: Mapping[str, Sequence[Score]],
    floors: Mapping[str, float],
    comparisons: Sequence[Comparison] = (),
    lower_is_better: Collection[str] = LOWER_IS_BETTER,
) -> None:
    """Hold each system, name → scores, to the same bars, and `comparisons` to being not significantly worse.

    A bar is a floor; a ceiling for TER and whatever else is in `lower_is_better`. Raises GateError, one line with
    everything that does not hold; ConfigError for a bar on a metric that was not measured.
    """
    failures = []
    for name, of_system in scores.items():
        for failure in _failures(of_system, floors, lower_is_better):
            failures.append(named(scores, name, failure))
    for comparison in comparisons:
        if comparison.is_worse and comparison.is_significant:
            failures.append(_describe_loss(comparison))
    if failures:
        raise GateError("; ".join(failures))


def _failures(
    scores: Sequence[Score], floors: Mapping[str, float], lower_is_better: Collection[str]
) -> list[str]:
    measured = {score.metric: score.value for score in scores}
    failures: list[str] = []
    for name, bar in floors.items():
        if name not in measured:
            raise ConfigError(
                f"{name} has the bar {bar:g} but was not measured; add it to evaluate.metrics"
            )
        value = measured[name]
        if name in lower_is_better and value > bar:
            failures.append(f"{name} {value:.4f} is over {bar:g}")
        if name not in lower_is_better and value < bar:
            failures.append(f"{name} {value:.4f} is under {bar:g}")
    return failures


def _describe_loss(comparison: Comparison) -> str:
    return (
        f"{comparison.metric} {comparison.value:.4f} is significantly worse than "
        f"the baseline's {comparison.baseline:.4f} (p = {comparison.p_value:.4f})"
    )
