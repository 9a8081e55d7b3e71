"""The random start of a model: its distribution, matrix by matrix; and that nothing else draws."""

import math
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch_twin import tiny

from nmt.config.schema import ModelConfig
from nmt.model.layers import CrossAttention, FeedForward, SelfAttention
from nmt.model.transformer import Transformer, sinusoids
from nmt.train.start.initialise import initialise

WIDE = tiny(d_model=64, heads=4, d_ff=96, tie_embeddings="none", positions="learned", max_length=64)
WIDE_GATED = WIDE.model_copy(update={"activation": "swiglu"})


@pytest.fixture(autouse=True)
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def started(config: ModelConfig, seed: int = 3) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(config, 500, 500)
    initialise(model)
    return model


def matrices(model: nn.Module) -> dict[str, torch.Tensor]:
    """Every matrix that the paper would call one: fused projections taken apart."""
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, SelfAttention):
            found |= {
                f"{name}.{part}": w
                for part, w in zip("qkv", module.qkv.weight.chunk(3), strict=True)
            }
            found[f"{name}.out"] = module.out.weight
        elif isinstance(module, CrossAttention):
            found |= {
                f"{name}.{part}": w for part, w in zip("kv", module.kv.weight.chunk(2), strict=True)
            }
            found |= {f"{name}.q": module.q.weight, f"{name}.out": module.out.weight}
        elif isinstance(module, FeedForward):
            inner = module.inner.weight.chunk(2 if module.gated else 1)
            found |= {f"{name}.inner{number}": part for number, part in enumerate(inner)}
            found[f"{name}.out"] = module.out.weight
    return found


@pytest.mark.parametrize("config", [WIDE, WIDE_GATED])
def test_xavier_fills_its_bounds_for_each_matrix_by_itself(config: ModelConfig) -> None:
    model = started(config)
    found = matrices(model)
    assert len(found) == 2 * (4 + 2) + 3 * (8 + 2) + (5 if config.activation == "swiglu" else 0)
    for name, matrix in {**found, "output": model.output.weight}.items():
        bound = math.sqrt(6 / sum(matrix.shape))
        assert 0.98 * bound < float(matrix.abs().max()) <= bound, name
        assert float(matrix.std()) == pytest.approx(bound / math.sqrt(3), rel=0.05), name


def test_xavier_embeddings_have_unit_length_so_that_the_scale_makes_them_unit_variance() -> None:
    model = started(WIDE)
    for table in (model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight):
        assert float(table.std()) == pytest.approx(1 / 8, rel=0.03)


def test_the_normal_start_is_n_0_0_02_everywhere() -> None:
    model = started(WIDE.model_copy(update={"init": "normal"}))
    tables = {
        "src": model.src_embedding.tokens.weight,
        "tgt": model.tgt_embedding.tokens.weight,
        "src positions": model.src_embedding.positions,
        "tgt positions": model.tgt_embedding.positions,
        "output": model.output.weight,
    }
    for name, matrix in {**matrices(model), **tables}.items():
        assert float(matrix.std()) == pytest.approx(0.02, rel=0.06), name
        assert abs(float(matrix.mean())) < 5 * 0.02 / math.sqrt(matrix.numel()), name


@pytest.mark.parametrize("init", ["xavier", "normal"])
def test_biases_start_at_zero_and_norms_at_one(init: str) -> None:
    model = started(WIDE.model_copy(update={"init": init, "output_bias": True}))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            expected = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            assert (parameter == expected).all(), name


@pytest.mark.parametrize("tie", ["target", "all"])
def test_a_tied_output_starts_as_the_embedding(tie: str) -> None:
    model = started(WIDE.model_copy(update={"tie_embeddings": tie}))
    assert float(model.output.weight.std()) == pytest.approx(1 / 8, rel=0.03)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_same_seed_starts_the_same_model(norm: str) -> None:
    config = WIDE.model_copy(update={"norm": norm})
    one, same, other = (started(config, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["output.weight"], other["output.weight"])


def test_every_parameter_is_given_a_value() -> None:
    model = Transformer(WIDE.model_copy(update={"output_bias": True}), 500, 500)
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            parameter.fill_(torch.nan)
    initialise(model)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_building_a_model_draws_nothing(positions: str) -> None:
    before = torch.get_rng_state()
    Transformer(WIDE.model_copy(update={"positions": positions}), 500, 500)
    assert torch.equal(torch.get_rng_state(), before)


def test_norms_and_sinusoids_are_there_before_the_start() -> None:
    """A checkpoint brings the weights, but not the table of positions."""
    model = Transformer(WIDE.model_copy(update={"positions": "sinusoidal"}), 20, 20)
    assert torch.equal(model.src_embedding.positions, sinusoids(64, 64))
    assert torch.equal(model.tgt_embedding.positions, sinusoids(64, 64))
    assert torch.equal(model.encoder_norm.weight, torch.ones(64))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_a_model_without_memory_shows_the_shapes_of_its_weights(positions: str) -> None:
    config = WIDE.model_copy(update={"positions": positions})
    with torch.device("meta"):
        shapes = Transformer(config, 20, 30).state_dict()
    model = Transformer(config, 20, 30).state_dict()
    assert {name: x.shape for name, x in shapes.items()} == {
        name: x.shape for name, x in model.items()
    }
    assert all(x.is_meta for x in shapes.values())
