"""configs/pretrained/train_for.py: a training that fits its minutes, and the model in parts."""

import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from conftest import ready, tiny_config

from nmt.config.load import load_config
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.progress import Progress

SCRIPT = Path(__file__).resolve().parents[1] / "configs" / "pretrained" / "train_for.py"


def train_for(*arguments: object) -> str:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def newest(run: RunDir) -> Progress:
    return Progress.from_json(checkpoint.read_meta(run.steps()[-1]).progress)


@pytest.mark.slow
def test_an_encoded_run_is_trained_without_its_corpora_and_goes_on_when_started_again(
    corpus: Path, tmp_path: Path
) -> None:
    there = Path(shutil.copytree(corpus, tmp_path / "corpus"))
    settings = ["train.schedule=wsd", "train.keep=2", "train.average=1", "train.save_every=50"]
    config = tiny_config(there, tmp_path / "run", *settings)
    run = ready(config)
    shutil.rmtree(there)
    run.text("train", "en").unlink()
    train_for(run.path, 0.05, tmp_path / "out")
    first = newest(run)
    stable = round(first.update * 0.8)
    assert 0 < stable < first.update
    assert 0.04 < first.seconds / 60 < 0.2
    content = b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob("model.tar.*")))
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extractall(tmp_path / "joined", filter="data")
    exported = RunDir(tmp_path / "joined" / "model")
    assert load_config(exported.config).model == config.model
    assert set(checkpoint.load_weights(exported.steps()[-1])) == set(
        checkpoint.load_weights(run.steps()[-1])
    )
    train_for(run.path, 0.05, tmp_path / "out")
    assert newest(run).seconds > first.seconds + 0.04 * 60
