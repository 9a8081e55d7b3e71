from nmt.evaluation.results import BadLine, Comparison, FaultRate, Score, SegmentScore
from nmt.evaluation.tables import (
    format_comparisons,
    format_fault_rates,
    format_scores,
    format_segment_scores,
    in_columns,
)


def test_scores_are_one_line_a_metric_with_value_interval_and_signature() -> None:
    table = format_scores(
        [Score("bleu", 37.256, 36.1, 38.4, "tok:zh"), Score("chrf", 100, 100, 100, "nc:6")]
    )
    assert [line.split() for line in table.split("\n")] == [
        ["bleu", "37.26", "[36.10,", "38.40]", "tok:zh"],
        ["chrf", "100.00", "[100.00,", "100.00]", "nc:6"],
    ]


def test_comparisons_say_difference_and_significance() -> None:
    comparisons = [
        Comparison("bleu", 20, 30, -10, 0.001, ""),
        Comparison("chrf", 31, 30, 1, 0.4, ""),
    ]
    assert format_comparisons(comparisons).split("\n") == [
        "bleu       -10.00  (20.00 against 30.00)  p = 0.0010, significant",
        "chrf        +1.00  (31.00 against 30.00)  p = 0.4000, not significant",
    ]


def test_fault_rates_stand_below_a_heading() -> None:
    rates = [FaultRate("copy", [12.34], 0.0), FaultRate("punctuation to fix", [100.0], 3.0)]
    assert format_fault_rates(rates).split("\n") == [
        "lines with               translation   reference",
        "copy                          12.3 %       0.0 %",
        "punctuation to fix           100.0 %       3.0 %",
    ]


def test_a_longer_name_of_a_metric_widens_the_column() -> None:
    scores = [Score("bleu", 1, 1, 1, "a"), Score("bleu_flores200", 2, 2, 2, "b")]
    assert format_scores(scores).split("\n") == [
        "bleu             1.00  [1.00, 1.00]      a",
        "bleu_flores200   2.00  [2.00, 2.00]      b",
    ]


def test_a_chinese_character_takes_two_columns() -> None:
    assert in_columns([["新闻", "1"], ["law", "22"]]) == "新闻  1\nlaw   22"


def test_the_worst_lines_are_shown_without_what_steers_a_terminal() -> None:
    worst = SegmentScore(Score("comet", 0.5, 0.4, 0.6, "mean"), [BadLine(2, 0.1)])
    assert format_segment_scores([worst], ["好", "坏\x1b[2J" + "的" * 60]).split("\n") == [
        "comet      0.5000 [0.4000, 0.6000]  mean",
        "  line 2       0.1000  坏[2J" + "的" * 36 + "…",
    ]
