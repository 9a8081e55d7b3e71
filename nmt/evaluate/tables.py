"""Tables of an evaluation for people: scores, comparisons, fault rates."""

from collections.abc import Iterable

from nmt.evaluate.fault_rates import FaultRate
from nmt.evaluate.measurement import Score
from nmt.evaluate.significance import Comparison


def format_scores(scores: Iterable[Score]) -> str:
    """One line a metric: name, value, interval, signature."""
    rows = []
    for score in scores:
        interval = f"[{score.low:.2f}, {score.high:.2f}]"
        rows.append(f"{score.metric:<10} {score.value:6.2f}  {interval:<16}  {score.signature}")
    return "\n".join(rows)


def format_comparisons(comparisons: Iterable[Comparison]) -> str:
    """One line a metric: name, difference, both scores, p-value; "" without comparisons."""
    rows = []
    for comparison in comparisons:
        verdict = "significant" if comparison.is_significant else "not significant"
        rows.append(
            f"{comparison.metric:<10} {comparison.difference:+6.2f}  "
            f"({comparison.value:.2f} against {comparison.baseline:.2f})  "
            f"p = {comparison.p_value:.4f}, {verdict}"
        )
    return "\n".join(rows)


def format_fault_rates(rates: Iterable[FaultRate]) -> str:
    """A heading, and one line a kind of fault: name, percent of translations, percent of references."""
    rows = [f"{'lines with':<24}{'translation':>12}{'reference':>12}"]
    for rate in rates:
        rows.append(f"{rate.kind:<24}{rate.translation:>10.1f} %{rate.reference:>10.1f} %")
    return "\n".join(rows)
