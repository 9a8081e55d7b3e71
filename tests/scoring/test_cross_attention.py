"""Where a model looked: the weights of its cross-attention."""

import torch
from echoes import CHINESE, ENGLISH, random_model
from torch import Tensor

from nmt.config.schema import ModelConfig
from nmt.model.layers import CrossAttention, join_heads
from nmt.model.transformer import Transformer
from nmt.scoring.attention import cross_attention
from nmt.train.start.initialise import initialise

SOURCES = [[4, 5, 6], [7, 8, 9, 10, 11, 4, 5], [6]]
TARGETS = [[5, 6], [4], [9, 8, 7, 6, 5, 4]]


def deep_model(**settings: object) -> Transformer:
    torch.manual_seed(5)
    shape = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 3}
    config = ModelConfig.model_validate({**shape, "max_length": 24, **settings})
    model = Transformer(config, len(ENGLISH.vocab), len(CHINESE.vocab))
    initialise(model)
    return model


def test_there_is_a_weight_for_each_layer_head_target_and_source_position_with_eos() -> None:
    found = cross_attention(deep_model(), SOURCES, TARGETS)
    assert [tuple(weights.shape) for weights in found] == [
        (3, 2, 3, 4),
        (3, 2, 2, 8),
        (3, 2, 7, 2),
    ]


def test_the_weights_of_a_target_position_sum_to_1() -> None:
    for weights in cross_attention(deep_model(), SOURCES, TARGETS):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_a_pair_has_the_same_weights_alone_as_beside_longer_ones() -> None:
    model = deep_model()
    together = cross_attention(model, SOURCES, TARGETS)
    for source, target, expected in zip(SOURCES, TARGETS, together, strict=True):
        alone = cross_attention(model, [source], [target])[0]
        torch.testing.assert_close(alone, expected)


def test_the_weights_are_those_that_the_model_multiplies_its_values_with() -> None:
    """Values times weights, through the output matrix, is what torch's own attention gives the layer."""
    model = deep_model(norm="post", bias="all")
    seen: list[tuple[CrossAttention, Tensor, Tensor]] = []

    def note(layer: CrossAttention, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        seen.append((layer, inputs[2].source_values, output))  # type: ignore[attr-defined]

    hooks = [layer.cross.register_forward_hook(note) for layer in model.decoder]  # type: ignore[union-attr]
    [weights] = cross_attention(model, SOURCES[:1], TARGETS[:1])
    for hook in hooks:
        hook.remove()
    for layer, (cross, values, output) in enumerate(seen):
        attended = weights[layer] @ values[0, :, : weights.shape[-1]]  # [H,T,D]
        expected = cross.out(join_heads(attended[None]))
        torch.testing.assert_close(output[:, : expected.shape[1]], expected)


def test_a_model_in_training_looks_without_dropout_and_keeps_no_trace() -> None:
    model = random_model()
    model.train()
    first = cross_attention(model, SOURCES, TARGETS)
    model.train()
    second = cross_attention(model, SOURCES, TARGETS)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other)
    assert all(not layer.cross._forward_pre_hooks for layer in model.decoder)  # type: ignore[union-attr]


def test_no_pairs_have_no_weights() -> None:
    assert cross_attention(random_model(), [], []) == []
