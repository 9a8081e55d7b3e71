"""The mean of a model and of one that was trained on from it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nmt.run import checkpoint
from nmt.run.folder import RunDir

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "configs" / "pretrained" / "mean_of_models.py"
pytestmark = pytest.mark.slow


def mean(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_mean_is_the_best_checkpoint_of_the_second_run(
    trained_20: RunDir, tmp_path: Path
) -> None:
    first = Path(shutil.copytree(trained_20.path, tmp_path / "first"))
    second = Path(shutil.copytree(trained_20.path, tmp_path / "second"))
    old, new = trained_20.steps()
    checkpoint.mark_best(RunDir(first), first / "checkpoints" / old.name)
    checkpoint.mark_best(RunDir(second), second / "checkpoints" / new.name)
    mean(first, second, 0.5)
    done = mean(first, second, 0.75)  # of the training, not of the mean before
    assert (done.returncode, done.stderr) == (0, "")
    written = checkpoint.best(RunDir(second))
    assert written is not None
    assert Path(done.stdout.strip()) == written
    before, after, found = map(checkpoint.load_weights, (old, new, written))
    assert found.keys() == after.keys()
    for key, weights in found.items():
        torch.testing.assert_close(weights, before[key] + 0.75 * (after[key] - before[key]))
    assert checkpoint.read_meta(written).provenance == checkpoint.read_meta(new).provenance


def test_other_models_and_shares_are_refused(trained: RunDir, tmp_path: Path) -> None:
    none = mean(tmp_path, trained.path, 0.5)
    assert none.returncode == 2
    assert none.stderr.endswith(f"{tmp_path}: no checkpoint; run nmt train first\n")
    other = mean(ROOT / "nmt" / "pretrained", trained.path, 0.5)
    assert other.returncode == 2
    assert "name the run that it started from" in other.stderr
    much = mean(trained.path, trained.path, 2)
    assert much.returncode == 2
    assert much.stderr.endswith("share 2.0: must be from 0 to 1\n")
