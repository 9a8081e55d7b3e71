"""Which checkpoints stay, and which are averaged."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import tiny_config, train
from in_process import stop_at

from nmt.errors import Interrupted
from nmt.run import checkpoint


def test_only_the_last_and_the_best_checkpoints_are_kept(corpus: Path, tmp_path: Path) -> None:
    config = tiny_config(
        corpus,
        tmp_path / "run",
        "train.updates=60",
        "train.save_every=10",
        "train.keep=2",
        "train.average=0",
    )
    run = train(config)
    best = checkpoint.best(run)
    assert best is not None
    present = {path.name for path in run.checkpoints.iterdir()}
    assert present == {"step-00000050", "step-00000060", best.name}


def test_a_checkpoint_of_an_interruption_does_not_enter_the_average(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    averaged: list[list[str]] = []
    average = checkpoint.average

    def noting_average(folders: Sequence[Path]) -> checkpoint.Weights:
        averaged.append([folder.name for folder in folders])
        return average(folders)

    monkeypatch.setattr(checkpoint, "average", noting_average)
    config = tiny_config(corpus, tmp_path / "run", "train.save_every=5", "train.average=3")
    with monkeypatch.context() as patch:
        stop_at(18, patch)
        with pytest.raises(Interrupted):
            train(config)
    train(config)
    assert averaged == [[checkpoint.step_name(update) for update in (10, 15, 20)]]
