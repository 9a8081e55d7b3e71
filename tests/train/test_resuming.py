"""Which checkpoint a training resumes from, and which it refuses."""

import shutil
from pathlib import Path

import pytest
from conftest import TINY, dev_losses, tiny_config, train, write_corpus
from damage import rewrite_meta, spoil
from in_process import CPU, stop_at
from typer.testing import CliRunner

from nmt.cli import app
from nmt.corpus.encoding.encode import build_vocabularies
from nmt.errors import FormatError, ModelError
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.ownership import read_latest
from nmt.train.loop import Trainer


@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "pickle"])
def test_a_damaged_last_checkpoint_is_named_and_the_one_before_is_taken(
    damage: str,
    corpus: Path,
    tmp_path: Path,
    trained_20: RunDir,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    path = run.steps()[-1] / checkpoint.WEIGHTS
    spoil(path, damage)
    trainer = Trainer(config, run, CPU)
    assert trainer.progress.update == 10
    said = capsys.readouterr().err
    assert str(path) in said
    assert "trying the one before" in said
    assert [folder.name for folder in run.steps()] == [checkpoint.step_name(10)]


def test_when_every_checkpoint_is_damaged_training_does_not_start_from_nothing(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    for folder in run.steps():
        spoil(folder / checkpoint.WEIGHTS, "truncate")
    with pytest.raises(ModelError, match="--overwrite"):
        Trainer(config, run, CPU)


def test_a_checkpoint_of_a_later_format_is_refused_and_left_alone(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    folder = run.steps()[-1]
    rewrite_meta(folder, format=2)
    with pytest.raises(FormatError, match="written in format 2, but this nmt reads 1"):
        Trainer(config, run, CPU)
    assert folder.is_dir()


def test_a_model_trained_with_another_vocabulary_is_refused_by_name(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    other = tiny_config(
        corpus, tmp_path / "run", "train.updates=10", "src.lowercase=true", "src.vocab_size=5"
    )
    build_vocabularies(other, run)
    with pytest.raises(ModelError, match="trained with another src vocabulary"):
        Trainer(other, run, CPU)


def test_a_step_that_beat_a_marked_average_is_marked_though_its_process_died_before(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [3.0, 2.9, 2.5, 1.0])  # of two steps, of their mean, of a later step
    run = train(tiny_config(corpus, tmp_path / "run"))
    average = checkpoint.best(run)
    assert average is not None
    assert average.name == "average-00000020"
    longer = tiny_config(corpus, tmp_path / "run", "train.updates=30", "train.average=0")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "mark_best", die)
        with pytest.raises(KeyboardInterrupt):
            train(longer)
    assert checkpoint.best(run) == average
    train(longer)
    assert checkpoint.best(run) == run.checkpoints / "step-00000030"


def die(run: RunDir, folder: Path) -> None:
    if folder.name == "step-00000030":
        raise KeyboardInterrupt


def test_only_a_training_with_a_best_checkpoint_becomes_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "corpus")
    settings = ["train", f"data.path={corpus}", *TINY, "train.average=0"]
    assert CliRunner().invoke(app, [*settings, "run_dir=one"]).exit_code == 0
    with monkeypatch.context() as patch:
        stop_at(3, patch)
        assert CliRunner().invoke(app, [*settings, "run_dir=two"]).exit_code == 143
    assert read_latest() == Path("one")
    assert CliRunner().invoke(app, [*settings, "run_dir=two"]).exit_code == 0
    assert read_latest() == Path("two")


def test_a_checkpoint_of_another_optimizer_is_refused_with_the_setting(
    corpus: Path, tmp_path: Path, trained_20: RunDir
) -> None:
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    config = tiny_config(corpus, run.path, "train.optimizer=muon")
    with pytest.raises(ModelError, match="set it as it was"):
        Trainer(config, run, CPU)
