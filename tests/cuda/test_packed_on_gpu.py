"""Recorded updates on a real card: `test_on_gpu.py` says how to run these."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ready, tiny_config
from in_process import CPU
from test_on_gpu import DEVICE, losses, trained_on
from test_on_gpu import pytestmark as on_a_gpu

from nmt.config.schema import ModelConfig, TrainConfig
from nmt.model.batch import Rows
from nmt.model.kernels.packed_attention import Sequences, attend_packed
from nmt.model.packed_batch import PackedBatch, PackedShape, packed
from nmt.model.transformer import Transformer
from nmt.run.folder import RunDir
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.train.packed_update import PackedUpdater
from nmt.train.start.initialise import initialise

pytestmark = on_a_gpu

HERE = World(0, 1, torch.device(DEVICE))
IS_GPU = DEVICE == "cuda"
SOURCES, TARGETS = 300, 411
SHAPE = PackedShape(src_rows=1536, tgt_rows=1664, places=100, longest=128)


def config(**settings: object) -> TrainConfig:
    return TrainConfig.model_validate({"warmup": 1, "peak_lr": 3e-3, **settings})


def a_model(dropout: float = 0.0) -> Transformer:
    torch.manual_seed(0)
    shape = ModelConfig(
        d_model=64, heads=2, d_ff=128, encoder_layers=3, decoder_layers=2, dropout=dropout
    )
    model = Transformer(shape, SOURCES, TARGETS)
    initialise(model)
    return model


def a_batch(seed: int) -> PackedBatch:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, 40, (40, 2)).astype(np.int32)
    lengths[0] = 127  # as long as the shape allows
    src = Rows(chance.integers(4, SOURCES, lengths[:, 0].sum()), lengths[:, 0])
    tgt = Rows(4 + np.arange(lengths[:, 1].sum()) % 9, lengths[:, 1])
    return packed(src, tgt, SHAPE)


def updater_on(world: World, model: Transformer, **settings: object) -> PackedUpdater:
    return PackedUpdater(config(**settings), model.to(world.device), "bf16", world)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_and_its_gradients_are_those_of_one_large_mask(is_causal: bool) -> None:
    torch.manual_seed(1)
    starts = torch.tensor([0, 3, 3, 60, 61, 128], dtype=torch.int32)
    found = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(2)
        qkv = torch.randn(128, 3, 2, 32, dtype=torch.bfloat16)
        at_hand = qkv.to(device).requires_grad_()
        sequences = Sequences(starts.to(device), 128)
        out = attend_packed(*at_hand.unbind(1), sequences, sequences, is_causal)
        out.float().square().sum().backward()
        assert at_hand.grad is not None
        found.append((out.detach().cpu(), at_hand.grad.cpu()))
    for on_cpu, on_gpu in zip(*found, strict=True):
        torch.testing.assert_close(on_gpu, on_cpu, rtol=0.05, atol=0.05)


def test_queries_without_keys_get_zeros_and_gradients_that_are_numbers() -> None:
    """Spare rows of the target may have none of the source."""
    device = torch.device(DEVICE)
    queries = Sequences(torch.tensor([0, 5, 16], dtype=torch.int32, device=device), 128)
    keys = Sequences(torch.tensor([0, 7, 7], dtype=torch.int32, device=device), 128)
    q = torch.randn(16, 2, 32, dtype=torch.bfloat16, device=device, requires_grad=True)
    kv = torch.randn(7, 2, 2, 32, dtype=torch.bfloat16, device=device, requires_grad=True)
    out = attend_packed(q, *kv.unbind(1), queries, keys, is_causal=False)
    assert (out[5:] == 0).all()
    out.float().sum().backward()
    assert q.grad is not None
    assert kv.grad is not None
    assert torch.isfinite(q.grad).all()
    assert torch.isfinite(kv.grad).all()
    assert (q.grad[5:] == 0).all()


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_recorded_updates_have_the_losses_of_the_same_work_step_by_step(optimizer: str) -> None:
    model = a_model()
    stepwise = updater_on(HERE, deepcopy(model), optimizer=optimizer)
    stepwise.stop_compiling()
    replayed = updater_on(HERE, model, optimizer=optimizer)
    for update in range(1, 201 if IS_GPU else 9):
        batches = [a_batch(update), a_batch(update + 1000)]  # accumulated
        tokens = sum(batch.tokens for batch in batches)
        here = [batch.to(HERE.device) for batch in batches]
        expected = stepwise.apply(update, here, tokens)
        found = replayed.apply(update, here, tokens)
        assert found.loss == pytest.approx(expected.loss, rel=0.03), update
        assert found.applied
    assert replayed._step.is_replayed == IS_GPU
    assert not stepwise._step.is_replayed


def test_updates_have_the_losses_of_the_cpu() -> None:
    model = a_model()
    on_cpu = updater_on(CPU, deepcopy(model))
    on_gpu = updater_on(HERE, model)
    for update in range(1, 9):
        batch = a_batch(update)
        expected = on_cpu.apply(update, [batch], batch.tokens)
        found = on_gpu.apply(update, [batch.to(HERE.device)], batch.tokens)
        assert found.loss == pytest.approx(expected.loss, rel=0.03), update


def test_each_replay_drops_other_values_and_a_seed_decides_which() -> None:
    updater = updater_on(HERE, a_model(dropout=0.3), peak_lr=1e-30)
    batch = a_batch(1).to(HERE.device)
    for update in range(1, 5):
        updater.apply(update, [batch], batch.tokens)
    first, second, again = (updater.apply(n, [batch], batch.tokens).loss for n in (5, 6, 5))
    assert abs(first - second) > 1e-4
    assert again == pytest.approx(first, rel=1e-5)


def test_a_loss_that_is_not_finite_changes_nothing_in_a_replay() -> None:
    updater = updater_on(HERE, a_model(), optimizer="muon")
    batch = a_batch(1).to(HERE.device)
    for update in range(1, 5):
        assert updater.apply(update, [batch], batch.tokens).applied
    weights = [parameter.clone() for parameter in updater.model.parameters()]
    spoilt = updater.model.decoder_norm.weight.data
    value = spoilt[0].clone()
    spoilt[0] = torch.nan
    assert not updater.apply(5, [batch], batch.tokens).applied
    spoilt[0] = value
    for parameter, before in zip(updater.model.parameters(), weights, strict=True):
        assert torch.equal(parameter, before)
    assert updater.apply(6, [batch], batch.tokens).applied


@pytest.mark.skipif(not IS_GPU, reason="only a GPU's memory can be limited")
def test_what_does_not_fit_is_computed_in_parts() -> None:
    shape = PackedShape(src_rows=65536, tgt_rows=65536, places=8000, longest=128)
    chance = np.random.default_rng(1)
    lengths = chance.integers(5, 20, (5000, 2)).astype(np.int32)
    src = Rows(chance.integers(4, SOURCES, lengths[:, 0].sum()), lengths[:, 0])
    tgt = Rows(chance.integers(4, TARGETS, lengths[:, 1].sum()), lengths[:, 1])
    batch = packed(src, tgt, shape).to(HERE.device)
    updater = updater_on(HERE, a_model())
    total = torch.cuda.get_device_properties(HERE.device).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(700 * 2**20 / total)
    try:
        started = updater.start(1, [batch], batch.tokens)
        assert "it did not fit in memory" in started.warnings[0]
        assert started.result().applied
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_a_packed_training_is_stopped_and_resumed(corpus: Path, tmp_path: Path) -> None:
    settings = ["train.precision=bf16", "train.batch_tokens=512", "model.dropout=0.1"]
    straight = trained_on(DEVICE, corpus, tmp_path / "straight", *settings)
    trained_on(DEVICE, corpus, tmp_path / "resumed", *settings, "train.updates=10")
    resumed = trained_on(DEVICE, corpus, tmp_path / "resumed", *settings)
    assert losses(resumed) == pytest.approx(losses(straight), rel=0.01)
    assert position(resumed)["packed"] == IS_GPU


def test_a_training_goes_from_the_cpu_to_a_gpu_and_back(corpus: Path, tmp_path: Path) -> None:
    settings = ["train.precision=bf16", "train.batch_tokens=512"]
    for updates, device in ((6, "cpu"), (12, DEVICE), (20, "cpu")):
        run = trained_on(device, corpus, tmp_path / "run", *settings, f"train.updates={updates}")
    assert len(losses(run)) == 20
    assert not position(run)["packed"]


def position(run: RunDir) -> dict[str, object]:
    """Where the newest checkpoint stands in the data."""
    meta = json.loads((run.steps()[-1] / "meta.json").read_text(encoding="utf-8"))
    found: dict[str, object] = meta["progress"]["position"]
    return found


@pytest.mark.skipif(not IS_GPU, reason="on a CPU nothing is packed")
def test_training_takes_packed_batches_and_says_when_they_are_recorded(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = ["train.updates=20", "train.precision=bf16", "train.device=cuda"]
    settings = tiny_config(corpus, tmp_path / "run", *course)
    trainer = Trainer(settings, ready(settings), HERE)
    assert isinstance(trainer.updater, PackedUpdater)
    trainer.train()
    assert "compiled and recorded in " in capsys.readouterr().err
