import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.model.kernels.dropout import Dropout

COUNT = 200_000
RATES = [0.01, 0.1, 0.3, 0.5, 0.9]


def dropped(rate: float, x: torch.Tensor, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(rate).train()(x)


@pytest.mark.parametrize("rate", RATES)
def test_the_share_of_zeros_is_the_rate(rate: float) -> None:
    share = float((dropped(rate, torch.ones(COUNT)) == 0).double().mean())
    assert share == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / COUNT) + 2**-16)


@pytest.mark.parametrize("rate", RATES)
def test_what_is_kept_is_scaled_so_that_the_mean_stays(rate: float) -> None:
    out = dropped(rate, torch.ones(COUNT))
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)))
    deviation = math.sqrt(rate / (1 - rate) / COUNT)  # of the mean of COUNT values
    assert float(out.double().mean()) == pytest.approx(1.0, abs=4 * deviation + 2**-15)


def test_neighbours_are_dropped_independently() -> None:
    """Four draws are cut from one random number: none of them may tell of another."""
    zero = (dropped(0.5, torch.ones(COUNT)) == 0).double()
    for distance in range(1, 9):
        both = float((zero[distance:] * zero[:-distance]).mean())
        assert both == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / COUNT))


def test_each_place_of_four_is_dropped_as_often() -> None:
    zero = (dropped(0.3, torch.ones(COUNT)) == 0).double().view(-1, 4)
    assert zero.mean(0).tolist() == pytest.approx([0.3] * 4, abs=4 * math.sqrt(0.21 * 4 / COUNT))


def test_the_same_seed_gives_the_same_mask_and_another_seed_another() -> None:
    x = torch.ones(3, 5, 7)
    assert torch.equal(dropped(0.5, x, seed=1), dropped(0.5, x, seed=1))
    assert not torch.equal(dropped(0.5, x, seed=1), dropped(0.5, x, seed=2))


def test_two_calls_under_one_seed_give_two_masks() -> None:
    torch.manual_seed(1)
    layer, x = Dropout(0.5).train(), torch.ones(1000)
    assert not torch.equal(layer(x), layer(x))


@pytest.mark.parametrize(
    "layer", [Dropout(0.5).eval(), Dropout(0.0).train()], ids=["evaluating", "rate 0"]
)
def test_it_is_the_identity_when_there_is_nothing_to_drop(layer: Dropout) -> None:
    x, state = torch.randn(10), torch.get_rng_state()
    assert layer(x) is x
    assert torch.equal(torch.get_rng_state(), state)


def test_the_gradient_is_the_mask() -> None:
    x = torch.rand(1000, requires_grad=True)
    out = dropped(0.4, x)
    out.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), out.detach())
    assert set((x.grad == 0).tolist()) == {True, False}
    assert torch.equal(x.grad == 0, out == 0)


@given(
    st.lists(st.integers(0, 5), max_size=4),
    st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
)
def test_shape_and_type_are_kept(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    out = dropped(0.5, torch.ones(shape, dtype=dtype))
    assert (out.shape, out.dtype) == (torch.Size(shape), dtype)
    assert set(out.flatten().tolist()) <= {0.0, 2.0}


# --- the factors themselves, and dropout onto a residual ---

DTYPES = [torch.float32, torch.float64, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rate", RATES)
def test_factors_are_0_or_1_over_what_is_kept(rate: float, dtype: torch.dtype) -> None:
    factors = Dropout(rate).train().factors(torch.Size((100, 200)), dtype)
    assert (factors.shape, factors.dtype) == ((100, 200), dtype)
    assert factors.unique().tolist() == [0.0, torch.tensor(1 / (1 - rate), dtype=dtype).item()]


def test_factors_are_what_dropout_multiplies_by_under_the_same_seed() -> None:
    x = torch.randn(4, 5, 6)
    torch.manual_seed(1)
    factors = Dropout(0.3).train().factors(x.shape, x.dtype)
    assert torch.equal(dropped(0.3, x, seed=1), x * factors)


@pytest.mark.parametrize(
    "layer", [Dropout(0.5).eval(), Dropout(0.0).train()], ids=["evaluating", "rate 0"]
)
def test_there_are_no_factors_when_there_is_nothing_to_drop(layer: Dropout) -> None:
    residual, x, state = torch.randn(10), torch.randn(10), torch.get_rng_state()
    assert layer.factors(x.shape, x.dtype) is None
    assert torch.equal(layer.onto(residual, x), residual + x)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dropping_onto_a_residual_is_adding_what_is_dropped(dtype: torch.dtype) -> None:
    residual, x = torch.randn(2, 30, 40, dtype=dtype).unbind()
    before, rounding = residual.clone(), torch.finfo(dtype).eps
    torch.manual_seed(1)
    out = Dropout(0.3).train().onto(residual, x)
    torch.testing.assert_close(
        out, residual + dropped(0.3, x, seed=1), rtol=rounding, atol=4 * rounding
    )
    assert torch.equal(residual, before)


def test_the_gradient_of_a_residual_is_whole_and_that_of_what_is_dropped_is_the_mask() -> None:
    residual, x = torch.rand(1000, requires_grad=True), torch.rand(1000, requires_grad=True)
    torch.manual_seed(1)
    Dropout(0.3).train().onto(residual, x).sum().backward()
    assert torch.equal(residual.grad, torch.ones(1000))
    assert torch.equal(x.grad, dropped(0.3, torch.ones(1000), seed=1))
