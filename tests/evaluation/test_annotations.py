"""Labels, and anyone's scores: read, averaged, compared."""

import math
from itertools import product
from random import Random
from statistics import NormalDist, fmean, stdev

import pytest

from nmt.errors import DataError
from nmt.evaluation.annotations import (
    LabelledLines,
    SegmentScores,
    lines_by_label,
    read_segment_scores,
)
from nmt.evaluation.measurement import measure_segments, worst_lines
from nmt.evaluation.results import BadLine

chance = Random(1)
OURS = [chance.gauss(0.80, 0.1) for _ in range(400)]
THEIRS = [score - chance.gauss(0.015, 0.1) for score in OURS]


def test_lines_are_gathered_by_label_in_the_order_of_labels() -> None:
    labels = ["news", " 谈话", "news ", "谈话", "law"]
    assert lines_by_label("by", labels) == [
        LabelledLines("news", [0, 2]),
        LabelledLines("谈话", [1, 3]),
        LabelledLines("law", [4]),
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["news", " "], "by:2: has no label; give each line one, such as news"),
        (["news\t1"], "by:1: .* has tabs or control characters; give one label per line"),
        (["a", "\x1b[2J"], "by:2: .* has tabs or control characters"),
        ([str(number) for number in range(200)], "by:101: more than 100 labels; give labels that"),
    ],
)
def test_what_is_no_label_is_named(labels: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        lines_by_label("by", labels)


def read(*lines: str, systems: tuple[str, ...] = ("ours",)) -> dict[str, list[float]]:
    return read_segment_scores("comet", "s.tsv", lines, systems, lower_is_better=False).columns


def test_one_column_needs_no_name_and_may_have_any() -> None:
    assert read("0.5", " 1e-1 ", "-3") == {"ours": [0.5, 0.1, -3]}
    assert read("COMET", "0.5", "1") == {"ours": [0.5, 1]}


def test_columns_go_by_their_names_and_those_of_other_systems_are_left_out() -> None:
    lines = ("google\tours\tbing", "1\t2\t3", "4\t5\t6")
    assert read(*lines, systems=("ours", "google")) == {"ours": [2, 5], "google": [1, 4]}
    assert read(*lines) == {"ours": [2, 5]}
    assert read("600\t1200", "1\t2", systems=("1200", "600")) == {"1200": [2], "600": [1]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "s.tsv: is empty; it must have one score per line"),
        (["1", "high"], "s.tsv:2: 'high' is not a number"),
        (["1", ""], "s.tsv:2: '' is not a number"),
        (["1", "nan"], "s.tsv:2: 'nan' is not finite"),
        (["inf"], "s.tsv:1: 'inf' is not finite"),
        (["1", "1e999"], "s.tsv:2: '1e999' is not finite"),
        (["1", "1\t2"], "s.tsv:2: has 2 columns, the first line 1"),
        (["1\t2"], "2 columns of scores for 1 system; name the columns in the first line: ours"),
        (["a\tb", "1\t2"], "s.tsv:1: no column is called 'ours', but 'a', 'b'"),
        (["ours\tours", "1\t2"], "s.tsv:1: two columns are called 'ours'"),
    ],
)
def test_a_table_that_cannot_be_read_is_explained(lines: list[str], message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(*lines)
    assert str(caught.value).startswith("s.tsv")
    assert message in str(caught.value)


def test_several_systems_need_the_columns_names() -> None:
    with pytest.raises(DataError, match="2 columns of scores for 2 systems; name the columns"):
        read("1\t2", systems=("ours", "google"))
    with pytest.raises(DataError, match="1 column of scores for 2 systems"):
        read("1", systems=("ours", "google"))


def test_the_mean_has_the_interval_of_the_normal_distribution() -> None:
    [found] = measure_segments(SegmentScores("comet", {"ours": OURS})).scores()
    half_width = NormalDist().inv_cdf(0.975) * stdev(OURS) / math.sqrt(len(OURS))
    assert found.value == pytest.approx(fmean(OURS))
    assert found.low == pytest.approx(fmean(OURS) - half_width, abs=0.1 * half_width)
    assert found.high == pytest.approx(fmean(OURS) + half_width, abs=0.1 * half_width)
    assert found.signature == "mean|bs:1000|seed:12345"


def test_p_is_that_of_a_paired_z_test() -> None:
    measured = measure_segments(SegmentScores("comet", {"ours": OURS, "theirs": THEIRS}))
    differences = [one - other for one, other in zip(OURS, THEIRS, strict=True)]
    z = fmean(differences) / (stdev(differences) / math.sqrt(len(differences)))
    two_sided = 2 * (1 - NormalDist().cdf(abs(z)))
    assert 0.005 < two_sided < 0.2
    assert measured.p_values("randomisation")[0, 1] == pytest.approx(two_sided, abs=0.01)


def test_randomisation_comes_close_to_trying_every_swap() -> None:
    """People's ratings: a trial that equals the real difference is not larger, though it is 0.1 + 0.2 and that 0.3."""
    ours, theirs = (
        [0.3, 0.9, 0.7, 0.4, 0.8, 0.6, 0.5, 0.9],
        [0.2, 0.6, 0.8, 0.1, 0.7, 0.6, 0.2, 0.8],
    )
    tenths = [round(10 * (one - other)) for one, other in zip(ours, theirs, strict=True)]
    swaps = [abs(sum(map(int.__mul__, signs, tenths))) for signs in product((1, -1), repeat=8)]
    larger = sum(difference > abs(sum(tenths)) for difference in swaps) / len(swaps)
    measured = measure_segments(SegmentScores("rating", {"ours": ours, "theirs": theirs}))
    assert larger > 0
    assert measured.p_values("randomisation")[0, 1] == pytest.approx(larger, abs=0.005)


def test_the_worst_lines_are_the_lowest_or_the_highest() -> None:
    scores = {"ours": [3.0, 1.0, 2.0, 1.0, 5.0, 4.0, 9.0]}
    [worst] = worst_lines(measure_segments(SegmentScores("comet", scores)))
    assert worst == [BadLine(2, 1), BadLine(4, 1), BadLine(3, 2), BadLine(1, 3), BadLine(6, 4)]
    [worst] = worst_lines(measure_segments(SegmentScores("metricx", scores, lower_is_better=True)))
    assert worst[:2] == [BadLine(7, 9), BadLine(5, 5)]
