"""The commands of docs/guide/evaluate.md work as they stand, but those that need the network."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from made_systems import BAD, GOOD, REFERENCES, spoilt
from typer.testing import CliRunner

from nmt.cli import app

DOCUMENT = Path(__file__).parents[2] / "docs" / "guide" / "evaluate.md"
TEXTS = {
    "news.zh": REFERENCES,
    "second.zh": spoilt(REFERENCES, 0.1, seed=9),
    "ours.zh": GOOD,
    "other.zh": BAD,
    "domain.txt": ["news", "law"] * 30,
}
# As unbabel-comet 2.2.7 writes it (comet/cli/score.py): file → a record a line.
COMET = {
    name: [
        {"src": "a", "mt": line, "ref": "b", "COMET": 0.8 + number / 1000}
        for number, line in enumerate(GOOD)
    ]
    for name in ("ours.zh", "other.zh")
}


def block_with(text: str) -> str:
    """The block of shell commands that has this text."""
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    [block] = [block for block in blocks if text in block]
    return str(block)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in TEXTS.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    Path("comet.json").write_text(json.dumps(COMET), encoding="utf-8")


def run(command: str) -> str:
    words = shlex.split(command, comments=True)
    assert words[:2] == ["nmt", "evaluate"]
    done = CliRunner().invoke(app, words[1:])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("command", block_with("--by").splitlines())
def test_the_first_examples_work(command: str) -> None:
    assert "chrf" in run(command)


def test_scores_of_comet_become_a_table_and_are_compared() -> None:
    convert, evaluate = re.split("\n(?=nmt )", block_with("> comet.tsv"))
    program, arrow, target = shlex.split(convert)[2:]
    assert (arrow, target) == (">", "comet.tsv")
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    Path(target).write_bytes(done.stdout)
    printed = run(evaluate)
    assert "0.8295 [0.8" in printed
    assert "p of each pair by comet" in printed


def test_the_document_names_every_metric() -> None:
    from nmt.evaluation.metrics import METRICS

    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in METRICS if f"`{name}`" not in text] == []
