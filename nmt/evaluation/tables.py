"""Tables of an evaluation, for people and for other programs."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from nmt.evaluation.evaluate import MeasuredSystems
from nmt.evaluation.metrics import METRICS, Lines
from nmt.evaluation.results import (
    SIGNIFICANT,
    Comparison,
    Evaluation,
    FaultRate,
    LabelScores,
    PairedTest,
    PairsByMetric,
    Score,
    SegmentScore,
    SystemResult,
)
from nmt.evaluation.test_set import named

_EXCERPT = 40  # characters of a line that is shown
_TESTS: dict[PairedTest, str] = {
    "bootstrap": "paired bootstrap",
    "randomisation": "approximate randomisation",
}


def format_evaluation(evaluation: Evaluation, hypotheses: Lines | None = None) -> str:
    """Tables of one system, with its worst lines if `hypotheses` are given; or of several side by side."""
    if len(evaluation.systems) > 1:
        tables = _tables_of_several(evaluation)
    else:
        [result] = evaluation.systems.values()
        tables = [
            format_scores(result.scores),
            format_comparisons(result.comparisons),
            format_segment_scores(result.segment_scores, hypotheses),
            format_labels(evaluation.systems),
            format_fault_rates(evaluation.fault_rates),
            format_fault_rates(evaluation.term_rates, "terms"),
        ]
    return "\n\n".join(table for table in tables if table)


def format_warnings(evaluation: Evaluation) -> list[str]:
    """What makes the systems doubtful, each with the system's name where there are several."""
    return [
        named(evaluation.systems, name, warning)
        for name, result in evaluation.systems.items()
        for warning in result.warnings
    ]


# --- one system ---


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


def format_fault_rates(rates: Sequence[FaultRate], heading: str = "lines with") -> str:
    """A heading, and one line a kind: name, percent of translations, percent of references."""
    if not rates:
        return ""
    width = max([24, *(len(rate.kind) + 1 for rate in rates)])
    rows = [f"{heading:<{width}}{'translation':>12}{'reference':>12}"]
    for rate in rates:
        [translation] = rate.systems
        rows.append(f"{rate.kind:<{width}}{translation:>10.1f} %{rate.references:>10.1f} %")
    return "\n".join(rows)


def format_segment_scores(
    segment_scores: Iterable[SegmentScore], hypotheses: Lines | None = None
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


# --- several systems ---


def _tables_of_several(evaluation: Evaluation) -> list[str]:
    """Of the worst lines, the numbers alone."""
    systems = evaluation.systems
    matrices = [_matrix(list(systems), each, evaluation.test) for each in evaluation.pairs]
    return [
        _scores(systems),
        _signatures(systems),
        *matrices,
        _worst_lines(systems),
        format_labels(systems),
        _rates(evaluation.fault_rates, "lines with, in %"),
        _rates(evaluation.term_rates, "terms, in %"),
    ]


def _scores(systems: Mapping[str, SystemResult]) -> str:
    first = next(iter(systems.values()))
    rows = [["", "system", *(score.metric for score in first.all_scores)]]
    for number, (name, result) in enumerate(systems.items(), start=1):
        rows.append([str(number), name, *map(cell, result.all_scores)])
    return in_columns(rows)


def _signatures(systems: Mapping[str, SystemResult]) -> str:
    first = next(iter(systems.values()))
    return in_columns([[score.metric, score.signature] for score in first.all_scores])


def _matrix(names: Sequence[str], by_metric: PairsByMetric, test: PairedTest) -> str:
    """The p-value of each pair: systems by name, and by their numbers in the table of scores."""
    entries = {}
    for pair in by_metric.pairs:
        mark = "*" if pair.is_significant else ""
        entries[pair.first, pair.second] = f"{pair.p_value:.4f}{mark}"
        entries[pair.second, pair.first] = f"{pair.p_value:.4f}{mark}"
    rows = [["", by_metric.metric, *map(str, range(1, len(names) + 1))]]
    for number, name in enumerate(names, start=1):
        rows.append([str(number), name, *(entries.get((name, each), "–") for each in names)])
    head = f"p of each pair by {by_metric.metric}, {_TESTS[test]}; * under {SIGNIFICANT}"
    return f"{head}\n{in_columns(rows)}"


def _worst_lines(systems: Mapping[str, SystemResult]) -> str:
    rows = []
    for name, result in systems.items():
        for each in result.segment_scores:
            lines = ", ".join(f"{bad.line} ({bad.score:.4f})" for bad in each.worst)
            rows.append([f"worst lines by {each.score.metric}", name, lines])
    return in_columns(rows) if rows else ""


def _rates(rates: Sequence[FaultRate], heading: str) -> str:
    if not rates:
        return ""
    numbers = map(str, range(1, len(rates[0].systems) + 1))
    rows = [[heading, *numbers, "reference"]]
    for rate in rates:
        rows.append([rate.kind, *(f"{each:.1f}" for each in (*rate.systems, rate.references))])
    return in_columns(rows)


# --- both ---


def format_labels(systems: Mapping[str, SystemResult]) -> str:
    """One line a label and, of several, system: label, lines, scores; "" without labels."""
    first = next(iter(systems.values())).labels
    if not first:
        return ""
    is_one = len(systems) == 1
    metrics = [score.metric for score in first[0].scores]
    rows = [["label", "lines", *([] if is_one else ["system"]), *metrics]]
    for place in range(len(first)):
        for name, result in systems.items():
            rows.append(_label_row(result.labels[place], [] if is_one else [name]))
    return in_columns(rows)


def _label_row(found: LabelScores, system: Sequence[str]) -> list[str]:
    return [found.label, f"{found.lines:,}", *system, *map(cell, found.scores)]


def sentence_table(measured: MeasuredSystems) -> str:
    """Every sentence's scores, tab-separated: a line for each sentence of each system.

    Columns `line` (from 1), `system`, `label` if there are labels, then the score by each measurement. BLEU of a
    sentence uses only the orders of n-grams that it has, as `sacrebleu --sentence-level`.
    """
    scores = [each.sentences() for each in measured.measurements]  # [M][S, N]
    labels = {number: each.label for each in measured.options.labels for number in each.lines}
    label_column = ["label"] if labels else []
    header = ["line", "system", *label_column, *(each.metric for each in measured.measurements)]
    rows = ["\t".join(header)]
    for name, place in measured.places().items():
        for number, values in enumerate(zip(*(each[place] for each in scores), strict=True)):
            label = [labels[number]] if labels else []
            fields = [str(number + 1), name, *label, *(f"{value:.4f}" for value in values)]
            rows.append("\t".join(fields))
    return "".join(f"{row}\n" for row in rows)


# --- a table ---


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
