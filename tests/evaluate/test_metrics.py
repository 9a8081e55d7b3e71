import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.errors import ConfigError, DataError
from nmt.evaluate.evaluation import evaluate
from nmt.evaluate.metrics import (
    METRICS,
    Score,
    by_metric,
    check_hypotheses,
    fold_width,
    format_scores,
    score,
    segmented_share,
)

REFERENCES = [
    "我每天早上喝一杯热茶。",
    "你知道去火车站怎么走吗？",
    "她说：“明天会下雨，别忘了带伞。”",
    "这本书我已经读了三遍。",
    "他们在公园里等了两个小时。",
    "请把窗户关上，外面太吵了！",
    "我弟弟想学习Python和法语。",
    "会议从9:30开始，大约持续1.5个小时。",
    "冰箱里没有牛奶了……",
    "谢谢你的帮助。",
]
HYPOTHESES = [
    "我每天早晨喝一杯茶。",
    "你知道怎么去火车站吗?",
    "她说: “明天要下雨，不要忘记带伞.”",
    "我已经读过这本书三遍了。",
    "他们在公园等了两小时。",
    "请关上窗户, 外面太吵了!",
    "我的弟弟想学 Python 和法语。",
    "会议9:30开始, 持续大约1.5小时。",
    "冰箱里没有牛奶了...",
    "谢谢你的帮助。",
]
CLI_OPTIONS = {
    "bleu": ["-m", "bleu", "-tok", "zh"],
    "chrf": ["-m", "chrf"],
    "ter": ["-m", "ter", "--ter-asian-support", "--ter-normalized"],
}

lines = st.text(alphabet='我你他喝茶abc 12，。,.！!“”"…—-', max_size=12)
pairs = st.lists(st.tuples(lines, lines), min_size=1, max_size=6)


def sacrebleu_command(folder: Path, hypotheses, references, *options, **environment):
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
    return json.loads(done.stdout)


def half_width(found: Score) -> float:
    return (found.high - found.low) / 2


@pytest.mark.parametrize("metric", CLI_OPTIONS)
def test_value_interval_and_signature_are_those_of_the_sacrebleu_command(metric, tmp_path):
    [ours] = score(HYPOTHESES, REFERENCES, [metric])
    theirs = sacrebleu_command(tmp_path, HYPOTHESES, REFERENCES, *CLI_OPTIONS[metric])

    assert float(f"{ours.value:.4f}") == theirs["score"]
    assert (ours.low + ours.high) / 2 == pytest.approx(theirs["confidence_mean"], abs=1e-3)
    assert half_width(ours) == pytest.approx(theirs["confidence_var"], abs=1e-4)
    assert ours.signature == theirs["signature"]


def test_the_language_pair_chooses_our_tokenizer_in_the_sacrebleu_command(tmp_path):
    [ours] = score(HYPOTHESES, REFERENCES, ["bleu"])
    theirs = sacrebleu_command(tmp_path, HYPOTHESES, REFERENCES, "-m", "bleu", "-l", "en-zh")
    assert float(f"{ours.value:.4f}") == theirs["score"]


def test_bleu_width_is_the_sacrebleu_commands_bleu_of_folded_files(tmp_path):
    [ours] = score(HYPOTHESES, REFERENCES, ["bleu_width"])
    folded = [[fold_width(line) for line in side] for side in (HYPOTHESES, REFERENCES)]
    theirs = sacrebleu_command(tmp_path, *folded, *CLI_OPTIONS["bleu"])

    assert float(f"{ours.value:.4f}") == theirs["score"]
    assert ours.signature.replace("|width:folded", "") == theirs["signature"]
    assert "|width:folded" in ours.signature


def test_the_seed_of_the_environment_is_the_one_used(tmp_path, monkeypatch):
    theirs = sacrebleu_command(
        tmp_path, HYPOTHESES, REFERENCES, *CLI_OPTIONS["bleu"], SACREBLEU_SEED="7"
    )
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    [ours] = score(HYPOTHESES, REFERENCES, ["bleu"])

    assert half_width(ours) == pytest.approx(theirs["confidence_var"], abs=1e-4)
    assert "seed:7" in ours.signature


def test_scoring_twice_gives_the_same_numbers():
    assert score(HYPOTHESES, REFERENCES, METRICS) == score(HYPOTHESES, REFERENCES, METRICS)


def test_the_value_lies_in_its_interval():
    for found in score(HYPOTHESES, REFERENCES, METRICS):
        assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("metric", "perfect"), [("bleu", 100), ("bleu_width", 100), ("chrf", 100), ("ter", 0)]
)
def test_a_copy_of_the_reference_is_perfect(metric, perfect):
    [found] = score(REFERENCES, REFERENCES, [metric])
    assert (found.value, found.low, found.high) == pytest.approx((perfect, perfect, perfect))


def test_bleu_width_forgives_the_setting_of_punctuation_and_bleu_does_not():
    ascii_set = [
        line.replace("，", ", ").replace("。", ".").replace("？", " ?") for line in REFERENCES
    ]
    bleu, bleu_width = score(ascii_set, REFERENCES, ["bleu", "bleu_width"])
    assert bleu.value < 90
    assert bleu_width.value == pytest.approx(100)


@settings(max_examples=15, deadline=None)
@given(pairs)
def test_any_text_gives_an_ordered_interval_within_the_metrics_range(texts):
    hypotheses, references = zip(*texts, strict=True)
    for found in score(hypotheses, references, METRICS):
        assert 0 <= found.low <= found.high
        assert found.value >= 0
        assert found.metric == "ter" or found.high <= 100


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(len(REFERENCES))))
def test_the_order_of_pairs_changes_no_value(order):
    shuffled = score(
        [HYPOTHESES[i] for i in order], [REFERENCES[i] for i in order], ["bleu", "chrf"]
    )
    straight = score(HYPOTHESES, REFERENCES, ["bleu", "chrf"])
    assert [s.value for s in shuffled] == pytest.approx([s.value for s in straight])


@pytest.mark.parametrize("line", ["我喜欢喝茶。", "好", "OK", ""])
def test_one_line_has_an_interval_without_width(line):
    for found in score([line], ["我喜欢喝茶。"], METRICS):
        assert found.low == pytest.approx(found.value, abs=1e-3)
        assert found.high == pytest.approx(found.value, abs=1e-3)


def test_a_metric_that_is_0_in_some_resamples_has_an_interval():
    for found in score(["我每天喝茶。", "xyz"], ["我每天喝茶。", "abcd"], METRICS):
        assert found.low < found.high


def test_sacrebleu_stays_quiet_where_many_lines_end_in_a_spaced_full_stop(caplog):
    with caplog.at_level(logging.WARNING):
        score(["tea ."] * 120, ["tea."] * 120, ["bleu", "bleu_width"])
    assert caplog.text == ""


@pytest.mark.parametrize("check", [check_hypotheses, lambda h, r: score(h, r, ["bleu"])])
def test_a_wrong_count_of_lines_is_an_error_that_names_both(check):
    with pytest.raises(
        DataError, match=r"9 lines of hypothesis but 10 lines of reference.*line-aligned"
    ):
        check(HYPOTHESES[:9], REFERENCES)
    with pytest.raises(DataError, match="0 lines; give files"):
        check([], [])


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("blue", "did you mean 'bleu'"),
        ("CHRF", "did you mean 'chrf'"),
        ("x", "choose from bleu, bleu_width"),
    ],
)
def test_an_unknown_metric_is_answered_with_the_nearest(name, mend):
    with pytest.raises(ConfigError, match=mend):
        score(HYPOTHESES, REFERENCES, [name])


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
def test_folding_rewrites_exactly_what_it_documents(text, folded):
    assert fold_width(text) == folded


@given(st.text(alphabet="我a1 \u3000，。．.…—―-！“’（、"))
def test_folding_twice_is_folding_once(text):
    assert fold_width(fold_width(text)) == fold_width(text)


@given(st.text(alphabet="我a1 ,.!?:;()%\"'-"))
def test_folding_forgets_the_width(text):
    wide = "".join(chr(ord(c) + 0xFEE0) if c in ",.!?:;()%" else c for c in text)
    assert fold_width(wide) == fold_width(text)


def test_segmented_lines_are_told_from_plain_ones():
    segmented = [" ".join(jieba.cut(line)) for line in REFERENCES]
    assert segmented_share(REFERENCES) == 0
    assert segmented_share(segmented) == 1
    assert segmented_share([" ".join(line) for line in REFERENCES]) == 1
    assert segmented_share(segmented[:5] + REFERENCES[5:]) == 0.5
    assert segmented_share(["only English words here", "", "我"]) == 0
    assert segmented_share(["我用 Python 和 PyTorch 写程序。"]) == 0


def test_a_segmented_hypothesis_is_an_error_and_not_a_number():
    segmented = [" ".join(line) for line in HYPOTHESES]
    with pytest.raises(
        DataError, match=r"100% of the hypothesis lines are segmented.*join the Chinese tokens"
    ):
        check_hypotheses(segmented, REFERENCES)


def test_references_segmented_alike_excuse_a_segmented_hypothesis():
    segmented = [[" ".join(line) for line in side] for side in (HYPOTHESES, REFERENCES)]
    assert check_hypotheses(*segmented) == []


@pytest.mark.parametrize(
    ("hypotheses", "warning"),
    [
        (
            ["我 喝 茶 。", "他 走 了 。", *HYPOTHESES[2:]],
            "20% of the hypothesis lines are segmented",
        ),
        (
            [*HYPOTHESES[:4], " ", *HYPOTHESES[5:9], ""],
            "2 of 10 lines of hypothesis are blank, first line 5",
        ),
        (
            ["I drink tea."] * 3 + HYPOTHESES[3:],
            "3 of 10 lines of hypothesis have no Chinese character",
        ),
        (REFERENCES, "are the same text"),
    ],
)
def test_a_doubtful_hypothesis_gives_one_warning(hypotheses, warning):
    [found] = check_hypotheses(hypotheses, REFERENCES)
    assert warning in found


def test_a_sound_hypothesis_gives_no_warning():
    assert check_hypotheses(HYPOTHESES, REFERENCES) == []


def test_the_table_has_one_line_a_metric_with_value_interval_and_signature():
    table = format_scores(
        [Score("bleu", 37.256, 36.1, 38.4, "tok:zh"), Score("chrf", 100, 100, 100, "nc:6")]
    )
    assert [line.split() for line in table.split("\n")] == [
        ["bleu", "37.26", "[36.10,", "38.40]", "tok:zh"],
        ["chrf", "100.00", "[100.00,", "100.00]", "nc:6"],
    ]


def test_json_holds_scores_by_metric_beside_what_else_is_known():
    scores = score(HYPOTHESES, REFERENCES, ["bleu", "chrf"])
    record = evaluate(
        HYPOTHESES, REFERENCES, None, ["bleu", "chrf"], {"model": "runs/x"}, None
    ).as_json()
    assert record["model"] == "runs/x"
    assert json.loads(json.dumps(record))["scores"] == by_metric(scores)
    assert record["scores"]["bleu"] == {
        "value": scores[0].value,
        "low": scores[0].low,
        "high": scores[0].high,
        "signature": scores[0].signature,
    }
