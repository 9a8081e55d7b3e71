"""Updates of packed batches give what updates of padded ones give; only a GPU records them (tests/cuda)."""

import math
from copy import deepcopy

import numpy as np
import pytest
import torch
from in_process import CPU
from torch import nn

from nmt.config.schema import Config, ModelConfig, TrainConfig
from nmt.machine.device import Precision
from nmt.model.batch import Batch, Rows, collated
from nmt.model.kernels.dropout import Dropout
from nmt.model.packed_batch import PackedBatch, PackedShape, packed, pairs_in
from nmt.model.transformer import Transformer
from nmt.text.vocab import PAD
from nmt.train.data.word_dropout import drop_packed_words
from nmt.train.loss import cross_entropy, packed_cross_entropy
from nmt.train.packed_update import PackedUpdater, trains_packed
from nmt.train.padded_update import PaddedUpdater
from nmt.train.start.initialise import initialise

SOURCES, TARGETS = 30, 37
SHAPE = PackedShape(src_rows=256, tgt_rows=256, places=20, longest=128)


def config(**settings: object) -> TrainConfig:
    return TrainConfig.model_validate({"precision": "fp32", "warmup": 1, **settings})


def small_model() -> Transformer:
    torch.manual_seed(0)
    shape = ModelConfig(
        d_model=16,
        heads=2,
        d_ff=32,
        encoder_layers=2,
        decoder_layers=1,
        dropout=0.0,
        bias="feed_forward",  # the true gradient of a bias of keys is 0, and Adam blows up its rounding
        max_length=32,
    )
    model = Transformer(shape, SOURCES, TARGETS)
    initialise(model)
    return model


def both(seed: int) -> tuple[Batch, PackedBatch]:
    """The same pairs, padded and packed."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, 20, (12, 2)).astype(np.int32)
    src = Rows(chance.integers(4, SOURCES, lengths[:, 0].sum()), lengths[:, 0])
    tgt = Rows(chance.integers(4, TARGETS, lengths[:, 1].sum()), lengths[:, 1])
    return collated(src, tgt, 32), packed(src, tgt, SHAPE)


def assert_weights_are_close(one: nn.Module, other: nn.Module, rtol: float, atol: float) -> None:
    for (name, left), right in zip(one.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=rtol, atol=atol, msg=name)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "muon"])
def test_updates_are_those_of_padded_batches(optimizer: str) -> None:
    settings = config(optimizer=optimizer, peak_lr=0.01, clip_norm=0.5, weight_decay=0.1)
    model = small_model()
    padded = PaddedUpdater(settings, deepcopy(model), "fp32", CPU)
    packs = PackedUpdater(settings, model, "fp32", CPU)
    for update in range(1, 6):
        groups = [both(update), both(update + 100)]  # accumulated
        tokens = sum(batch.tokens for batch, _ in groups)
        expected = padded.apply(update, [one for one, _ in groups], tokens)
        found = packs.apply(update, [other for _, other in groups], tokens)
        assert found.loss == pytest.approx(expected.loss, rel=1e-4)
        assert found.gradient_norm == pytest.approx(expected.gradient_norm, rel=1e-3)
        assert (found.tokens, found.applied) == (tokens, True)
    assert_weights_are_close(packs.model, padded.model, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("precision", "rounding"), [("fp32", 1e-5), ("bf16", 2e-2)])
def test_the_loss_is_autograds_in_both_precisions(precision: Precision, rounding: float) -> None:
    model = small_model()
    padded, batch = both(1)
    logits = model(padded.src, padded.tgt_in)[padded.tgt_out != PAD]
    loss = nn.functional.cross_entropy(logits, padded.labels, label_smoothing=0.1)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients))
    updated = PackedUpdater(config(), model, precision, CPU).apply(1, [batch], batch.tokens)
    assert updated.loss == pytest.approx(loss.item(), rel=rounding)
    assert updated.gradient_norm == pytest.approx(norm, rel=rounding)


def test_the_loss_and_its_gradient_leave_out_spare_rows_and_columns() -> None:
    torch.manual_seed(3)
    logits = torch.randn(20, 40)
    labels = torch.randint(4, TARGETS, (20,), dtype=torch.int32)
    labels[15:] = PAD
    scale = torch.tensor(0.25)
    found, gradient = packed_cross_entropy(logits, labels, TARGETS, 0.1, scale)
    expected = torch.zeros(20, 40)
    loss = cross_entropy(
        logits[:15, :TARGETS], labels[:15].long(), 0.1, expected[:15, :TARGETS], scale
    )
    torch.testing.assert_close(found, loss * scale)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_a_gradient_that_is_not_finite_changes_nothing(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    updater = PackedUpdater(config(optimizer=optimizer), small_model(), "fp32", CPU)
    _, batch = both(1)
    assert updater.apply(1, [batch], batch.tokens).applied
    weights = [parameter.clone() for parameter in updater.model.parameters()]
    states = deepcopy([each.state_dict()["state"] for each in updater.optimizers])
    with monkeypatch.context() as patch:
        patch.setattr(updater, "_scale", updater._scale * math.nan)
        patch.setattr(updater._scale, "fill_", lambda _: None)
        assert not updater.apply(2, [batch], batch.tokens).applied
    for parameter, before in zip(updater.model.parameters(), weights, strict=True):
        assert torch.equal(parameter, before)
    for each, before in zip(updater.optimizers, states, strict=True):
        for number, state in each.state_dict()["state"].items():
            for name, value in state.items():
                assert torch.equal(value, before[number][name])
    assert updater.apply(3, [batch], batch.tokens).applied


def out_of_memory_at_first(updater: PackedUpdater, failures: int) -> list[int]:
    """Let so many batches not fit; gives the rows of those that are tried."""
    model = updater.low_precision.model
    forward = model.packed
    tried: list[int] = []

    def fail_at_first(pairs: object) -> torch.Tensor:
        tried.append(len(pairs.labels))  # type: ignore[attr-defined]
        if len(tried) <= failures:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(pairs)  # type: ignore[arg-type]

    model.packed = fail_at_first  # type: ignore[method-assign,assignment]
    return tried


def test_a_batch_that_does_not_fit_is_computed_in_parts() -> None:
    settings = config(peak_lr=0.01)
    model = small_model()
    padded, batch = both(1)
    plain = PaddedUpdater(settings, deepcopy(model), "fp32", CPU)
    updater = PackedUpdater(settings, model, "fp32", CPU)
    tried = out_of_memory_at_first(updater, failures=1)
    started = updater.start(1, [batch], batch.tokens)
    assert tried == [256, 128, 128]
    assert started.warnings == [
        "it did not fit in memory; larger batches are split at 128 positions"
    ]
    expected = plain.apply(1, [padded], padded.tokens)
    assert started.result().loss == pytest.approx(expected.loss, rel=1e-4)
    assert_weights_are_close(updater.model, plain.model, rtol=1e-3, atol=1e-4)


def test_where_torchs_compiler_fails_training_goes_on_without_it() -> None:
    model = small_model()
    _, batch = both(1)
    plain = PackedUpdater(config(), deepcopy(model), "fp32", CPU)
    updater = PackedUpdater(config(), model, "fp32", CPU)

    def fail(*_: object) -> None:
        raise RuntimeError("no C++ compiler\nand a long trace")

    updater.low_precision.model.encoder[0].packed = fail
    started = updater.start(1, [batch], batch.tokens)
    assert started.warnings == [
        "torch.compile failed (no C++ compiler); training goes on without it"
    ]
    assert started.result() == plain.apply(1, [batch], batch.tokens)
    assert updater.start(2, [batch], batch.tokens).warnings == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of torch's compiler
def test_torchs_compiler_makes_one_graph_for_each_kind_of_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a GPU, where dropout is torch's: two embeddings, a layer of each stack, the loss."""
    plain = nn.functional.dropout
    monkeypatch.setattr(Dropout, "forward", lambda self, x: plain(x, self.rate, self.training))
    monkeypatch.setattr(Dropout, "onto", lambda self, residual, x: residual + self(x))
    torch._dynamo.reset()
    counted = torch._dynamo.utils.counters
    counted.clear()
    updater = PackedUpdater(config(word_dropout=0.1), small_model(), "bf16", CPU)
    updater._compile()
    for update in (1, 2, 3):
        _, batch = both(update)
        started = updater.start(update, [batch], batch.tokens)
        assert started.warnings == []
        assert started.result().applied
    assert counted["stats"]["unique_graphs"] == 5
    assert not counted["graph_break"]


def test_words_are_dropped_but_neither_edges_nor_labels() -> None:
    _, batch = both(1)
    pairs = pairs_in(batch.values, batch.shape)
    torch.manual_seed(1)
    dropped = drop_packed_words(pairs, 0.5)
    for before, after in ((pairs.src, dropped.src), (pairs.tgt, dropped.tgt)):
        is_changed = before.ids != after.ids
        assert 0.2 < is_changed.float().mean() < 0.5
        assert (before.ids[is_changed] >= 4).all()
        assert (after.ids[is_changed] == 1).all()
    assert torch.equal(pairs.labels, dropped.labels)


def test_a_training_is_resumed_by_either_kind_of_updater() -> None:
    settings = config(optimizer="muon")
    padded, batch = both(1)
    first = PackedUpdater(settings, small_model(), "fp32", CPU)
    first.apply(1, [batch], batch.tokens)
    for kind, its_batch in ((PaddedUpdater, padded), (PackedUpdater, batch)):
        model = deepcopy(first.model)
        model.zero_grad(set_to_none=True)
        resumed = kind(settings, model, "fp32", CPU)
        resumed.load_state(first.state())
        assert resumed.apply(2, [its_batch], batch.tokens).applied  # type: ignore[attr-defined]


def test_only_a_gpu_that_can_trains_packed() -> None:
    assert not trains_packed(Config(), "bf16", CPU)
