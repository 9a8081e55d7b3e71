import json
import math
import os
import signal
from pathlib import Path

import pytest
import torch
from conftest import ready, tiny_config, train
from safetensors.torch import load_file

from nmt import checkpoint
from nmt.config.schema import Config
from nmt.errors import DataError, FormatError, Interrupted, ModelError, UserError
from nmt.run_dir import RunDir
from nmt.train.distributed import World
from nmt.train.loss import logits_of
from nmt.train.progress import Progress
from nmt.train.signals import Signals
from nmt.train.trainer import Trainer
from nmt.train.update import Updater

DROPOUT = ("model.dropout=0.1", "model.attention_dropout=0.1", "model.activation_dropout=0.1")
CPU = World(0, 1, torch.device("cpu"))


def weights_at(run: RunDir, update: int) -> dict[str, torch.Tensor]:
    return load_file(run.checkpoints / checkpoint.step_name(update) / checkpoint.WEIGHTS)


def assert_bit_identical(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def stop_at(update: int, monkeypatch: pytest.MonkeyPatch, number: int = signal.SIGTERM) -> None:
    """Send this process a signal while it applies an update."""
    apply = Updater.apply

    def apply_and_signal(self: Updater, current: int, *rest: object) -> object:
        if current == update:
            os.kill(os.getpid(), number)
        return apply(self, current, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Updater, "apply", apply_and_signal)


@pytest.mark.parametrize(
    ("update", "precision"), [(1, "fp32"), (7, "fp32"), (10, "fp32"), (13, "fp32"), (7, "bf16")]
)
def test_a_run_stopped_at_any_update_and_resumed_is_bit_identical_to_a_straight_one(
    update: int, precision: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (*DROPOUT, f"train.precision={precision}")
    straight = train(tiny_config(corpus, tmp_path / "straight", *settings))
    config = tiny_config(corpus, tmp_path / "stopped", *settings)
    with monkeypatch.context() as patch:
        stop_at(update, patch)
        with pytest.raises(Interrupted) as stopped:
            train(config)
    assert stopped.value.exit_code == 143
    assert RunDir(tmp_path / "stopped").steps()[-1].name == checkpoint.step_name(update)
    resumed = train(config)
    assert_bit_identical(weights_at(straight, 20), weights_at(resumed, 20))
    progress = [
        checkpoint.read_meta(run.checkpoints / checkpoint.step_name(20)).progress
        for run in (straight, resumed)
    ]
    for values in progress:
        values.pop("seconds")
    assert progress[0] == progress[1]
    assert straight.best.read_text() == resumed.best.read_text()
    averages = [
        (run.validation / "average-00000020.zh").read_bytes() for run in (straight, resumed)
    ]
    assert averages[0] == averages[1]


def test_a_checkpoint_of_an_interruption_does_not_enter_the_average(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    averaged: list[list[str]] = []
    average = checkpoint.average
    monkeypatch.setattr(
        checkpoint, "average", lambda m: averaged.append([p.name for p in m]) or average(m)
    )
    config = tiny_config(corpus, tmp_path / "run", "train.save_every=5", "train.average=3")
    with monkeypatch.context() as patch:
        stop_at(18, patch)
        with pytest.raises(Interrupted):
            train(config)
    train(config)
    assert averaged == [[checkpoint.step_name(update) for update in (10, 15, 20)]]


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


def test_a_signal_that_was_ignored_when_we_came_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals().caught():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)


def rewrite_meta(folder: Path, **changes: object) -> None:
    """Change what a checkpoint says of itself, as a program would that writes such checkpoints."""
    meta = json.loads((folder / checkpoint.META).read_text()) | changes
    del meta["seal"]
    (folder / checkpoint.META).write_text(json.dumps(meta | {"seal": checkpoint._seal(meta)}))


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


def test_the_data_go_on_where_they_stood_across_the_end_of_an_epoch(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=30", "train.batch_tokens=600")
    trainer = Trainer(config, ready(config), CPU)
    whole = [batches[0].src.tolist() for batches, _, _ in take(trainer, 30)]
    trainer.progress = Progress(position=list(take(trainer, 9))[-1][2])
    assert [batches[0].src.tolist() for batches, _, _ in take(trainer, 21)] == whole[9:]


def take(trainer: Trainer, count: int) -> list:  # type: ignore[type-arg]
    groups = trainer._groups()
    return [next(groups) for _ in range(count)]


def test_accumulating_two_halves_equals_one_batch(corpus: Path, tmp_path: Path) -> None:
    # a bias of keys has a gradient of zero, and Adam would make large steps of its rounding
    config = tiny_config(corpus, tmp_path / "run", "model.bias=feed_forward")
    trainer = Trainer(config, ready(config), CPU)
    (first, *_), tokens_first, _ = next(groups := trainer._groups())
    (second, *_), tokens_second, _ = next(groups)
    before = {name: p.clone() for name, p in checkpoint.parameters_of(trainer.model).items()}
    trainer.updater.apply(1, [first, second], tokens_first + tokens_second)
    accumulated = {name: p.clone() for name, p in checkpoint.parameters_of(trainer.model).items()}

    other = Trainer(config, ready(config), CPU)
    assert_bit_identical(before, checkpoint.parameters_of(other.model))
    total = tokens_first + tokens_second
    losses = [summed(other, batch) for batch in (first, second)]
    (sum(losses) / total).backward()
    torch.nn.utils.clip_grad_norm_(other.model.parameters(), config.train.clip_norm)
    for group in other.updater.optimizer.param_groups:
        group["lr"] = config.train.peak_lr / config.train.warmup
    other.updater.optimizer.step()
    for name, parameter in checkpoint.parameters_of(other.model).items():
        torch.testing.assert_close(parameter, accumulated[name], rtol=1e-4, atol=1e-6)


def summed(trainer: Trainer, batch: object) -> torch.Tensor:
    logits = trainer.model(batch.src, batch.tgt_in)  # type: ignore[attr-defined]
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1),
        batch.tgt_out.flatten(),  # type: ignore[attr-defined]
        ignore_index=0,
        reduction="sum",
        label_smoothing=trainer.config.train.label_smoothing,
    )


def test_training_lowers_the_loss_and_learns_to_count(trained: RunDir) -> None:
    records = [json.loads(line) for line in trained.metrics.read_text().splitlines()]
    losses = [record["loss"] for record in records if record["kind"] == "train"]
    assert losses[-1] < losses[0] / 2
    assert checkpoint.read_meta(checkpoint.best(trained)).scores["bleu"] > 90  # type: ignore[arg-type]


def test_metrics_of_updates_that_were_lost_are_written_once_only(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    with monkeypatch.context() as patch:
        stop_at(13, patch)
        with pytest.raises(Interrupted):
            train(config)
    for folder in RunDir(tmp_path / "run").steps()[-1:]:
        (folder / checkpoint.WEIGHTS).write_bytes(b"damaged")
    run = train(config)
    updates = [
        json.loads(line)["update"]
        for line in run.metrics.read_text().splitlines()
        if '"train"' in line
    ]
    assert updates == [1, 5, 10, 15, 20]


@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "pickle"])
def test_a_damaged_last_checkpoint_is_named_and_the_one_before_is_taken(
    damage: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    run = train(config)
    path = run.steps()[-1] / checkpoint.WEIGHTS
    spoil(path, damage)
    trainer = Trainer(config, run, CPU)
    assert trainer.progress.update == 10
    said = capsys.readouterr().err
    assert str(path) in said
    assert "trying the one before" in said
    assert [folder.name for folder in run.steps()] == [checkpoint.step_name(10)]


class Exploit:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("executed",)


def spoil(path: Path, damage: str) -> None:
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])
    elif damage == "remove":
        path.unlink()
    else:
        torch.save(Exploit(), path)


def test_no_pickle_is_executed_even_if_its_checksum_is_right(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    folder = train(config).steps()[-1]
    monkeypatch.chdir(tmp_path)
    for name in (checkpoint.WEIGHTS, checkpoint.TRAINING):
        torch.save(Exploit(), folder / name)
    names = (checkpoint.WEIGHTS, checkpoint.TRAINING)
    rewrite_meta(folder, sha256={name: checkpoint.checksum(folder / name) for name in names})
    with pytest.raises(ModelError):
        checkpoint.load_weights(folder)
    with pytest.raises(ModelError):
        checkpoint.load_training(folder)
    assert not (tmp_path / "executed").exists()


def test_when_every_checkpoint_is_damaged_training_does_not_start_from_nothing(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    for folder in run.steps():
        spoil(folder / checkpoint.WEIGHTS, "truncate")
    with pytest.raises(ModelError, match="--overwrite"):
        Trainer(config, run, CPU)


def test_a_gradient_that_is_not_finite_changes_nothing_and_five_in_a_row_end_training(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    trainer = Trainer(config, ready(config), CPU)
    before = {name: p.clone() for name, p in checkpoint.parameters_of(trainer.model).items()}
    monkeypatch.setattr("nmt.train.update.logits_of", lambda *given: logits_of(*given) * math.nan)
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


def test_early_stopping_waits_for_patience_and_stays_stopped(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([3.0, 2.0, 2.5, 2.6, 2.7])
    monkeypatch.setattr(
        "nmt.train.validation.Validator.measure",
        lambda self, _: ({"loss": next(scores), "bleu": 0.0, "chrf": 0.0}, self.references),
    )
    config = tiny_config(
        corpus, tmp_path / "run", "train.updates=1000", "train.patience=3", "train.average=0"
    )
    run = train(config)
    assert run.steps()[-1].name == checkpoint.step_name(50)
    assert checkpoint.best(run).name == checkpoint.step_name(20)  # type: ignore[union-attr]
    train(config)
    assert run.steps()[-1].name == checkpoint.step_name(50)


@pytest.mark.parametrize(("better", "best"), [(1.0, "average-00000020"), (9.0, "step-00000020")])
def test_the_average_is_kept_only_if_it_scores_better_on_dev(
    better: float, best: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([3.0, 2.0, better])
    monkeypatch.setattr(
        "nmt.train.validation.Validator.measure",
        lambda self, _: ({"loss": next(losses), "bleu": 0.0, "chrf": 0.0}, self.references),
    )
    run = train(tiny_config(corpus, tmp_path / "run"))
    assert checkpoint.best(run).name == best  # type: ignore[union-attr]
    members = [weights_at(run, update) for update in (10, 20)]
    if best.startswith("average"):
        mean = load_file(run.checkpoints / best / checkpoint.WEIGHTS)
        for key, tensor in mean.items():
            torch.testing.assert_close(tensor, (members[0][key] + members[1][key]) / 2)


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
    kept = {path.name for path in run.checkpoints.iterdir()}
    assert kept == {"step-00000050", "step-00000060", checkpoint.best(run).name}  # type: ignore[union-attr]


def test_pairs_longer_than_the_model_are_left_out_and_counted(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "model.max_length=8")
    trainer = Trainer(config, ready(config), CPU)
    assert (trainer.lengths < 8).all()
    left_out = len(trainer.corpus) - len(trainer.fitting)
    assert f"{left_out:,} pairs are empty or longer" in capsys.readouterr().err
    refused = config.model_copy(update={"model": config.model.model_copy(update={"max_length": 1})})
    with pytest.raises(DataError, match="no pair is shorter"):
        Trainer(refused, RunDir(tmp_path / "run"), CPU)


def test_training_without_a_dev_set_takes_the_last_checkpoint_for_the_best(
    tmp_path: Path, corpus: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for language in ("en", "zh"):
        (folder / f"train.{language}").write_bytes((corpus / f"train.{language}").read_bytes())
    config = tiny_config(folder, tmp_path / "run", "prepare.dev_size=0", "prepare.test_size=0")
    run = train(config)
    assert checkpoint.best(run).name == checkpoint.step_name(20)  # type: ignore[union-attr]


def test_a_model_trained_with_another_vocabulary_is_refused_by_name(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    other: Config = tiny_config(
        corpus, tmp_path / "run", "train.updates=10", "src.lowercase=true", "src.vocab_size=5"
    )
    from nmt.corpus.encode import build_vocabularies

    build_vocabularies(other, run)
    with pytest.raises(ModelError, match="trained with another src vocabulary"):
        Trainer(other, run, CPU)
