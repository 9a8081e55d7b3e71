import pytest
import torch
from torch import Tensor
from torch_twin import build, random_batch, tiny

from nmt.config.schema import ModelConfig
from nmt.model.kernels.layout import PADDED, Layout, Packed, arrange
from nmt.model.transformer import Transformer
from nmt.text.vocab import PAD

VARIANTS = [tiny(), tiny(norm="post"), tiny(activation="swiglu", positions="learned")]
LENGTHS = [(6, 5), (3, 7), (1, 1), (4, 2)]


def ids(lengths: list[int], width: int) -> Tensor:
    rows = [[5] * length + [PAD] * (width - length) for length in lengths]
    return torch.tensor(rows)


@pytest.mark.parametrize("tokens", [1, 127, 128, 129, 300])
def test_few_numbers_of_rows_with_at_least_one_to_spare(tokens: int) -> None:
    packed = Packed(ids([tokens, 0], 300)).pack(torch.ones(2, 300, 1))
    assert len(packed) % 128 == 0
    assert tokens < len(packed) <= tokens + 128


def test_packed_rows_are_the_tokens_in_their_order() -> None:
    layout = Packed(ids([2, 3, 1], 3))
    x = torch.arange(9.0).view(3, 3, 1)
    rows = layout.pack(x)
    assert rows[:6, 0].tolist() == [0, 1, 3, 4, 5, 6]
    back = layout.unpack(rows)
    assert back.shape == x.shape
    is_token = ids([2, 3, 1], 3) != PAD
    assert torch.equal(back[is_token], x[is_token])


def states_and_gradients(
    model: Transformer, src: Tensor, tgt: Tensor, layouts: tuple[Layout, Layout]
) -> tuple[Tensor, list[Tensor]]:
    """The states of the target's tokens, and what a sum over them gives as gradients."""
    model.zero_grad()
    cache = model.encode(src, True, layouts[0])
    states = model.decode_states(tgt, cache, layouts[1])[tgt != PAD]  # [n,d]
    weights = torch.linspace(-1, 1, states.numel(), dtype=states.dtype).view_as(states)
    model.project(states).square().mean().add((states * weights).sum()).backward()  # type: ignore[no-untyped-call]
    return states.detach(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


def side_by_side(src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
    """Both sides, equally wide, as a CPU in bfloat16 has them."""
    arranged = arrange(src, tgt, True, torch.bfloat16)
    return arranged.src, arranged.tgt


@pytest.mark.parametrize("config", VARIANTS)
def test_packing_changes_neither_states_nor_gradients(config: ModelConfig) -> None:
    model = build(config).train()
    src, tgt = side_by_side(*random_batch(LENGTHS))
    padded, expected = states_and_gradients(model, src, tgt, (PADDED, PADDED))
    packed, found = states_and_gradients(model, src, tgt, (Packed(src), Packed(tgt)))
    torch.testing.assert_close(packed, padded, rtol=1e-10, atol=1e-11)
    assert len(found) == len(expected) > 10
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("lengths", "src_is_padded"),
    [([(3, 7), (2, 5)], True), ([(7, 3), (5, 2)], True), ([(3, 7), (3, 5)], False)],
)
def test_a_model_in_bfloat16_takes_sides_of_any_widths(
    lengths: list[tuple[int, int]], src_is_padded: bool
) -> None:
    """It packs both sides in one width; the logits of tokens stay, and those of positions asked for."""
    model = build(tiny()).eval()
    src, tgt = random_batch(lengths)
    is_token = tgt != PAD
    positions = is_token.flatten().nonzero().squeeze(1)
    with torch.no_grad():
        exact = model(src, tgt)
        rounded = model.bfloat16()(src, tgt, None, src_is_padded)
        chosen = model(src, tgt, positions, src_is_padded)
    assert rounded.shape == exact.shape
    torch.testing.assert_close(rounded.double()[is_token], exact[is_token], rtol=0.1, atol=0.1)
    torch.testing.assert_close(chosen, rounded[is_token])
