from nmt.evaluate.fault_rates import FaultRate
from nmt.evaluate.measurement import Score
from nmt.evaluate.significance import Comparison
from nmt.evaluate.tables import format_comparisons, format_fault_rates, format_scores


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
    rates = [FaultRate("copy", 12.34, 0.0), FaultRate("punctuation to fix", 100.0, 3.0)]
    assert format_fault_rates(rates).split("\n") == [
        "lines with               translation   reference",
        "copy                          12.3 %       0.0 %",
        "punctuation to fix           100.0 %       3.0 %",
    ]
