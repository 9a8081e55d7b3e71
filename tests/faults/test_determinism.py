"""The same configuration, data and seed give the same bytes, whatever else differs.

That a second run of the same command gives the same bytes stands in tests/test_end_to_end.py; that a store does not
depend on the number of workers, corpus by corpus, in tests/corpus.
"""

import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import tiny_config, train, write_corpus

from nmt import __version__
from nmt.config.load import load_config
from nmt.machine import workers
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.provenance import _commit, provenance_of
from nmt.translate.opening import load_translator

ROOT = Path(__file__).resolve().parents[2]
# written.json has the hash of config.yaml
TIMES_AND_PLACES = (
    *("config.yaml", "written.json"),
    *("metrics.jsonl", "train.log"),
    *(checkpoint.META, ".lock"),
)


def files(run: RunDir) -> dict[str, bytes]:
    found = [
        path for path in run.path.rglob("*") if path.is_file() and path.name not in TIMES_AND_PLACES
    ]
    return {str(path.relative_to(run.path)): path.read_bytes() for path in found}


def test_another_number_of_data_workers_changes_no_byte(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CHUNK", 50)
    monkeypatch.setattr(workers, "_WORTH_IT", 100)
    settings = ("model.dropout=0.1", "train.updates=4", "train.average=0")
    runs = [
        train(tiny_config(corpus, tmp_path / n, f"prepare.workers={n}", *settings))
        for n in ("1", "2")
    ]
    assert files(runs[0]) == files(runs[1])
    lines = ["one two.", "nine eight seven.", "Zoë, 12:30"]
    translations = [load_translator(load_config(run.config), run).translate(lines) for run in runs]
    assert translations[0] == translations[1]


def test_a_checkpoint_says_what_made_it(corpus: Path, tmp_path: Path) -> None:
    runs = [
        train(tiny_config(corpus, tmp_path / name, "train.updates=2", "train.seed=7"))
        for name in ("a", "b")
    ]
    provenances = [checkpoint.read_meta(run.steps()[-1]).provenance for run in runs]
    assert provenances[0] == provenances[1]
    one = provenances[0].as_json()
    assert one["nmt"] == __version__
    assert one["python"] == platform.python_version()
    assert (one["torch"], one["numpy"]) == (torch.__version__, np.__version__)
    assert one["seed"] == 7
    assert one["git"] == _commit(ROOT / ".git")
    assert {len(one[name]) for name in ("config", "data", "source")} == {64}
    config = tiny_config(corpus, runs[0].path, "train.updates=3", "train.seed=7")
    longer = provenance_of(config, runs[0], started_from=None).as_json()
    assert {key for key, value in longer.items() if value != one[key]} == {"config"}
    other_data = train(
        tiny_config(
            write_corpus(tmp_path / "corpus", train=50),
            tmp_path / "c",
            "train.updates=2",
            "train.seed=7",
        )
    )
    differing = checkpoint.read_meta(other_data.steps()[-1]).provenance.as_json()
    assert {key for key, value in differing.items() if value != one[key]} == {
        "config",
        "data",
    }  # its path, its text


@pytest.mark.parametrize("packed", [False, True])
def test_the_commit_is_the_one_that_git_names(packed: bool, tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = [
            "git",
            "-C",
            str(tmp_path),
            "-c",
            "user.name=n",
            "-c",
            "user.email=n@localhost",
            *arguments,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert _commit(tmp_path / ".git") is None
    git("init")
    git("commit", "--allow-empty", "--message", "first")
    if packed:
        git("pack-refs", "--all")
    assert _commit(tmp_path / ".git") == git("rev-parse", "HEAD")
    git("checkout", "--detach")
    assert _commit(tmp_path / ".git") == git("rev-parse", "HEAD")
