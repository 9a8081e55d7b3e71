"""Packed weights give what plain ones give."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from nmt.config.schema import ModelConfig
from nmt.model.initialise import initialise
from nmt.model.kernels.packed_linear import pack
from nmt.model.transformer import Transformer

supported = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(),
    reason="this CPU does not multiply in bfloat16",
)


@supported
@pytest.mark.parametrize("rows", [(1,), (3, 5), (130,)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_packed_layer_computes_what_the_layer_does(rows: tuple[int, ...], bias: bool) -> None:
    layer = nn.Linear(24, 40, bias).bfloat16()
    x = torch.randn(*rows, 24, generator=torch.Generator().manual_seed(1)).bfloat16()
    exact = nn.functional.linear(
        x.double(), layer.weight.double(), None if bias is False else layer.bias.double()
    )
    packed = nn.Sequential(layer)
    pack(packed)
    with torch.inference_mode():
        torch.testing.assert_close(packed(x).double(), exact, rtol=2**-7, atol=2**-7)


@supported
@torch.no_grad()
def test_a_packed_model_computes_what_the_model_does() -> None:
    config = ModelConfig(
        d_model=32, heads=4, d_ff=64, encoder_layers=2, decoder_layers=2, tie_embeddings="target"
    )
    model = Transformer(config, 50, 60)
    initialise(model)
    model.bfloat16().eval()
    packed = deepcopy(model)
    pack(packed)
    src, tgt = torch.randint(5, 50, (3, 7)), torch.randint(5, 60, (3, 6))
    torch.testing.assert_close(packed(src, tgt), model(src, tgt), rtol=0.05, atol=0.05)
    for plain, other in zip(model.parameters(), packed.parameters(), strict=True):
        assert torch.equal(plain, other)


def test_where_torch_has_no_such_operators_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops, "mkldnn", object())
    layers = nn.Sequential(nn.Linear(4, 4).bfloat16())
    pack(layers)
    assert "forward" not in vars(layers[0])
