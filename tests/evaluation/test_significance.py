from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from made_systems import BAD, EQUAL, GOOD, REFERENCES, sentences, spoilt
from sentences import OUR_METRICS

from nmt.errors import DataError
from nmt.evaluation.annotations import SegmentScores
from nmt.evaluation.measurement import Measurement, measure, measure_segments, score
from nmt.evaluation.metrics import fold_width
from nmt.evaluation.results import SIGNIFICANT, USUAL_TEST, PairedTest
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


def marked(measured: Iterable[Measurement], test: PairedTest = USUAL_TEST) -> float:
    """The share of measurements of two systems whose difference is called significant."""
    return float(np.mean([each.p_values(test)[0, 1] < SIGNIFICANT for each in measured]))


def segments_that_differ_by_chance(seed: int) -> Measurement:
    chance = np.random.default_rng(seed)
    lines = chance.normal(0.8, 0.1, 100)
    columns = {name: list(lines + chance.normal(0, 0.05, 100)) for name in ("ours", "theirs")}
    return measure_segments(SegmentScores("comet", columns))


def test_of_pairs_that_do_not_differ_one_in_twenty_is_marked() -> None:
    measured = [segments_that_differ_by_chance(seed) for seed in range(400)]
    assert 0.03 <= marked(measured) <= 0.07
    assert marked(measured, "bootstrap") > 0.08  # as the guide says


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["bleu", "bleu_width", "chrf", "ter"])
def test_so_it_is_by_every_metric(metric: str) -> None:
    references = sentences(100, seed=5)
    pairs = [
        {
            name: spoilt(references, 0.2, 1000 + 2 * number + number_of)
            for number_of, name in enumerate("ab")
        }
        for number in range(400)
    ]
    assert 0.03 <= marked(measure(metric, pair, [references]) for pair in pairs) <= 0.07
