import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentences import HYPOTHESES, OUR_METRICS, REFERENCES

from nmt.errors import ConfigError, DataError
from nmt.evaluation.measurement import score
from nmt.evaluation.metrics import fold_width
from nmt.evaluation.results import Score

CLI_OPTIONS = {
    "bleu": ["-m", "bleu", "-tok", "zh"],
    "chrf": ["-m", "chrf"],
    "chrf++": ["-m", "chrf", "--chrf-word-order", "2"],
    "ter": ["-m", "ter", "--ter-asian-support", "--ter-normalized"],
}

lines = st.text(alphabet='我你他喝茶abc 12，。,.！!“”"…—-', max_size=12)
pairs = st.lists(st.tuples(lines, lines), min_size=1, max_size=6)


def sacrebleu_command(
    folder: Path,
    hypotheses: list[str],
    references: list[str],
    *options: str,
    **environment: str,
) -> dict[str, Any]:
    """The JSON that the `sacrebleu` command prints: an oracle that shares no code with ours but sacrebleu."""
    for name, text in (("hyp", hypotheses), ("ref", references)):
        (folder / name).write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        "ref",
        "-i",
        "hyp",
        *options,
        "-w",
        "4",
        "--confidence",
    ]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, env={**os.environ, **environment}
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def half_width(found: Score) -> float:
    return (found.high - found.low) / 2


@pytest.mark.parametrize("metric", CLI_OPTIONS)
def test_value_interval_and_signature_are_those_of_the_sacrebleu_command(
    metric: str, tmp_path: Path
) -> None:
    [ours] = score(HYPOTHESES, [REFERENCES], [metric])
    theirs = sacrebleu_command(tmp_path, HYPOTHESES, REFERENCES, *CLI_OPTIONS[metric])

    assert float(f"{ours.value:.4f}") == theirs["score"]
    assert (ours.low + ours.high) / 2 == pytest.approx(theirs["confidence_mean"], abs=1e-3)
    assert half_width(ours) == pytest.approx(theirs["confidence_var"], abs=1e-4)
    assert ours.signature == theirs["signature"]


def test_the_language_pair_chooses_our_tokenizer_in_the_sacrebleu_command(tmp_path: Path) -> None:
    [ours] = score(HYPOTHESES, [REFERENCES], ["bleu"])
    theirs = sacrebleu_command(tmp_path, HYPOTHESES, REFERENCES, "-m", "bleu", "-l", "en-zh")
    assert float(f"{ours.value:.4f}") == theirs["score"]


def test_bleu_width_is_the_sacrebleu_commands_bleu_of_folded_files(tmp_path: Path) -> None:
    [ours] = score(HYPOTHESES, [REFERENCES], ["bleu_width"])
    folded = [[fold_width(line) for line in side] for side in (HYPOTHESES, REFERENCES)]
    theirs = sacrebleu_command(tmp_path, *folded, *CLI_OPTIONS["bleu"])

    assert float(f"{ours.value:.4f}") == theirs["score"]
    assert ours.signature.replace("|width:folded", "") == theirs["signature"]
    assert "|width:folded" in ours.signature


def test_the_seed_of_the_environment_is_the_one_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = sacrebleu_command(
        tmp_path, HYPOTHESES, REFERENCES, *CLI_OPTIONS["bleu"], SACREBLEU_SEED="7"
    )
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    [ours] = score(HYPOTHESES, [REFERENCES], ["bleu"])

    assert half_width(ours) == pytest.approx(theirs["confidence_var"], abs=1e-4)
    assert "seed:7" in ours.signature


def test_scoring_twice_gives_the_same_numbers() -> None:
    assert score(HYPOTHESES, [REFERENCES], OUR_METRICS) == score(
        HYPOTHESES, [REFERENCES], OUR_METRICS
    )


def test_the_value_lies_in_its_interval() -> None:
    for found in score(HYPOTHESES, [REFERENCES], OUR_METRICS):
        assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("metric", "perfect"), [("bleu", 100), ("bleu_width", 100), ("chrf", 100), ("ter", 0)]
)
def test_a_copy_of_the_reference_is_perfect(metric: str, perfect: float) -> None:
    [found] = score(REFERENCES, [REFERENCES], [metric])
    assert (found.value, found.low, found.high) == pytest.approx((perfect, perfect, perfect))


def test_bleu_width_forgives_the_setting_of_punctuation_and_bleu_does_not() -> None:
    ascii_set = [
        line.replace("，", ", ").replace("。", ".").replace("？", " ?") for line in REFERENCES
    ]
    bleu, bleu_width = score(ascii_set, [REFERENCES], ["bleu", "bleu_width"])
    assert bleu.value < 90
    assert bleu_width.value == pytest.approx(100)


@settings(max_examples=15, deadline=None)
@example([("1-1—", "1-1—")])  # BLEU in float64 is 100 and a hair
@given(pairs)
def test_any_text_gives_an_ordered_interval_within_the_metrics_range(
    texts: list[tuple[str, str]],
) -> None:
    hypotheses, references = zip(*texts, strict=True)
    for found in score(hypotheses, [references], OUR_METRICS):
        assert 0 <= found.low <= found.value <= found.high
        assert found.metric == "ter" or found.high <= 100


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(len(REFERENCES))))
def test_the_order_of_pairs_changes_no_value(order: list[int]) -> None:
    shuffled = score(
        [HYPOTHESES[i] for i in order], [[REFERENCES[i] for i in order]], ["bleu", "chrf"]
    )
    straight = score(HYPOTHESES, [REFERENCES], ["bleu", "chrf"])
    assert [s.value for s in shuffled] == pytest.approx([s.value for s in straight])


@pytest.mark.parametrize("line", ["我喜欢喝茶。", "好", "OK", ""])
def test_one_line_has_an_interval_without_width(line: str) -> None:
    for found in score([line], [["我喜欢喝茶。"]], OUR_METRICS):
        assert found.low == pytest.approx(found.value, abs=1e-3)
        assert found.high == pytest.approx(found.value, abs=1e-3)


def test_a_metric_that_is_0_in_some_resamples_has_an_interval() -> None:
    for found in score(["我每天喝茶。", "xyz"], [["我每天喝茶。", "abcd"]], OUR_METRICS):
        assert found.low < found.high


def test_sacrebleu_stays_quiet_where_many_lines_end_in_a_spaced_full_stop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        score(["tea ."] * 120, [["tea."] * 120], ["bleu", "bleu_width"])
    assert caplog.text == ""


def test_a_wrong_count_of_lines_is_an_error_that_names_both() -> None:
    with pytest.raises(
        DataError,
        match=r"9 lines of hypothesis but 10 lines of reference.*line n translates line n",
    ):
        score(HYPOTHESES[:9], [REFERENCES], ["bleu"])
    with pytest.raises(DataError, match=r"1 line of hypothesis but 10 lines of reference"):
        score(HYPOTHESES[:1], [REFERENCES], ["bleu"])
    with pytest.raises(DataError, match="0 lines; give files"):
        score([], [[]], ["bleu"])


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("blue", "did you mean 'bleu'"),
        ("CHRF", "did you mean 'chrf'"),
        ("x", "choose from bleu, bleu_width"),
    ],
)
def test_an_unknown_metric_is_answered_with_the_nearest(name: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=fix):
        score(HYPOTHESES, [REFERENCES], [name])


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("你好，世界！", "你好,世界!"),
        ("你好 , 世界 !", "你好,世界!"),
        ("（是）：不是；真的？", "(是):不是;真的?"),
        ("“好”和‘坏’", "\"好\"和'坏'"),
        ("等等……", "等等..."),
        ("等等。。。", "等等..."),
        ("我——不——去", "我--不--去"),
        ("１２％ ＡＢ", "12%AB"),
        ("《茶馆》、「茶」", "《茶馆》、「茶」"),
        ("我用 Python 写 3.5 行", "我用 Python 写 3.5 行"),
        ("一 二\u3000三", "一 二\u3000三"),
    ],
)
def test_folding_rewrites_exactly_what_it_documents(text: str, folded: str) -> None:
    assert fold_width(text) == folded


@given(st.text(alphabet="我a1 \u3000，。．.…—―-！“’（、"))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_width(fold_width(text)) == fold_width(text)


@given(st.text(alphabet="我a1 ,.!?:;()%\"'-"))
def test_folding_forgets_the_width(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c in ",.!?:;()%" else c for c in text)
    assert fold_width(wide) == fold_width(text)
