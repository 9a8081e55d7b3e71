import json
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from nmt.errors import ConfigError, DataError, GateError, UserError
from nmt.evaluate.metrics import METRICS, Score, by_metric, fold_width, score
from nmt.evaluate.significance import (
    Comparison,
    append_history,
    check_gate,
    compare,
    format_comparisons,
    parse_floors,
)

CHARACTERS = "我你他她们的是不在有这那一二三人来去说看想吃喝茶饭水天地日月山，"


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        "".join(chance.choices(CHARACTERS, k=chance.randint(6, 14))) + "。" for _ in range(count)
    ]


def spoilt(lines: list[str], rate: float, seed: int) -> list[str]:
    """A system that gets each character wrong with probability `rate`."""
    chance = random.Random(seed)
    return [
        "".join(chance.choice("错误坏") if chance.random() < rate else c for c in line)
        for line in lines
    ]


REFERENCES = sentences(60, seed=1)
GOOD = spoilt(REFERENCES, 0.2, seed=2)
EQUAL = spoilt(REFERENCES, 0.2, seed=3)
BAD = spoilt(REFERENCES, 0.4, seed=4)


def sacrebleu_paired(folder, system, baseline, references, *options) -> list[float]:
    """Baseline's score, system's score and p-value as the `sacrebleu` command prints them, to 4 digits."""
    for name, text in (("base", baseline), ("sys", system), ("ref", references)):
        (folder / name).write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    # not `-f json`: it fails for chrF and TER in sacrebleu 2.6
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        "ref",
        "-i",
        "base",
        "sys",
        "--paired-bs",
        "-f",
        "latex",
    ]
    done = subprocess.run(
        [*command, "-w", "4", *options], cwd=folder, check=True, capture_output=True, text=True
    )
    return [float(number) for number in re.findall(r"(?:& +|p = )(\d+\.\d{4})", done.stdout)]


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("bleu", ["-m", "bleu", "-tok", "zh"]),
        ("chrf", ["-m", "chrf"]),
        ("ter", ["-m", "ter", "--ter-asian-support", "--ter-normalized"]),
    ],
)
@pytest.mark.parametrize("system", [EQUAL, BAD])
def test_scores_and_p_value_are_those_of_the_sacrebleu_command(metric, options, system, tmp_path):
    [ours] = compare(system, GOOD, REFERENCES, [metric])
    printed = [float(f"{number:.4f}") for number in (ours.baseline, ours.value, ours.p_value)]
    assert printed == sacrebleu_paired(tmp_path, system, GOOD, REFERENCES, *options)


def test_bleu_width_compares_folded_texts():
    [width] = compare(BAD, GOOD, REFERENCES, ["bleu_width"])
    folded = [[fold_width(line) for line in side] for side in (BAD, GOOD, REFERENCES)]
    [plain] = compare(*folded, ["bleu"])
    assert (width.value, width.baseline, width.p_value) == (
        plain.value,
        plain.baseline,
        plain.p_value,
    )


def test_a_comparison_holds_the_same_values_as_the_scores():
    ours, theirs = score(BAD, REFERENCES, METRICS), score(GOOD, REFERENCES, METRICS)
    for comparison, system, baseline in zip(
        compare(BAD, GOOD, REFERENCES, METRICS), ours, theirs, strict=True
    ):
        assert (comparison.metric, comparison.value) == (system.metric, system.value)
        assert comparison.baseline == baseline.value
        assert comparison.difference == pytest.approx(system.value - baseline.value)


def test_a_system_equals_itself_without_significance():
    for found in compare(GOOD, GOOD, REFERENCES, METRICS):
        assert (found.difference, found.p_value) == (0, 1)
        assert not found.is_worse


def test_a_large_loss_is_significant_in_every_metric_and_its_mirror_is_a_gain():
    for loss, gain in zip(
        compare(BAD, GOOD, REFERENCES, METRICS),
        compare(GOOD, BAD, REFERENCES, METRICS),
        strict=True,
    ):
        assert loss.is_significant
        assert loss.is_worse
        assert not gain.is_worse
        assert gain.difference == -loss.difference
        assert gain.p_value == loss.p_value


def test_chance_alone_seldom_makes_a_system_significantly_worse():
    draws = [spoilt(REFERENCES, 0.2, seed) for seed in range(10, 41)]
    found = [compare(ours, theirs, REFERENCES, ["bleu"])[0] for ours, theirs in pairwise(draws)]
    # 30 trials at the level 0.05: six or more would happen once in 300 times
    assert sum(c.is_worse and c.is_significant for c in found) < 6


def test_comparing_twice_gives_the_same_numbers():
    assert compare(EQUAL, GOOD, REFERENCES, ["chrf"]) == compare(EQUAL, GOOD, REFERENCES, ["chrf"])


@pytest.mark.parametrize("lines", [[""], ["我"], ["OK"]])
def test_one_line_can_be_compared(lines):
    assert len(compare(lines, ["我喝茶。"], ["我喝茶。"], METRICS)) == len(METRICS)


def test_nothing_is_printed_by_a_comparison(capfd, caplog):
    with caplog.at_level("WARNING"):
        compare(BAD, GOOD, REFERENCES, METRICS)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def test_a_baseline_of_another_length_is_an_error_that_names_both_counts():
    with pytest.raises(DataError, match="59 lines of baseline but 60 of reference"):
        compare(BAD, GOOD[1:], REFERENCES, ["bleu"])


def test_the_table_says_difference_and_significance():
    comparisons = [
        Comparison("bleu", 20, 30, -10, 0.001, ""),
        Comparison("chrf", 31, 30, 1, 0.4, ""),
    ]
    assert format_comparisons(comparisons).split("\n") == [
        "bleu       -10.00  (20.00 against 30.00)  p = 0.0010, significant",
        "chrf        +1.00  (31.00 against 30.00)  p = 0.4000, not significant",
    ]


def test_floors_are_read():
    assert parse_floors(["bleu=20", " chrf = 15.5 "]) == {"bleu": 20, "chrf": 15.5}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["blue=20"], "unknown metric 'blue'; did you mean 'bleu'"),
        (["bleu"], "'bleu' is no bar; write METRIC=X, such as bleu=20"),
        (["bleu=high"], "'bleu=high': 'high' is not a number"),
        (["chrf=nan"], "'nan' is not a number; write METRIC=X, such as chrf=20"),
        (["bleu="], "'' is not a number"),
        (["bleu=20", "bleu=30"], "'bleu=30': bleu already has the bar 20"),
    ],
)
def test_a_floor_that_cannot_be_read_is_explained(texts, message):
    with pytest.raises(ConfigError, match=message):
        parse_floors(texts)


def scored(**values: float) -> list[Score]:
    return [Score(metric, value, value, value, "") for metric, value in values.items()]


def test_the_gate_opens_where_every_bar_holds():
    worse_by_chance = Comparison("bleu", 20, 21, -1, 0.2, "")
    better = Comparison("bleu", 20, 10, 10, 0.001, "")
    check_gate(scored(bleu=20, ter=60), {"bleu": 20, "ter": 60}, [worse_by_chance, better])


def test_the_gate_names_everything_that_does_not_hold():
    lost = Comparison("chrf", 10, 15, -5, 0.001, "")
    with pytest.raises(GateError) as caught:
        check_gate(scored(bleu=19.5, chrf=10, ter=70), {"bleu": 20, "chrf": 5, "ter": 60}, [lost])
    assert str(caught.value) == (
        "bleu 19.5000 is under 20; ter 70.0000 is over 60; "
        "chrf 10.0000 is significantly worse than the baseline's 15.0000 (p = 0.0010)"
    )


def test_a_rise_of_ter_is_a_loss():
    with pytest.raises(GateError, match=r"ter 70\.0000 is significantly worse"):
        check_gate([], {}, [Comparison("ter", 70, 60, 10, 0.001, "")])
    check_gate([], {}, [Comparison("ter", 60, 70, -10, 0.001, "")])


def test_a_bar_on_a_metric_that_was_not_measured_is_a_mistake():
    with pytest.raises(ConfigError, match="ter has the bar 60 but was not measured"):
        check_gate(scored(bleu=20), {"ter": 60})


def test_history_keeps_earlier_lines_and_stamps_each(tmp_path):
    path = tmp_path / "deep" / "history.jsonl"
    scores = {"scores": by_metric(scored(bleu=20))}
    append_history(path, {"model": "甲\n", **scores})
    append_history(path, {"model": "乙"})
    first, second = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (first["model"], second["model"]) == ("甲\n", "乙")
    assert first["scores"]["bleu"]["value"] == 20
    age = datetime.now(UTC) - datetime.fromisoformat(first["time"])
    assert timedelta(0) <= age < timedelta(minutes=1)


def test_histories_written_at_once_do_not_mix(tmp_path):
    path = tmp_path / "history.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_history(path, {"n": n, "pad": "长" * 500}), range(40)))
    found = [json.loads(line)["n"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(found) == list(range(40))


def test_a_history_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        UserError, match=r"history: cannot append the scores \(.*change evaluate.history"
    ):
        append_history(tmp_path / "file" / "history", {})
