"""Attention against torch's fused kernel and against autograd, in float64, where no rounding hides a mistake."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from nmt.model.kernels.attention import Attend, bias_of
from nmt.model.kernels.dropout import Dropout
from nmt.model.layers import join_heads, split_heads

N, H, T, S, D = 3, 2, 5, 7, 4
MASKS = {
    "none": None,
    "causal": torch.ones(T, S, dtype=torch.bool).tril(S - T),  # [T,S]
    "padding": (torch.arange(S) < torch.tensor([[7], [4], [1]]))[:, None, None, :],  # [N,1,1,S]
    "each its own": (torch.arange(N * H * T * S) % 3 != 1).view(N, H, T, S),
}
every_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
Sources = tuple[
    Tensor, Tensor
]  # what queries [N,T,H·D], and what keys and values [N,S,2·H·D], are made of


def sources(
    shape: tuple[int, ...] = (N, H, T, S, D), dtype: torch.dtype = torch.float64
) -> Sources:
    n, h, t, s, d = shape
    chance = torch.Generator().manual_seed(2)
    drawn = (
        torch.randn(n, *size, generator=chance, dtype=torch.float64)
        for size in ((t, h * d), (s, 2 * h * d))
    )
    one, other = (x.to(dtype).requires_grad_() for x in drawn)
    return one, other


def parts(of: Sources, heads: int = H) -> tuple[Tensor, ...]:
    """Queries, keys and values as the model's layers give them: views that stride over the other heads."""
    return tuple(split_heads(part, heads) for part in (of[0], *of[1].chunk(2, dim=-1)))


def whole(views: tuple[Tensor, ...]) -> list[Tensor]:
    """The same values, each tensor in memory of its own."""
    return [
        part.detach().clone(memory_format=torch.contiguous_format).requires_grad_()
        for part in views
    ]


def attending(rate: float, training: bool = True) -> Callable[..., Tensor]:
    attend = Attend(rate).train(training)
    return lambda q, k, v, mask: attend(q, k, v, None if mask is None else bias_of(mask, q.dtype))


def outcome(
    attend: Callable[..., Tensor], of: Sources, mask: Tensor | None, heads: int = H
) -> tuple[Tensor, ...]:
    """What attention gives, joined as the model's layers join it, and the gradients of its sources."""
    looked = join_heads(attend(*parts(of, heads), mask))
    arriving = torch.randn(
        looked.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )
    return looked, *torch.autograd.grad(looked, of, arriving.to(looked.dtype))


def test_causal_attention_sees_what_the_triangle_shows() -> None:
    """On the CPU, and by the call that a GPU gets."""
    q, k, v = whole(parts(sources((N, H, T, T, D))))
    triangle = bias_of(torch.ones(T, T, dtype=torch.bool).tril(), q.dtype)
    attend = Attend(0.0)
    expected = attend(q, k, v, triangle)
    torch.testing.assert_close(attend(q, k, v, None, is_causal=True), expected)
    torch.testing.assert_close(attend._fused(q, k, v, None, is_causal=True), expected)


def fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def written_out(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, factors: Tensor) -> Tensor:
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return (scores.softmax(-1) * factors) @ v


def exactly(ours: tuple[Tensor, ...], theirs: tuple[Tensor, ...]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@every_mask
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluating"])
def test_attention_and_its_gradients_are_those_of_torchs_fused_kernel(
    training: bool, mask: Tensor | None
) -> None:
    exactly(outcome(attending(0.0, training), sources(), mask), outcome(fused, sources(), mask))


@given(st.tuples(*[st.integers(1, 4)] * 5), st.tuples(*[st.booleans()] * 3), st.integers(0, 99))
def test_every_shape_and_every_way_of_broadcasting_a_mask_will_do(
    shape: tuple[int, ...], broadcast: tuple[bool, ...], seed: int
) -> None:
    n, h, t, s, _ = shape
    sizes = [1 if one else size for one, size in zip(broadcast, (n, h, t), strict=True)]
    mask = torch.rand(*sizes, s, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., -1] = True  # each query has something to look at
    of = sources(shape)
    exactly(outcome(attending(0.0), of, mask, shape[1]), outcome(fused, of, mask, shape[1]))


@every_mask
def test_with_dropout_it_is_what_autograd_makes_of_the_formula_with_the_same_factors(
    mask: Tensor | None,
) -> None:
    attend, chance = attending(0.4), Dropout(0.4).train()
    torch.manual_seed(4)
    ours = outcome(attend, sources(), mask)
    torch.manual_seed(4)
    factors = chance.factors(torch.Size((N, H, T, S)), torch.float64)
    assert set(factors.flatten().tolist()) == {0.0, 1 / (1 - 0.4)}
    exactly(ours, outcome(lambda *rest: written_out(*rest, factors), sources(), mask))


@every_mask
@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_the_gradients_are_the_slopes(rate: float, mask: Tensor | None) -> None:
    attend = attending(rate)

    def of_one_seed(*qkv: Tensor) -> Tensor:
        torch.manual_seed(5)
        return attend(*qkv, mask)

    qkv = whole(parts(sources()))
    # Along directions drawn at random: entry by entry, the tests above compare the gradients with others'.
    assert torch.autograd.gradcheck(of_one_seed, qkv, fast_mode=True)


def test_a_second_derivative_is_refused() -> None:
    """The backward is written by hand: autograd cannot look through it."""
    qkv = whole(parts(sources()))
    looked = attending(0.0)(*qkv, None)
    gradients = torch.autograd.grad(looked.square().sum(), qkv, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradients[0].square().sum().backward()


def test_a_gradient_that_is_one_number_for_all_will_do() -> None:
    """As the gradient of a sum is: expanded, with strides of 0."""
    of = sources()
    ours, theirs = (
        torch.autograd.grad(kind(*parts(of), None).sum(), of) for kind in (attending(0.0), fused)
    )
    exactly(ours, theirs)


@every_mask
def test_nothing_that_is_given_is_changed(mask: Tensor | None) -> None:
    qkv = whole(parts(sources()))
    before = [part.detach().clone() for part in qkv]
    mask_before = None if mask is None else mask.clone()
    attending(0.4)(*qkv, mask).sum().backward()
    assert all(torch.equal(part, kept) for part, kept in zip(qkv, before, strict=True))
    assert mask is None or torch.equal(mask, mask_before)


@every_mask
def test_in_bf16_it_is_float64s_but_for_rounding(mask: Tensor | None) -> None:
    narrow = sources(dtype=torch.bfloat16)
    wide = tuple(x.detach().double().requires_grad_() for x in narrow)
    for ours, exact in zip(
        outcome(attending(0.0), narrow, mask), outcome(fused, wide, mask), strict=True
    ):
        assert ours.dtype == torch.bfloat16
        assert (ours - exact).abs().max() <= 2 * torch.finfo(torch.bfloat16).eps * exact.abs().max()


def test_in_bf16_values_that_are_all_alike_teach_nothing_about_where_to_look() -> None:
    """A row of weights sums to 1 closer than bf16 could say."""
    q, k, _ = (part.detach().requires_grad_() for part in parts(sources(dtype=torch.bfloat16)))
    attending(0.0)(q, k, torch.full_like(k, 0.7), None).sum().backward()
    assert max(q.grad.abs().max(), k.grad.abs().max()) < 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scores_however_large_find_the_one_key_that_fits(dtype: torch.dtype) -> None:
    q, v = 1000 * torch.eye(4, dtype=dtype)[None, None], torch.randn(1, 1, 4, 4, dtype=dtype)
    assert torch.equal(attending(0.0)(q, q, v, None), v)


def test_training_attention_drops_weights_and_keeps_their_mean() -> None:
    torch.manual_seed(1)
    attend = attending(0.5)
    q, k = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 1000, 8)
    looked = attend(q, k, torch.ones(1, 1, 1000, 8), None)
    assert float(looked[0, 0, 0, 0]) != 1.0
    assert float(looked[0, 0, 0, 0]) == pytest.approx(
        1.0, abs=5 / math.sqrt(1000)
    )  # 5 standard deviations


@pytest.mark.parametrize("keys", [1, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("queries", [1, 2])
@torch.inference_mode()
def test_bfloat16_is_as_exact_as_its_digits(queries: int, keys: int) -> None:
    """For a single query, and for rows shorter and longer than a vector register: the ways there are."""
    q, k, v = parts(sources((N, H, queries, keys, D), torch.bfloat16))
    mask = (torch.arange(keys) < torch.tensor([[keys], [max(1, keys // 2)], [1]]))[:, None, None, :]
    exact = fused(q.double(), k.double(), v.double(), mask)
    looked = attending(0.0, training=False)(q, k, v, mask)
    assert looked.dtype == torch.bfloat16
    torch.testing.assert_close(looked.double(), exact, rtol=2**-6, atol=2**-6)
