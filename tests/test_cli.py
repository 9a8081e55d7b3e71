"""The command line as a whole: help, wrong calls, exit codes."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.run_dir import RunDir


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_help_names_the_five_commands_and_version_the_version() -> None:
    text = invoke("--help").output
    assert all(
        name in text for name in ("prepare", "build-vocab", "train", "translate", "evaluate")
    )
    assert invoke("--version").output.startswith("nmt 0.")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["translate", "--model", "nowhere"],
            5,
            "nowhere: does not exist; run nmt train, or name a run with --model",
        ),
        (["translate"], 5, "no model: no run was trained in this folder; run nmt train"),
        (["translate", "--config", "none.yaml"], 2, "none.yaml: cannot be read"),
        (
            ["translate", "train.updates=3"],
            2,
            "train.updates=3: a trained model takes only search.* and evaluate.*",
        ),
        (["translate", "--n-best", "3"], 5, "no model"),
        (
            ["translate", "{corpus}/test.en"],
            2,
            "is not of the form KEY=VALUE; files are given as in nmt translate < FILE",
        ),
        (["train", "updates=5"], 2, "unknown key 'updates'; did you mean 'train.updates'?"),
        (["train", "mine.yaml"], 2, "did you mean --config mine.yaml?"),
        (
            ["translate", "--model", "{trained}", "--n-best", "9"],
            2,
            "command line: search.n_best=9 is more than",
        ),
        (
            ["translate", "--model", "{trained}", "--precision", "fp17"],
            2,
            "precision=fp17: no such precision",
        ),
        (["translate", "--model", "{trained}", "--device", "gpu"], 2, "device=gpu: no such device"),
        (["translate", "run_dir=runs/a"], 2, "run_dir= goes with --config"),
        (["translat"], 2, "No such command"),
        (["train", "--confg", "x"], 2, "No such option"),
        (["train", "train.updates=0"], 2, "command line: train.updates=0"),
        (["train"], 2, "data.path"),
        (["train", "data.path=missing"], 3, "missing"),
        (["train", "train.device=cuda", "data.path=x"], 2, "device=cuda"),
        (
            ["train", "train.precision=fp16", "data.path={corpus}"],
            2,
            "precision=fp16 needs a CUDA GPU",
        ),
        (["evaluate", "--hyp", "a.zh"], 2, "--hyp needs --ref"),
        (["evaluate", "--hyp", "a.zh", "--ref", "b.zh", "--model", "x"], 2, "leave out --model"),
        (["evaluate", "--hyp", "a.zh", "--ref", "b.zh"], 3, "a.zh: no such file"),
        (["evaluate", "--fail-under", "bluе=3"], 2, "unknown metric"),
        (["evaluate", "--fail-below-baseline"], 2, "needs --baseline"),
        (["prepare", "data.path={corpus}", "src.language=fr"], 3, "train.fr"),
    ],
)
def test_a_wrong_call_is_one_line_and_its_exit_code(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    corpus: Path,
    trained: RunDir,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = invoke(*(argument.format(corpus=corpus, trained=trained.path) for argument in arguments))
    assert done.exit_code == code, done.output
    assert message in done.stderr
    assert "Traceback" not in done.output
    if done.stderr.startswith("nmt:") and code != 2:
        assert done.stderr.splitlines()[-1].startswith("nmt: ")
