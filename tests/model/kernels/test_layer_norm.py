"""Our layer norm against torch's, in the dtypes that it computes in."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model.kernels.layer_norm import LayerNorm

ROWS, WIDTH = 5000, 8


def some_input(dtype: torch.dtype) -> Tensor:
    chance = torch.Generator().manual_seed(1)
    return torch.randn(ROWS, WIDTH, generator=chance, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_in_a_wide_dtype_it_is_torchs(dtype: torch.dtype, bias: bool, training: bool) -> None:
    norm = LayerNorm(WIDTH, bias=bias, dtype=dtype).train(training)
    x = some_input(dtype)
    expected = F.layer_norm(x, (WIDTH,), norm.weight, norm.bias, norm.eps)
    assert torch.equal(norm(x), expected)


def test_in_bf16_the_output_is_in_bf16_and_as_exact_as_its_digits() -> None:
    norm = LayerNorm(WIDTH, dtype=torch.bfloat16).train()
    x = some_input(torch.bfloat16)
    out = norm(x)
    assert out.dtype == torch.bfloat16
    exact = F.layer_norm(x.double(), (WIDTH,))
    torch.testing.assert_close(out.double(), exact, rtol=2**-8, atol=1e-6)


def test_in_bf16_the_gradients_of_weight_and_bias_are_sums_that_do_not_stand_still() -> None:
    """A sum of ones in bfloat16 ends at 256; here it has to reach the number of rows."""
    norm = LayerNorm(WIDTH, dtype=torch.bfloat16).train()
    norm(some_input(torch.bfloat16)).sum().backward()
    assert norm.bias.grad.tolist() == pytest.approx([ROWS] * WIDTH, rel=2**-8)
