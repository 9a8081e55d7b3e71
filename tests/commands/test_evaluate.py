"""nmt evaluate, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

from conftest import run_nmt
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.run_dir import RunDir


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


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
