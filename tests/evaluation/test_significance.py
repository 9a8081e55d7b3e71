from itertools import pairwise

import pytest
from made_systems import BAD, EQUAL, GOOD, REFERENCES, spoilt
from sentences import OUR_METRICS

from nmt.errors import DataError
from nmt.evaluation.measurement import score
from nmt.evaluation.metrics import fold_width
from nmt.evaluation.significance import compare


def test_bleu_width_compares_folded_texts() -> None:
    [width] = compare(BAD, GOOD, [REFERENCES], ["bleu_width"])
    folded = [[fold_width(line) for line in side] for side in (BAD, GOOD, REFERENCES)]
    [plain] = compare(folded[0], folded[1], [folded[2]], ["bleu"])
    assert (width.value, width.baseline, width.p_value) == (
        plain.value,
        plain.baseline,
        plain.p_value,
    )


def test_a_comparison_holds_the_same_values_as_the_scores() -> None:
    ours, theirs = score(BAD, [REFERENCES], OUR_METRICS), score(GOOD, [REFERENCES], OUR_METRICS)
    for comparison, system, baseline in zip(
        compare(BAD, GOOD, [REFERENCES], OUR_METRICS), ours, theirs, strict=True
    ):
        assert (comparison.metric, comparison.value) == (system.metric, system.value)
        assert comparison.baseline == baseline.value
        assert comparison.difference == pytest.approx(system.value - baseline.value)


def test_a_system_equals_itself_without_significance() -> None:
    for found in compare(GOOD, GOOD, [REFERENCES], OUR_METRICS):
        assert (found.difference, found.p_value) == (0, 1)
        assert not found.is_worse


def test_a_large_loss_is_significant_in_every_metric_and_its_mirror_is_a_gain() -> None:
    for loss, gain in zip(
        compare(BAD, GOOD, [REFERENCES], OUR_METRICS),
        compare(GOOD, BAD, [REFERENCES], OUR_METRICS),
        strict=True,
    ):
        assert loss.is_significant
        assert loss.is_worse
        assert not gain.is_worse
        assert gain.difference == -loss.difference
        assert gain.p_value == loss.p_value


def test_chance_alone_seldom_makes_a_system_significantly_worse() -> None:
    draws = [spoilt(REFERENCES, 0.2, seed) for seed in range(10, 41)]
    found = [compare(ours, theirs, [REFERENCES], ["bleu"])[0] for ours, theirs in pairwise(draws)]
    # 30 trials at the level 0.05: six or more would happen once in 300 times
    assert sum(c.is_worse and c.is_significant for c in found) < 6


def test_comparing_twice_gives_the_same_numbers() -> None:
    assert compare(EQUAL, GOOD, [REFERENCES], ["chrf"]) == compare(
        EQUAL, GOOD, [REFERENCES], ["chrf"]
    )


@pytest.mark.parametrize("lines", [[""], ["我"], ["OK"]])
def test_one_line_can_be_compared(lines: list[str]) -> None:
    assert len(compare(lines, ["我喝茶。"], [["我喝茶。"]], OUR_METRICS)) == len(OUR_METRICS)


def test_nothing_is_printed_by_a_comparison(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING"):
        compare(BAD, GOOD, [REFERENCES], OUR_METRICS)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def test_a_baseline_of_another_length_is_an_error_that_names_both_counts() -> None:
    with pytest.raises(DataError, match="59 lines of baseline but 60 of reference"):
        compare(BAD, GOOD[1:], [REFERENCES], ["bleu"])
