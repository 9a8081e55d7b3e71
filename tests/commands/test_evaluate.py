"""nmt evaluate, as a user types it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import invoke
from conftest import run_nmt
from real_data import FOLDER as REAL
from real_data import needs_real_data

from nmt.run import checkpoint
from nmt.run.folder import RunDir


def test_evaluating_a_model_equals_the_sacrebleu_command(trained: RunDir, tmp_path: Path) -> None:
    output = tmp_path / "out.zh"
    done = run_nmt(
        "evaluate",
        "--model",
        trained.path,
        "--json",
        "--output",
        output,
        "--history",
        tmp_path / "h.jsonl",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    reference = trained.text("test", "zh")
    oracle = subprocess.run(
        [
            sys.executable,
            "-m",
            "sacrebleu",
            str(reference),
            "-i",
            str(output),
            "-m",
            "bleu",
            "-tok",
            "zh",
            "-w",
            "4",
            "-b",
        ],
        capture_output=True,
        check=True,
        text=True,
    )
    assert round(result["scores"]["bleu"]["value"], 4) == float(oracle.stdout)
    assert result["model"] == str(trained.path)
    best = checkpoint.best(trained)
    assert best is not None
    assert result["checkpoint"] == best.name
    assert result["step"] == checkpoint.read_meta(best).update
    assert result["lines"] == 20
    assert result["search"]["beam_size"] == 2
    history = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert [record["scores"] for record in history] == [result["scores"]]


def test_the_gate_holds_or_exits_4(tmp_path: Path) -> None:
    reference, good, bad = tmp_path / "ref.zh", tmp_path / "good.zh", tmp_path / "bad.zh"
    lines = [f"我有{n}本书，他有{n + 1}本书。" for n in range(40)]
    reference.write_text("".join(line + "\n" for line in lines))
    good.write_text("".join(line.replace("他", "她") + "\n" for line in lines))
    bad.write_text("".join(line[:4] + "\n" for line in lines))
    common = ["evaluate", "--ref", reference, "--hyp"]
    assert (
        invoke(
            *common, good, "--fail-under", "bleu=50", "--baseline", bad, "--fail-below-baseline"
        ).exit_code
        == 0
    )
    failed = invoke(
        *common, bad, "--fail-under", "bleu=50", "--baseline", good, "--fail-below-baseline"
    )
    assert failed.exit_code == 4
    assert "bleu" in failed.stderr
    short = tmp_path / "short.zh"
    short.write_text("我。\n")
    assert invoke(*common, short).exit_code == 3


def test_a_baseline_of_another_length_is_refused_before_anything_is_translated(
    tmp_path: Path,
) -> None:
    (tmp_path / "short.zh").write_text("我。\n")
    (tmp_path / "in.en").write_text("One.\nTwo.\n")
    (tmp_path / "ref.zh").write_text("一。\n二。\n")
    output = tmp_path / "out.zh"
    files = ["--src", tmp_path / "in.en", "--ref", tmp_path / "ref.zh"]
    baseline = ["--baseline", tmp_path / "short.zh"]
    done = invoke("evaluate", "-m", RUN, *files, *baseline, "-o", output)
    assert done.exit_code == 3
    assert "1 line of baseline but" in done.stderr
    assert "nmt: model" not in done.stderr
    assert not output.exists()


RUN = Path(__file__).parents[1] / "compatibility" / "0.1.0" / "run"


def test_search_options_are_those_of_translate_and_are_recorded(tmp_path: Path) -> None:
    options = ["--beam-size", 1, "--typography", "off", "--verify", "flag"]
    output, history = tmp_path / "out.zh", tmp_path / "history"
    history.write_text('{"time": "2026-01-01T00:00:00+00:00", "scores": {}}\n')
    done = invoke("evaluate", "-m", RUN, *options, "-o", output, "--json", "--history", history)
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    settings = {name: record["search"][name] for name in ("beam_size", "typography", "verify")}
    assert settings == {"beam_size": 1, "typography": "off", "verify": "flag"}
    translated = invoke("translate", "-m", RUN, *options, "-i", RUN / "data" / "test.en")
    assert translated.stdout_bytes == output.read_bytes()
    old, new = map(json.loads, history.read_text().splitlines())
    assert old["scores"] == {}
    assert new["search"] == record["search"]
    quiet = invoke("evaluate", "-m", RUN, *options, "-o", "-", "-q")
    assert quiet.stdout_bytes == output.read_bytes()
    assert not Path("-").exists()


def test_a_hypothesis_comes_from_stdin(tmp_path: Path) -> None:
    text = "我有两本书，他有三本书。\n今天天气很好。\n"
    (tmp_path / "ref.zh").write_text(text)
    done = run_nmt("evaluate", "--hyp", "-", "--ref", tmp_path / "ref.zh", "--json", stdin=text)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["scores"]["bleu"]["value"] == pytest.approx(100)
    assert (record["hypothesis"], record["lines"]) == ("-", 2)


def test_test_lines_that_the_run_was_trained_on_are_a_doubt(
    trained: RunDir, tmp_path: Path
) -> None:
    train = {}
    for language in ("en", "zh"):
        lines = trained.text("train", language).read_text("utf-8").splitlines()[:30]
        test = trained.text("test", language).read_text("utf-8").splitlines()[:2]
        train[language] = tmp_path / f"seen.{language}"
        train[language].write_text("".join(f"{line}\n" for line in [*test, *lines]), "utf-8")
    common = ["evaluate", "-m", trained.path, "--beam-size", 1, "--json"]
    seen = invoke(*common, "--src", train["en"], "--ref", train["zh"])
    record = json.loads(seen.stdout)
    assert 0 < record["lines_in_train"] < 30  # the short ones are not counted
    [doubt] = [warning for warning in record["warnings"] if "trained on" in warning]
    assert f"{record['lines_in_train']} of 32 test lines are in the text" in doubt
    assert f"warning: {doubt}" in seen.stderr
    own = json.loads(invoke(*common).stdout)
    assert (own["lines_in_train"], own["warnings"]) == (0, [])


def test_a_run_without_its_text_is_evaluated_all_the_same(trained: RunDir, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(trained.path, copied, ignore=shutil.ignore_patterns("data", "store"))
    files = ["--src", trained.text("test", "en"), "--ref", trained.text("test", "zh")]
    done = invoke("evaluate", "-m", copied, *files, "--beam-size", 1, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["lines_in_train"] is None


@needs_real_data("typography/flores-dev.google.zh")
def test_a_public_test_set_is_called_by_its_name() -> None:
    folder = REAL / "typography"
    files = ["--hyp", folder / "flores-dev.google.zh", "--ref", folder / "flores-dev.ref.zh"]
    named = invoke("evaluate", *files, "--json", "evaluate.metrics=[chrf]")
    assert json.loads(named.stdout)["public_test"] == "flores_dev"
