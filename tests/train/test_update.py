import math
from copy import deepcopy

import numpy as np
import pytest
import torch
from in_process import CPU
from torch import nn

from nmt.config.schema import ModelConfig, TrainConfig
from nmt.machine.device import Precision
from nmt.model.batch import Batch, collate
from nmt.model.transformer import Transformer
from nmt.text.vocab import PAD
from nmt.train.loss import computed_logits
from nmt.train.padded_update import PaddedUpdater
from nmt.train.schedule import learning_rate
from nmt.train.start.initialise import initialise
from nmt.train.update import seed_update


def config(**settings: object) -> TrainConfig:
    return TrainConfig.model_validate({"precision": "fp32", **settings})


def small_model() -> Transformer:
    torch.manual_seed(0)
    shape = ModelConfig(
        d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1, dropout=0.0, max_length=16
    )
    model = Transformer(shape, 11, 13)
    initialise(model)
    return model


def some_batch() -> Batch:
    sources = [np.array([5, 6, 7]), np.array([8])]
    targets = [np.array([5, 6]), np.array([7, 8, 9, 10])]
    return collate(sources, targets)


def real_logits(model: Transformer, batch: Batch) -> torch.Tensor:
    """Logits [n,V] where the target is not padding."""
    return model(batch.src, batch.tgt_in)[batch.tgt_out != PAD]


def computed_in(model: Transformer) -> set[torch.dtype]:
    """What feed-forward layers compute in from now on."""
    seen: set[torch.dtype] = set()
    model.encoder[0].feed_forward.register_forward_hook(lambda _, given, out: seen.add(out.dtype))
    return seen


def test_words_are_dropped_by_seed_and_update_and_the_loss_is_of_all_labels() -> None:
    model = small_model()
    batch = some_batch()
    losses = []
    for share, update in ((0.0, 1), (0.5, 1), (0.5, 1), (0.5, 2)):
        updater = PaddedUpdater(config(word_dropout=share, seed=3), deepcopy(model), "fp32", CPU)
        updated = updater.apply(update, [batch], batch.tokens)
        assert updated.tokens == batch.tokens
        losses.append(updated.loss)
    assert losses[1] == losses[2]
    assert len(set(losses)) == 3


@pytest.mark.parametrize("schedule", ["noam", "inverse_sqrt"])
def test_the_rate_rises_linearly_to_its_peak_and_falls_with_the_root(schedule: str) -> None:
    train = config(schedule=schedule, warmup=100, peak_lr=1e-3)
    rates = [learning_rate(train, 64, update) for update in range(1, 1001)]
    assert max(rates) == rates[99]
    assert rates[49] == pytest.approx(rates[99] / 2)
    assert rates[399] == pytest.approx(rates[99] / 2)


def test_noam_is_the_formula_of_the_paper() -> None:
    train = config(schedule="noam", warmup=4000, peak_lr=1.0)
    for step in (1, 100, 4000, 4001, 100_000):
        assert learning_rate(train, 512, step) == pytest.approx(
            512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        )


def test_cosine_falls_to_zero_at_the_last_update_and_constant_stays() -> None:
    cosine = config(schedule="cosine", warmup=10, updates=110, peak_lr=1.0)
    assert learning_rate(cosine, 64, 10) == 1.0
    assert learning_rate(cosine, 64, 60) == pytest.approx(0.5)
    assert learning_rate(cosine, 64, 110) == pytest.approx(0.0)
    constant = config(schedule="constant", warmup=0, peak_lr=0.1)
    assert {learning_rate(constant, 64, update) for update in (1, 10, 10_000)} == {0.1}


def test_wsd_stays_at_its_peak_and_falls_to_zero_at_the_end() -> None:
    wsd = config(schedule="wsd", warmup=10, cooldown=20, updates=100, peak_lr=1.0)
    assert learning_rate(wsd, 64, 5) == 0.5
    assert {learning_rate(wsd, 64, update) for update in range(10, 81)} == {1.0}
    assert learning_rate(wsd, 64, 85) == pytest.approx(0.5)  # 1 - √(5 / 20)
    assert learning_rate(wsd, 64, 100) == 0.0
    longer = config(schedule="wsd", warmup=10, cooldown=20, updates=1000, peak_lr=1.0)
    for update in range(1, 81):
        assert learning_rate(longer, 64, update) == learning_rate(wsd, 64, update)
    assert config(schedule="wsd", updates=100).cooldown_updates == 20


def test_chance_depends_on_seed_update_and_rank_alone() -> None:
    def draw(*where: int) -> float:
        seed_update(*where)
        return float(torch.rand(()))

    assert draw(1, 5, 0) == draw(1, 5, 0)
    assert len({draw(1, 5, 0), draw(2, 5, 0), draw(1, 6, 0), draw(1, 5, 1), draw(15, 0, 0)}) == 5


@pytest.mark.parametrize(
    ("precision", "dtype", "rounding"),
    [("fp32", torch.float32, 1e-5), ("bf16", torch.bfloat16, 2e-2), ("fp16", torch.float16, 2e-3)],
)
def test_an_update_tells_the_mean_loss_and_the_norm_of_its_gradient(
    precision: Precision, dtype: torch.dtype, rounding: float
) -> None:
    """Two batches of unlike size, against autograd of the mean over all their tokens."""
    model = small_model()
    one = some_batch()
    other = collate([np.array([9, 5])], [np.array([12, 4, 4, 8, 11])])
    logits = torch.cat([real_logits(model, one), real_logits(model, other)])
    labels = torch.cat([one.labels, other.labels])
    assert not (labels == PAD).any()
    loss = nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients))

    seen = computed_in(model)
    settings = config(label_smoothing=0.1, clip_norm=0)
    updater = PaddedUpdater(settings, model, precision, CPU)
    updated = updater.apply(1, [one, other], len(labels))
    assert updated.applied
    assert seen == {dtype}
    assert updated.loss == pytest.approx(loss.item(), rel=rounding)
    assert updated.gradient_norm == pytest.approx(norm, rel=rounding)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_the_gradient_is_clipped_to_its_norm() -> None:
    model = small_model()
    updater = PaddedUpdater(
        config(clip_norm=0.01, optimizer="adam", warmup=1, peak_lr=1.0),
        model,
        "fp32",
        CPU,
    )
    norms: list[float] = []

    def note_norm(*_: object) -> None:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norms.append(math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients)))

    updater.optimizers[0].register_step_pre_hook(note_norm)
    batch = some_batch()
    updated = updater.apply(1, [batch], batch.tokens)
    assert updated.gradient_norm > 0.01
    assert norms == [pytest.approx(0.01, rel=1e-3)]
    assert updated.applied


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("optimizer", ["adam", "adamw", "muon"])
def test_a_gradient_that_is_not_finite_changes_neither_weights_nor_optimizer(
    precision: Precision, optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small_model()
    updater = PaddedUpdater(config(optimizer=optimizer, warmup=1), model, precision, CPU)
    batch = some_batch()
    assert updater.apply(1, [batch], batch.tokens).applied
    weights = [parameter.clone() for parameter in model.parameters()]
    states = deepcopy([each.state_dict()["state"] for each in updater.optimizers])

    with monkeypatch.context() as patch:
        patch.setattr(
            "nmt.train.padded_update.computed_logits",
            lambda model, part: computed_logits(model, part) * math.inf,
        )
        assert not updater.apply(2, [batch], batch.tokens).applied
    for parameter, before in zip(model.parameters(), weights, strict=True):
        assert torch.equal(parameter, before)
    for each, before in zip(updater.optimizers, states, strict=True):
        for number, state in each.state_dict()["state"].items():
            for name, value in state.items():
                assert torch.equal(value, before[number][name])
    assert updater.apply(3, [batch], batch.tokens).applied


def test_without_the_compiler_an_error_is_an_error() -> None:
    updater = PaddedUpdater(config(), small_model(), "fp32", CPU)

    def fail(*_: object) -> None:
        raise RuntimeError("a mistake")

    updater.low_precision.model.encoder[0].forward = fail  # type: ignore[method-assign,assignment]
    batch = some_batch()
    with pytest.raises(RuntimeError, match="a mistake"):
        updater.start(1, [batch], batch.tokens)
