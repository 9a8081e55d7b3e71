"""Packed weights give what plain ones give."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from nmt.config.schema import ModelConfig
from nmt.model.kernels.packed_linear import pack
from nmt.model.transformer import Transformer
from nmt.train.start.initialise import initialise

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


class Operators:
    """torch's, in another version: one of them fails, or does something else."""

    def __init__(self, fault: Exception | torch.Tensor, at: str) -> None:
        self._fault = fault
        self._at = at

    def _called(self, name: str, weight: torch.Tensor) -> torch.Tensor:
        if name != self._at:
            return weight
        if isinstance(self._fault, Exception):
            raise self._fault
        return self._fault

    def _is_mkldnn_bf16_supported(self) -> bool:
        return True

    def _reorder_linear_weight(self, weight: torch.Tensor) -> torch.Tensor:
        return self._called("reorder", weight)

    def _linear_pointwise(self, x: torch.Tensor, **_: object) -> torch.Tensor:
        return self._called("product", x)


@pytest.mark.parametrize(
    "operators",
    [
        object(),  # none at all
        Operators(TypeError("unexpected keyword argument 'algorithm'"), "product"),
        Operators(RuntimeError("_linear_pointwise() is missing value for argument"), "product"),
        Operators(NotImplementedError("no such backend"), "product"),
        Operators(RuntimeError("no such layout"), "reorder"),
        Operators(torch.zeros(1, 6).bfloat16(), "product"),  # another product
    ],
)
def test_where_torch_has_other_operators_layers_stay_as_they_are(
    operators: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = nn.Sequential(nn.Linear(4, 6).bfloat16())
    x = torch.randn(3, 4).bfloat16()
    expected = layers(x)
    monkeypatch.setattr(torch.ops, "mkldnn", operators)
    pack(layers)
    assert "forward" not in vars(layers[0])
    assert torch.equal(layers(x), expected)


@supported
def test_where_torch_has_the_operators_layers_are_packed() -> None:
    layers = nn.Sequential(
        nn.Linear(24, 40).bfloat16(), nn.ReLU(), nn.Linear(40, 8, bias=False).bfloat16()
    )
    pack(layers)
    assert ["forward" in vars(layer) for layer in layers] == [True, False, True]
