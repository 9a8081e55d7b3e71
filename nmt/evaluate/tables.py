"""Tables of one system's evaluation for people: scores, comparisons, fault rates."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nmt.evaluate.fault_rates import FaultRate
from nmt.evaluate.measurement import Score
from nmt.evaluate.metrics import METRICS, Lines
from nmt.evaluate.significance import Comparison

if TYPE_CHECKING:
    from nmt.evaluate.evaluation import GroupScores, SegmentScore

_EXCERPT = 40  # characters of a line that is shown


def format_scores(scores: Iterable[Score]) -> str:
    """One line a metric: name, value, interval, signature."""
    rows = []
    scores = list(scores)
    width = max([10, *(len(score.metric) for score in scores)])
    for score in scores:
        interval = f"[{score.low:.2f}, {score.high:.2f}]"
        rows.append(
            f"{score.metric:<{width}} {score.value:6.2f}  {interval:<16}  {score.signature}"
        )
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


def format_segment_scores(
    segment_scores: Iterable["SegmentScore"], hypotheses: Lines | None = None
) -> str:
    """One line a kind of score: name, mean, interval; below it the worst lines."""
    blocks = []
    for each in segment_scores:
        rows = [f"{each.score.metric:<10} {cell(each.score)}  {each.score.signature}"]
        for bad in each.worst:
            row = f"  line {bad.line:<7,} {bad.score:.4f}"
            if hypotheses is not None:
                row += f"  {excerpt(hypotheses[bad.line - 1])}"
            rows.append(row)
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks)


def format_groups(systems: Sequence[tuple[str | None, Sequence["GroupScores"]]]) -> str:
    """One line a label and system (None where there is one alone): label, lines, scores; "" without groups."""
    if not systems[0][1]:
        return ""
    is_one = len(systems) == 1
    metrics = [score.metric for score in systems[0][1][0].scores]
    rows = [["label", "lines", *([] if is_one else ["system"]), *metrics]]
    for place, group in enumerate(systems[0][1]):
        for name, groups in systems:
            scores = [cell(score) for score in groups[place].scores]
            rows.append(
                [group.label, f"{group.lines:,}", *([] if is_one else [str(name)]), *scores]
            )
    return in_columns(rows)


def cell(score: Score) -> str:
    """A score and its interval; segment scores, such as COMET's, to four places."""
    places = 2 if score.metric in METRICS else 4
    return f"{score.value:.{places}f} [{score.low:.{places}f}, {score.high:.{places}f}]"


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of a table, each column as wide as its widest entry."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        fields = [
            field + " " * (width - _width(field)) for field, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(fields).rstrip())
    return "\n".join(lines)


def excerpt(line: str) -> str:
    """The beginning of a line, without what would steer a terminal."""
    shown = "".join(character for character in line if character.isprintable())
    return shown if len(shown) <= _EXCERPT else f"{shown[:_EXCERPT]}…"


def _width(text: str) -> int:
    """Columns of a terminal: two for a Chinese character."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)
