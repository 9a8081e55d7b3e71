"""The loss and its gradient against torch's; a dtype of the layers changes only roundings."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config.schema import ModelConfig
from nmt.model.batch import Batch, collate
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.transformer import Transformer
from nmt.text.vocab import PAD
from nmt.train.loss import cross_entropy, logits_of
from nmt.train.start.initialise import initialise


def some_logits(
    tokens: int, vocabulary: int, dtype: torch.dtype = torch.float64, seed: int = 1
) -> tuple[Tensor, Tensor]:
    """Logits [n,V] of a wide range, and targets [n]."""
    chance = torch.Generator().manual_seed(seed)
    logits = 5 * torch.randn(tokens, vocabulary, generator=chance, dtype=torch.float64)
    return logits.to(dtype), torch.randint(vocabulary, (tokens,), generator=chance)


def reference(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """torch's loss and autograd's gradient."""
    logits = logits.detach().clone().requires_grad_()
    loss = F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    return loss.detach(), torch.autograd.grad(loss, logits)[0]


def measured(
    logits: Tensor, targets: Tensor, smoothing: float, scale: float | Tensor = 1.0
) -> tuple[Tensor, Tensor]:
    gradient = torch.full_like(logits, torch.nan)
    return cross_entropy(logits, targets, smoothing, gradient, scale), gradient


SMOOTHING = st.just(0.0) | st.floats(0, 0.99)


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 99),
    SMOOTHING,
    st.floats(-1e3, 1e3),
    st.integers(0, 99),
)
def test_loss_and_gradient_are_torchs_in_blocks_of_any_size(
    tokens: int, vocabulary: int, at_once: int, smoothing: float, scale: float, seed: int
) -> None:
    logits, targets = some_logits(tokens, vocabulary, seed=seed)
    before = logits.clone()
    expected_loss, expected_gradient = reference(logits, targets, smoothing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmt.machine.device._LOGITS_OF_CPU", at_once)
        loss, gradient = measured(logits, targets, smoothing, scale)
    torch.testing.assert_close(loss, expected_loss, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(gradient, scale * expected_gradient, rtol=1e-10, atol=1e-10)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize(
    "at_once", [1, 4, 5, 9, 10, 16, 34, 35, 36], ids=lambda at_once: f"at once {at_once}"
)
def test_blocks_meet_without_gap_or_overlap(
    at_once: int, smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """7 rows of 5 logits: one a block, several with a ragged last one, all at once."""
    logits, targets = some_logits(7, 5)
    expected_loss, expected_gradient = reference(logits, targets, smoothing)
    monkeypatch.setattr("nmt.machine.device._LOGITS_OF_CPU", at_once)
    loss, gradient = measured(logits, targets, smoothing)
    torch.testing.assert_close(loss, expected_loss, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-12, atol=1e-14)
    assert torch.equal(cross_entropy(logits, targets, smoothing), loss)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_scale_may_be_a_tensor(smoothing: float) -> None:
    logits, targets = some_logits(7, 5)
    _, expected = reference(logits, targets, smoothing)
    loss, gradient = measured(logits, targets, smoothing, torch.tensor(1024.0))
    assert torch.equal(loss, measured(logits, targets, smoothing)[0])
    torch.testing.assert_close(gradient, 1024 * expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(
    ("dtype", "rounding"), [(torch.float32, 0.0), (torch.bfloat16, 2**-8), (torch.float16, 2**-11)]
)
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_of_narrow_logits_the_loss_is_wide_and_the_gradient_rounded_once(
    smoothing: float, dtype: torch.dtype, rounding: float
) -> None:
    logits, targets = some_logits(300, 40, dtype)
    expected_loss, expected_gradient = reference(logits.double(), targets, smoothing)
    loss, gradient = measured(logits, targets, smoothing, 64.0)
    assert (loss.dtype, gradient.dtype) == (torch.float32, dtype)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-6, atol=0)
    torch.testing.assert_close(
        gradient.double(), 64 * expected_gradient, rtol=rounding + 1e-6, atol=1e-4
    )


# --- the logits, the layers computing in some dtype ---

SHAPE = {
    "d_model": 16,
    "heads": 4,
    "d_ff": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "max_length": 20,
}
Variant = dict[str, object]
VARIANTS = [
    pytest.param({}, id="default"),
    pytest.param({"tie_embeddings": "all"}, id="all tied"),
    pytest.param(
        {"tie_embeddings": "none", "output_bias": True, "scale": "output"}, id="untied, output bias"
    ),
    pytest.param(
        {"norm": "post", "embedding_norm": True, "positions": "learned"},
        id="post-norm, learned positions",
    ),
    pytest.param({"activation": "swiglu", "bias": "none"}, id="swiglu, no biases"),
]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def a_model(**variant: object) -> Transformer:
    """A float32 model; without relu, whose kinks make much of a rounding."""
    torch.manual_seed(1)
    config = {"activation": "gelu", "dropout": 0.0, **SHAPE, **variant}
    model = Transformer(ModelConfig.model_validate(config), 23, 23).train()
    initialise(model)
    return model


def a_batch(copies: int = 1) -> Batch:
    sources, targets = [[4, 5, 6], [7], [8, 9, 10, 11]], [[8, 9], [10, 4, 5, 6], [5]]
    return collate(*([np.array(ids) for ids in side] * copies for side in (sources, targets)))


def gradients(model: Transformer, batch: Batch, dtype: torch.dtype) -> dict[str, Tensor]:
    """Of every parameter, by the way that training goes."""
    model.zero_grad()
    working = LowPrecisionCopy(model, dtype)
    logits = logits_of(working.model, batch)
    gradient = torch.empty_like(logits)
    cross_entropy(logits.detach(), batch.labels, 0.1, gradient)
    logits.backward(gradient)
    working.hand_over_gradients()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def apart(one: Tensor, other: Tensor) -> float:
    """The length of the difference, of the other's."""
    return float((one - other).norm() / other.norm())


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_smoothed_cross_entropy_over_what_is_no_padding(smoothing: float) -> None:
    model, batch = a_model().double(), a_batch()
    log_probs = model(batch.src, batch.tgt_in).log_softmax(-1)
    expected = 0.0
    for row, targets in zip(log_probs, batch.tgt_out.tolist(), strict=True):
        for position, target in enumerate(targets):
            if target != PAD:
                expected -= (1 - smoothing) * row[position, target].item()
                expected -= smoothing * row[position].mean().item()
    logits = logits_of(model, batch)
    assert cross_entropy(logits, batch.labels, smoothing).item() == pytest.approx(
        expected, rel=1e-10
    )


@every_variant
def test_in_another_dtype_the_gradients_are_those_of_a_model_of_that_dtype(
    variant: Variant,
) -> None:
    """A float32 model with layers in float64, against a float64 model and autograd alone."""
    model, batch = a_model(**variant), a_batch()
    double = deepcopy(model).double()
    real = batch.tgt_out != PAD
    logits = double(batch.src, batch.tgt_in)[real]
    F.cross_entropy(logits, batch.tgt_out[real], reduction="sum", label_smoothing=0.1).backward()
    computed = logits_of(LowPrecisionCopy(model, torch.float64).model, batch)
    torch.testing.assert_close(computed, logits, rtol=1e-5, atol=1e-5)
    found = gradients(model, batch, torch.float64)
    for name, parameter in double.named_parameters():
        assert found[name].dtype == torch.float32
        torch.testing.assert_close(
            found[name].double(), parameter.grad, rtol=1e-4, atol=1e-5, msg=name
        )


@every_variant
def test_in_bf16_every_layer_computes_in_bf16_and_the_parameters_stay_as_they_are(
    variant: Variant,
) -> None:
    model = a_model(**variant)
    seen: list[torch.dtype] = []
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.LayerNorm):
            module.register_forward_hook(
                lambda _, given, out: seen.extend([given[0].dtype, out.dtype])
            )
    working = LowPrecisionCopy(model, torch.bfloat16).model
    assert logits_of(working, a_batch()).dtype == torch.bfloat16
    assert set(seen) == {torch.bfloat16}
    assert model.dtype == torch.float32
    for name, parameter in model.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, before[name])


@every_variant
def test_in_bf16_the_gradients_are_float32_and_near_those_of_float32(variant: Variant) -> None:
    model, batch = a_model(**variant), a_batch()
    wide, narrow = (gradients(model, batch, dtype) for dtype in (torch.float32, torch.bfloat16))
    assert wide.keys() == narrow.keys() == dict(model.named_parameters()).keys()
    for name, gradient in narrow.items():
        assert gradient.dtype == torch.float32
        assert apart(gradient, wide[name]) < 0.15, name


def test_in_bf16_a_tied_matrix_gets_the_gradients_of_all_its_uses() -> None:
    """Those of three matrices of a model in which they are apart, and equal."""
    tied, untied = a_model(tie_embeddings="all"), a_model(tie_embeddings="none")
    untied.load_state_dict(tied.state_dict())
    batch = a_batch()
    whole = gradients(tied, batch, torch.bfloat16)["src_embedding.tokens.weight"]
    of_uses = gradients(untied, batch, torch.bfloat16)
    uses = [
        of_uses[f"{name}.weight"]
        for name in ("src_embedding.tokens", "tgt_embedding.tokens", "output")
    ]
    assert apart(whole, sum(uses)) < 1e-3
    for use in uses:
        assert apart(whole - use, sum(uses)) > 0.05


@every_variant
def test_in_bf16_a_batch_500_times_gives_its_gradients_500_times(
    variant: Variant,
) -> None:
    """A sum of 500 equal numbers stands still in bf16, which counts 254, 255, 256, 256 …"""
    model = a_model(**variant)
    once, often = (gradients(model, a_batch(copies), torch.bfloat16) for copies in (1, 500))
    for name, gradient in often.items():
        assert apart(gradient, 500 * once[name]) < 0.02, name
