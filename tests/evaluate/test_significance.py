import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from sentences import OUR_METRICS

from nmt.errors import DataError
from nmt.evaluate.measurement import score
from nmt.evaluate.metrics import fold_width
from nmt.evaluate.significance import compare

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


def sacrebleu_paired(
    folder: Path, system: list[str], baseline: list[str], references: list[str], *options: str
) -> list[float]:
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
        ("chrf++", ["-m", "chrf", "--chrf-word-order", "2"]),
        ("ter", ["-m", "ter", "--ter-asian-support", "--ter-normalized"]),
    ],
)
@pytest.mark.parametrize("system", [EQUAL, BAD])
def test_scores_and_p_value_are_those_of_the_sacrebleu_command(
    metric: str, options: list[str], system: list[str], tmp_path: Path
) -> None:
    [ours] = compare(system, GOOD, [REFERENCES], [metric])
    printed = [float(f"{number:.4f}") for number in (ours.baseline, ours.value, ours.p_value)]
    assert printed == sacrebleu_paired(tmp_path, system, GOOD, REFERENCES, *options)


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
