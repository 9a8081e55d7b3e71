import math
from typing import Any

import pytest
import torch
from torch import nn

from nmt.config.schema import ModelConfig, TrainConfig
from nmt.model.linear import Linear
from nmt.model.transformer import Transformer
from nmt.train.optimizers import Muon, make_optimizers, orthogonal, step_if
from nmt.train.start.initialise import initialise


def config(**settings: object) -> TrainConfig:
    return TrainConfig.model_validate({"precision": "fp32", **settings})


def a_model(**settings: object) -> Transformer:
    torch.manual_seed(0)
    shape = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(ModelConfig.model_validate({**shape, **settings}), 11, 13)
    initialise(model)
    return model


def groups_of(train: TrainConfig, model: nn.Module) -> list[dict[str, Any]]:
    return [group for each in make_optimizers(train, model) for group in each.param_groups]


def step(optimizer: torch.optim.Optimizer, is_finite: bool = True) -> None:
    optimizer.found_inf = torch.tensor(float(not is_finite))  # type: ignore[attr-defined]
    optimizer.step()


def muon_of(layer: Linear, rate: float = 1.0, weight_decay: float = 0.0) -> Muon:
    muon = Muon([layer], weight_decay, torch.float32)
    for group in muon.param_groups:
        group["lr"] = rate
    return muon


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_only_matrices_decay_and_every_parameter_is_in_one_group(optimizer: str) -> None:
    model = a_model()
    groups = groups_of(config(optimizer=optimizer, weight_decay=0.1), model)
    for group in groups:
        assert {p.dim() > 1 for p in group["params"]} == {group["weight_decay"] == 0.1}
    grouped = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(grouped) == sorted(id(parameter) for parameter in model.parameters())


def test_adamw_takes_the_step_of_its_paper() -> None:
    """Loshchilov and Hutter (2019), algorithm 2, for one parameter and one step."""
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, 2.0)
    optimizer = make_optimizers(config(betas=(0.9, 0.98), weight_decay=0.1), layer)[0]
    optimizer.param_groups[0]["lr"] = 0.01
    layer.weight.grad = torch.full((1, 1), 0.5)
    optimizer.step()
    first, second = 0.1 * 0.5 / 0.1, 0.02 * 0.25 / 0.02
    expected = 2.0 - 0.01 * 0.1 * 2.0 - 0.01 * first / (math.sqrt(second) + 1e-9)
    assert layer.weight.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("tie", ["none", "target"])
def test_muon_takes_the_matrices_of_the_layers_but_no_embeddings_and_no_output(tie: str) -> None:
    model = a_model(tie_embeddings=tie, positions="learned")
    muon = make_optimizers(config(optimizer="muon"), model)[1]
    taken = {id(parameter) for group in muon.param_groups for parameter in group["params"]}
    names = {name for name, p in model.named_parameters() if id(p) in taken}
    layers = {name for name, p in model.named_parameters() if "coder." in name and p.dim() == 2}
    assert names == layers
    assert len(names) == 4 + 7


def test_frozen_layers_have_no_optimizer() -> None:
    model = a_model()
    model.encoder.requires_grad_(False)
    groups = groups_of(config(optimizer="muon"), model)
    assert all(p.requires_grad for group in groups for p in group["params"])


@pytest.mark.parametrize("shape", [(3, 12, 12), (2, 8, 40), (2, 40, 8)])
def test_orthogonal_keeps_the_singular_vectors_and_brings_all_values_near_one(
    shape: tuple[int, int, int],
) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    u, _, vt = torch.linalg.svd(matrices, full_matrices=False)
    values = u.mT @ orthogonal(matrices) @ vt.mT
    diagonal = values.diagonal(dim1=1, dim2=2)
    torch.testing.assert_close(values, torch.diag_embed(diagonal), atol=1e-4, rtol=0)
    assert diagonal.min() > 0.43
    assert diagonal.max() < 1.57


def test_muon_with_torchs_coefficients_takes_the_steps_of_torchs_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """torch's computes in bfloat16, so about. Its rate is adjusted to AdamW's, as ours."""
    monkeypatch.setattr("nmt.train.optimizers._STEPS", [(3.4445, -4.775, 2.0315)] * 5)
    monkeypatch.setattr("nmt.train.optimizers._MARGIN", 1.0)
    torch.manual_seed(0)
    layer = Linear(24, 10, bias=False)
    nn.init.normal_(layer.weight)
    begun = layer.weight.detach().clone()
    twin = nn.Parameter(begun.clone())
    torchs = torch.optim.Muon(
        [twin], lr=0.1, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw"
    )
    ours = muon_of(layer, rate=0.1, weight_decay=0.1)
    for _ in range(3):
        layer.weight.grad = torch.randn(10, 24)
        twin.grad = layer.weight.grad.clone()
        step(ours)
        torchs.step()
    assert (layer.weight - twin).norm() < 0.02 * (twin - begun).norm()


def test_muon_takes_each_matrix_of_a_stack_by_itself() -> None:
    torch.manual_seed(0)
    stack = Linear(6, 6, bias=False, stacked=3)
    nn.init.normal_(stack.weight)
    parts = [Linear(6, 6, bias=False) for _ in range(3)]
    stack.weight.grad = torch.randn(18, 6)
    for part, weight, gradient in zip(
        parts, stack.weight.chunk(3), stack.weight.grad.chunk(3), strict=True
    ):
        part.weight.data = weight.detach().clone()
        part.weight.grad = gradient.clone()
        step(muon_of(part))
    step(muon_of(stack))
    torch.testing.assert_close(stack.weight, torch.cat([part.weight for part in parts]))


def test_muon_changes_nothing_where_a_gradient_is_not_finite() -> None:
    layer = Linear(6, 6, bias=False)
    nn.init.normal_(layer.weight)
    muon = muon_of(layer, weight_decay=0.1)
    layer.weight.grad = torch.randn(6, 6)
    step(muon)
    weight = layer.weight.detach().clone()
    momentum = muon.state[layer.weight]["momentum"].clone()
    layer.weight.grad = torch.full((6, 6), math.inf)
    step(muon, is_finite=False)
    assert torch.equal(layer.weight, weight)
    assert torch.equal(muon.state[layer.weight]["momentum"], momentum)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_where_steps_are_not_fused_only_finite_gradients_are_applied(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on an Apple GPU, whose optimizers do not look at `found_inf`."""
    monkeypatch.setattr("nmt.train.optimizers.steps_are_fused", lambda _: False)
    layer = Linear(3, 2, bias=False)
    nn.init.ones_(layer.weight)
    (made,) = make_optimizers(config(optimizer=optimizer), layer)
    for is_finite in (False, True):
        layer.weight.grad = torch.randn(2, 3)
        step_if(made, 0.1, torch.tensor(is_finite))
        assert (layer.weight != 1).any() == is_finite
