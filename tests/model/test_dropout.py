import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.model.dropout import Dropout

COUNT = 200_000
RATES = [0.01, 0.1, 0.3, 0.5, 0.9]


def dropped(rate: float, x: torch.Tensor, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(rate).train()(x)


@pytest.mark.parametrize("rate", RATES)
def test_the_share_of_zeros_is_the_rate(rate):
    share = float((dropped(rate, torch.ones(COUNT)) == 0).double().mean())
    assert share == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / COUNT) + 2**-16)


@pytest.mark.parametrize("rate", RATES)
def test_what_is_kept_is_scaled_so_that_the_mean_stays(rate):
    out = dropped(rate, torch.ones(COUNT))
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)))
    deviation = math.sqrt(rate / (1 - rate) / COUNT)  # of the mean of COUNT values
    assert float(out.double().mean()) == pytest.approx(1.0, abs=4 * deviation + 2**-15)


def test_neighbours_are_dropped_independently():
    """Four draws are cut from one random number: none of them may tell of another."""
    zero = (dropped(0.5, torch.ones(COUNT)) == 0).double()
    for distance in range(1, 9):
        both = float((zero[distance:] * zero[:-distance]).mean())
        assert both == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / COUNT))


def test_each_place_of_four_is_dropped_as_often():
    zero = (dropped(0.3, torch.ones(COUNT)) == 0).double().view(-1, 4)
    assert zero.mean(0).tolist() == pytest.approx([0.3] * 4, abs=4 * math.sqrt(0.21 * 4 / COUNT))


def test_the_same_seed_gives_the_same_mask_and_another_seed_another():
    x = torch.ones(3, 5, 7)
    assert torch.equal(dropped(0.5, x, seed=1), dropped(0.5, x, seed=1))
    assert not torch.equal(dropped(0.5, x, seed=1), dropped(0.5, x, seed=2))


def test_two_calls_under_one_seed_give_two_masks():
    torch.manual_seed(1)
    layer, x = Dropout(0.5).train(), torch.ones(1000)
    assert not torch.equal(layer(x), layer(x))


@pytest.mark.parametrize("layer", [Dropout(0.5).eval(), Dropout(0.0).train()], ids=["evaluating", "rate 0"])
def test_it_is_the_identity_when_there_is_nothing_to_drop(layer):
    x, state = torch.randn(10), torch.get_rng_state()
    assert layer(x) is x
    assert torch.equal(torch.get_rng_state(), state)


def test_the_gradient_is_the_mask():
    x = torch.rand(1000, requires_grad=True)
    out = dropped(0.4, x)
    out.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), out.detach())
    assert set((x.grad == 0).tolist()) == {True, False}
    assert torch.equal(x.grad == 0, out == 0)


@given(st.lists(st.integers(0, 5), max_size=4), st.sampled_from([torch.float32, torch.float64, torch.bfloat16]))
def test_shape_and_type_are_kept(shape, dtype):
    out = dropped(0.5, torch.ones(shape, dtype=dtype))
    assert (out.shape, out.dtype) == (torch.Size(shape), dtype)
    assert set(out.flatten().tolist()) <= {0.0, 2.0}
