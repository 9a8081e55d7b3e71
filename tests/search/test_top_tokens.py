"""The likeliest tokens against torch's log_softmax and topk."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.machine import device as module
from nmt.search.top_tokens import top_tokens
from nmt.text.vocab import EOS


def logits(rows: int, tokens: int, seed: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(
        rows, tokens, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ).to(dtype)


@given(st.integers(1, 5), st.integers(4, 3000), st.integers(1, 24), st.integers(0, 99))
def test_it_is_topk_of_log_softmax(rows: int, tokens: int, count: int, seed: int) -> None:
    x = logits(rows, tokens, seed)
    top, expected = top_tokens(x, count), x.log_softmax(1)
    values, indices = expected.topk(min(count, tokens), dim=1)
    torch.testing.assert_close(top.log_probs, values, rtol=1e-12, atol=1e-12)
    assert torch.equal(top.tokens, indices)
    torch.testing.assert_close(top.eos_log_probs, expected[:, EOS], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("at_once", [1, 700, 701, 2100, 10**6])
def test_blocks_are_put_together_in_order(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = logits(7, 700, seed=1)
    whole = top_tokens(x, 3)
    monkeypatch.setattr(module, "_LOGITS_OF_CPU", at_once)
    parts = top_tokens(x, 3)
    for name in ("log_probs", "tokens", "eos_log_probs"):
        assert torch.equal(getattr(parts, name), getattr(whole, name))


@given(st.integers(4, 500), st.integers(1, 8), st.integers(0, 99))
def test_where_tokens_tie_none_comes_twice(tokens: int, count: int, seed: int) -> None:
    x = logits(3, tokens, seed).round()
    top = top_tokens(x, count)
    torch.testing.assert_close(
        top.log_probs, x.log_softmax(1).gather(1, top.tokens), rtol=1e-12, atol=1e-12
    )
    torch.testing.assert_close(
        top.log_probs, x.log_softmax(1).topk(min(count, tokens)).values, rtol=1e-12, atol=1e-12
    )
    assert all(len(set(row)) == len(row) for row in top.tokens.tolist())


def test_what_is_forbidden_comes_last() -> None:
    x = logits(2, 200, seed=3)
    x[:, :199] = -torch.inf
    top = top_tokens(x, 2)
    assert top.tokens[:, 0].tolist() == [199, 199]
    assert top.log_probs.tolist() == [[0.0, -torch.inf]] * 2
    assert top.eos_log_probs.tolist() == [-torch.inf] * 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_sum_over_a_narrow_type_is_wide(dtype: torch.dtype) -> None:
    x = torch.zeros(1, 4096, dtype=dtype)  # a sum of ones in bf16 ends at 256
    top = top_tokens(x, 1)
    assert top.log_probs.dtype == torch.float32
    assert top.log_probs.exp().item() == pytest.approx(1 / 4096, rel=1e-5)
