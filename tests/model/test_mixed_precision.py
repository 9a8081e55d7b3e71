"""The copy of a model that computes in another dtype, and hands its gradients over."""

import pytest
import torch
from torch import nn

from nmt.config.schema import ModelConfig, TrainConfig
from nmt.model import mixed_precision as working_copy
from nmt.model.batch import Batch, collate
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.transformer import Transformer
from nmt.train.distributed import World
from nmt.train.padded_update import PaddedUpdater
from nmt.train.start.initialise import initialise
from nmt.train.update import UpdateResult

CPU = World(0, 1, torch.device("cpu"))


def a_model(**shape: object) -> Transformer:
    small = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    torch.manual_seed(0)
    model = Transformer(ModelConfig.model_validate({**small, "dropout": 0.0, **shape}), 23, 23)
    initialise(model)
    return model


def a_batch() -> Batch:
    return collate([[5, 6, 7], [8]], [[5, 6], [7, 8, 9, 10]])  # type: ignore[list-item]


@pytest.mark.parametrize("tie", ["none", "target", "all"])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_all_but_embeddings_and_positions_are_in_the_other_dtype(positions: str, tie: str) -> None:
    master = a_model(tie_embeddings=tie, positions=positions)
    copy = LowPrecisionCopy(master, torch.bfloat16).model
    own = dict(master.named_parameters(remove_duplicate=False))
    for name, parameter in copy.named_parameters(remove_duplicate=False):
        if "tokens" in name or "positions" in name:
            assert parameter is own[name], name
        else:
            assert parameter.dtype == torch.bfloat16, name
            assert torch.equal(parameter, own[name].bfloat16()), name
    assert copy.dtype == torch.bfloat16
    assert master.dtype == torch.float32


def test_in_the_dtype_of_the_master_nothing_is_copied() -> None:
    master = a_model()
    copy = LowPrecisionCopy(master, torch.float32).model
    assert {id(p) for p in copy.parameters()} == {id(p) for p in master.parameters()}


def test_a_refreshed_copy_has_the_weights_that_the_master_has_now() -> None:
    master = a_model()
    working = LowPrecisionCopy(master, torch.bfloat16)
    with torch.no_grad():
        for parameter in master.parameters():
            parameter.mul_(1.5)
    working.refresh()
    own = dict(master.named_parameters(remove_duplicate=False))
    for name, parameter in working.model.named_parameters(remove_duplicate=False):
        assert torch.equal(parameter, own[name].to(parameter.dtype)), name


def test_gradients_that_are_handed_over_twice_are_added_up() -> None:
    master = a_model()
    working = LowPrecisionCopy(master, torch.bfloat16)
    layers = [module for module in working.model.modules() if isinstance(module, nn.Linear)]
    for share in (1.0, 2.0):
        for layer in layers:
            layer.weight.grad = torch.full_like(layer.weight, share)
        working.hand_over_gradients()
        assert all(layer.weight.grad is None for layer in layers)
    for module in master.modules():
        if isinstance(module, nn.Linear):
            assert module.weight.grad is not None
            assert module.weight.grad.dtype == torch.float32
            assert (module.weight.grad == 3.0).all()


@pytest.mark.parametrize(
    "shape", [{}, {"tie_embeddings": "none", "output_bias": True}, {"scale": "output"}]
)
def test_empty_rows_of_the_output_change_nothing(
    shape: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a GPU has them; here the CPU gets them too."""

    def trained() -> tuple[int, list[UpdateResult], Transformer]:
        master = a_model(**shape)
        updater = PaddedUpdater(TrainConfig(warmup=1), master, "bf16", CPU)
        batch = a_batch()
        updates = [updater.apply(update, [batch], batch.tokens) for update in (1, 2, 3)]
        return len(updater.low_precision.model.output.weight), updates, master

    rows, updates, model = trained()
    monkeypatch.setattr(working_copy, "_rows", lambda rows, weight: 64)
    padded_rows, padded_updates, padded_model = trained()
    assert (rows, padded_rows) == (23, 64)
    for one, other in zip(updates, padded_updates, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-3)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-2)
    for parameter, padded in zip(model.parameters(), padded_model.parameters(), strict=True):
        torch.testing.assert_close(parameter, padded, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("tie", ["none", "target"])
def test_what_is_frozen_stays_frozen_in_the_copy(tie: str) -> None:
    master = a_model(tie_embeddings=tie)
    master.output.weight.requires_grad = False
    updater = PaddedUpdater(TrainConfig(), master, "bf16", CPU)
    batch = a_batch()
    before = master.output.weight.clone()
    for update in (1, 2):
        updater.apply(update, [batch], batch.tokens)
        assert master.output.weight.grad is None
    assert torch.equal(master.output.weight, before)
