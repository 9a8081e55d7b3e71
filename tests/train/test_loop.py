"""Trainings from the first update to the last: stopped, resumed, ended."""

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import dev_losses, ready, tiny_config, train
from in_process import CPU, assert_bit_identical, stop_at, weights_at

from nmt.errors import Interrupted, UserError
from nmt.model.batch import Batch
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.checkpoints import CheckpointManager
from nmt.train.data.batching import Position
from nmt.train.data.loader import Group
from nmt.train.loop import Trainer
from nmt.train.loss import computed_logits
from nmt.train.progress import Progress

DROPOUT = ("model.dropout=0.1", "model.attention_dropout=0.1", "model.activation_dropout=0.1")


@pytest.fixture(scope="module")
def straight(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RunDir]:
    """A training with dropout and another setting that nothing stopped."""

    @cache
    def trained(setting: str) -> RunDir:
        folder = tmp_path_factory.mktemp("straight") / "run"
        return train(tiny_config(corpus, folder, *DROPOUT, setting))

    return trained


@pytest.mark.parametrize(
    ("update", "setting"),
    [
        *((update, "train.precision=fp32") for update in (1, 7, 10, 13)),
        (7, "train.precision=bf16"),
        (7, "train.optimizer=muon"),
        (7, "model.init=lexical"),
    ],
)
def test_a_run_stopped_at_any_update_and_resumed_is_bit_identical_to_a_straight_one(
    update: int,
    setting: str,
    straight: Callable[[str], RunDir],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undisturbed = straight(setting)
    config = tiny_config(corpus, tmp_path / "stopped", *DROPOUT, setting)
    with monkeypatch.context() as patch:
        stop_at(update, patch)
        with pytest.raises(Interrupted) as stopped:
            train(config)
    assert stopped.value.exit_code == 143
    assert RunDir(tmp_path / "stopped").steps()[-1].name == checkpoint.step_name(update)
    resumed = train(config)
    assert_bit_identical(weights_at(undisturbed, 20), weights_at(resumed, 20))
    progress = [
        checkpoint.read_meta(run.checkpoints / checkpoint.step_name(20)).progress
        for run in (undisturbed, resumed)
    ]
    for values in progress:
        values.pop("seconds")
    assert progress[0] == progress[1]
    assert undisturbed.best.read_text() == resumed.best.read_text()
    averages = [
        (run.validation / "average-00000020.zh").read_bytes() for run in (undisturbed, resumed)
    ]
    assert averages[0] == averages[1]


def test_a_finished_run_does_nothing_when_it_is_called_again(corpus: Path, tmp_path: Path) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=13")
    run = train(config)
    before = {
        path: path.read_bytes()
        for path in run.path.rglob("*")
        if path.is_file() and path != run.log
    }
    assert checkpoint.read_meta(run.steps()[-1]).scores
    train(config)
    assert {path: path.read_bytes() for path in before} == before


def test_accumulating_two_halves_equals_one_batch(corpus: Path, tmp_path: Path) -> None:
    # a bias of keys has a gradient of zero, and Adam would make large steps of its rounding
    config = tiny_config(corpus, tmp_path / "run", "model.bias=feed_forward")
    trainer = Trainer(config, ready(config), CPU)
    groups = trainer.loader.groups(Position())
    one = next(groups)
    two = next(groups)
    batches = [one.batches[0], two.batches[0]]
    tokens = one.tokens + two.tokens
    before = copied(trainer.model)
    trainer.updater.apply(1, batches, tokens)
    accumulated = copied(trainer.model)

    other = Trainer(config, ready(config), CPU)
    assert_bit_identical(before, checkpoint.parameters_of(other.model))
    loss = summed(other, batches[0]) + summed(other, batches[1])
    (loss / tokens).backward()
    torch.nn.utils.clip_grad_norm_(other.model.parameters(), config.train.clip_norm)
    for group in other.updater.optimizers[0].param_groups:
        group["lr"] = config.train.peak_lr / config.train.warmup
    other.updater.optimizers[0].step()
    for name, parameter in checkpoint.parameters_of(other.model).items():
        torch.testing.assert_close(parameter, accumulated[name], rtol=1e-4, atol=1e-6)


def copied(model: Transformer) -> checkpoint.Weights:
    return {name: weight.clone() for name, weight in checkpoint.parameters_of(model).items()}


def summed(trainer: Trainer, batch: Batch) -> torch.Tensor:
    logits = trainer.model(batch.src, batch.tgt_in)
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1),
        batch.tgt_out.flatten(),
        ignore_index=0,
        reduction="sum",
        label_smoothing=trainer.config.train.label_smoothing,
    )


def test_training_lowers_the_loss_and_learns_to_count(trained: RunDir) -> None:
    records = [json.loads(line) for line in trained.metrics.read_text().splitlines()]
    losses = [record["loss"] for record in records if record["kind"] == "train"]
    assert losses[-1] < losses[0] / 2
    best = checkpoint.best(trained)
    assert best is not None
    assert checkpoint.read_meta(best).scores["bleu"] > 90


def test_a_gradient_that_is_not_finite_changes_nothing_and_five_in_a_row_end_training(
    trainer: Trainer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = copied(trainer.model)

    def not_finite(model: Transformer, batch: Batch) -> torch.Tensor:
        return computed_logits(model, batch) * math.nan

    monkeypatch.setattr("nmt.train.padded_update.computed_logits", not_finite)
    with pytest.raises(
        UserError, match=r"5 gradients in a row, up to update 5, were .*; there is no good"
    ):
        trainer.train()
    assert_bit_identical(before, checkpoint.parameters_of(trainer.model))
    assert "it changes nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_saves_a_checkpoint_and_ends_with_its_code(
    number: int, code: int, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    stop_at(3, monkeypatch, number)
    with pytest.raises(Interrupted, match="saved after update 3") as stopped:
        train(config)
    assert stopped.value.exit_code == code
    assert RunDir(tmp_path / "run").steps()[-1].name == checkpoint.step_name(3)


def test_sigusr1_saves_and_training_goes_on(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stop_at(7, monkeypatch, signal.SIGUSR1)
    before = signal.getsignal(signal.SIGUSR1)
    settings = ["train.updates=12", "train.save_every=5", "train.validate_every=12"]
    saved: list[int] = []
    save = CheckpointManager.save

    def note(self: CheckpointManager, updater: Any, progress: Progress, scores: Any) -> Path:
        saved.append(progress.update)
        return save(self, updater, progress, scores)

    monkeypatch.setattr(CheckpointManager, "save", note)
    train(tiny_config(corpus, tmp_path / "run", *settings))
    assert saved == [5, 7, 10, 12]
    assert "SIGUSR1: saved after update 7; training goes on" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGUSR1) == before


def test_early_stopping_waits_for_patience_and_stays_stopped(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [3.0, 2.0, 2.5, 2.6, 2.7])
    config = tiny_config(
        corpus, tmp_path / "run", "train.updates=1000", "train.patience=3", "train.average=0"
    )
    run = train(config)
    assert run.steps()[-1].name == checkpoint.step_name(50)
    assert checkpoint.best(run) == run.checkpoints / checkpoint.step_name(20)
    train(config)
    assert run.steps()[-1].name == checkpoint.step_name(50)


def test_training_without_a_dev_set_takes_the_last_checkpoint_for_the_best(
    tmp_path: Path, corpus: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for language in ("en", "zh"):
        (folder / f"train.{language}").write_bytes((corpus / f"train.{language}").read_bytes())
    config = tiny_config(folder, tmp_path / "run", "prepare.dev_size=0", "prepare.test_size=0")
    run = train(config)
    assert checkpoint.best(run) == run.checkpoints / checkpoint.step_name(20)


def test_reading_and_saving_count_as_time_of_training(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups, save = trainer.loader.groups, trainer.checkpoints.save

    def read_slowly(position: Position) -> Iterator[Group]:
        for group in groups(position):
            time.sleep(0.02)
            yield group

    def save_slowly(*arguments: Any) -> Path:
        time.sleep(0.3)
        return save(*arguments)

    monkeypatch.setattr(trainer.loader, "groups", read_slowly)
    monkeypatch.setattr(trainer.checkpoints, "save", save_slowly)
    every = {"updates": 20, "save_every": 5, "validate_every": 100}
    train_settings = trainer.config.train.model_copy(update=every)
    trainer.config = trainer.config.model_copy(update={"train": train_settings})
    begun = time.monotonic()
    seconds = trainer.train().seconds
    assert 20 * 0.02 + 3 * 0.3 < seconds < time.monotonic() - begun
