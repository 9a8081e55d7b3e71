import math

import pytest
import torch
from torch_twin import build, random_batch, tiny

from nmt.model.attention_maps import attention_maps, attention_weights
from nmt.model.kernels.attention import Attend, bias_of
from nmt.model.transformer import Transformer
from nmt.text.vocab import PAD

LENGTHS = [(6, 5), (3, 7), (1, 1)]


@pytest.fixture
def model() -> Transformer:
    return build(tiny())


def test_attention_weights_are_a_softmax_written_out() -> None:
    q, k = (
        torch.randn(1, 1, 2, 4, dtype=torch.float64),
        torch.randn(1, 1, 3, 4, dtype=torch.float64),
    )
    mask = torch.tensor([[True, True, False], [True, True, True]])
    for i in range(2):
        seen = [j for j in range(3) if mask[i, j]]
        powers = [math.exp(float(q[0, 0, i] @ k[0, 0, j]) / 2) for j in seen]  # √4
        expected = [powers[seen.index(j)] / sum(powers) if j in seen else 0.0 for j in range(3)]
        assert attention_weights(q, k, bias_of(mask, q.dtype))[0, 0, i].tolist() == pytest.approx(
            expected, abs=1e-14
        )


def test_there_is_a_map_for_every_layer_sentence_and_head(model: Transformer) -> None:
    maps = attention_maps(model, *random_batch(LENGTHS))
    assert maps.encoder.shape == (2, 3, 4, 6, 6)
    assert maps.decoder.shape == (3, 3, 4, 7, 7)
    assert maps.cross.shape == (3, 3, 4, 7, 6)


def test_every_row_sums_to_one(model: Transformer) -> None:
    maps = attention_maps(model, *random_batch(LENGTHS))
    for weights in (maps.encoder, maps.decoder, maps.cross):
        torch.testing.assert_close(
            weights.sum(-1), torch.ones(weights.shape[:-1], dtype=torch.float64)
        )
        assert (weights >= 0).all()


def test_the_rows_of_a_bf16_model_sum_to_one_too(model: Transformer) -> None:
    maps = attention_maps(model.bfloat16(), *random_batch(LENGTHS))
    for weights in (maps.encoder, maps.decoder, maps.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_nothing_is_seen_of_padding_and_of_the_future(model: Transformer) -> None:
    src, tgt_in = random_batch(LENGTHS)
    maps = attention_maps(model, src, tgt_in)
    padding, future = src == PAD, torch.ones(7, 7, dtype=torch.bool).triu(1)
    for weights in (maps.encoder, maps.cross):
        by_key = weights.permute(1, 4, 0, 2, 3)  # [B,S,...]
        assert (by_key[padding] == 0).all()
        assert (by_key[~padding] > 0).all()
    assert (maps.decoder[..., future] == 0).all()
    assert (maps.decoder[..., ~future] > 0).all()


def test_weights_times_values_are_what_attention_gave_in_the_fast_path(model: Transformer) -> None:
    """Layer by layer, against what fused attention computed in a run without maps."""
    calls: list[tuple[torch.Tensor, torch.Tensor]] = []
    attends = [module for module in model.modules() if isinstance(module, Attend)]
    handles = [
        a.register_forward_hook(lambda _, given, out: calls.append((given[2], out)))
        for a in attends
    ]
    src, tgt_in = random_batch(LENGTHS)
    with torch.no_grad():
        model(src, tgt_in)
    for handle in handles:
        handle.remove()
    maps = attention_maps(model, src, tgt_in)
    in_order = list(maps.encoder)
    for layer in range(3):
        in_order += [maps.decoder[layer], maps.cross[layer]]
    assert len(calls) == len(in_order) == 2 + 2 * 3
    for weights, (values, out) in zip(in_order, calls, strict=True):
        torch.testing.assert_close(weights @ values, out, rtol=1e-10, atol=1e-12)


def test_a_model_that_looks_by_content_is_seen_to_align() -> None:
    """Queries and keys are the bare embeddings here: each target word must find its source word."""
    config = tiny(
        encoder_layers=1, decoder_layers=1, heads=1, scale="none", tie_embeddings="all", norm="post"
    )
    model = build(config, 23, 23)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1.0)
        model.tgt_embedding.tokens.weight[4:20] = 30 * torch.eye(16, dtype=torch.float64)
        model.decoder[0].cross.q.weight.copy_(torch.eye(16))
        model.decoder[0].cross.kv.weight[:16] = 5 * torch.eye(16)
    source = torch.tensor([[7, 4, 12, 9, 5]])
    order = [2, 0, 4, 1, 3]
    maps = attention_maps(model, source, source[:, order])
    assert maps.cross[0, 0, 0].argmax(-1).tolist() == order


def test_asking_for_maps_leaves_the_model_as_it_was(model: Transformer) -> None:
    src, tgt_in = random_batch(LENGTHS)
    before = model(src, tgt_in)
    for training in (True, False):
        model.train(training)
        attention_maps(model, src, tgt_in)
        assert all(module.training == training for module in model.modules())
    assert not any(module._forward_pre_hooks for module in model.modules())
    assert torch.equal(model(src, tgt_in), before)


def test_maps_are_without_dropout() -> None:
    model = build(tiny(dropout=0.5, attention_dropout=0.5)).train()
    batch = random_batch(LENGTHS)
    one, other = attention_maps(model, *batch), attention_maps(model, *batch)
    assert torch.equal(one.encoder, other.encoder)
    assert torch.equal(one.cross, other.cross)


def test_a_failure_underway_leaves_no_watcher_behind(model: Transformer) -> None:
    src, _ = random_batch(LENGTHS)
    with pytest.raises(IndexError):
        attention_maps(model, src, torch.full((3, 2), 99))
    assert not any(module._forward_pre_hooks for module in model.modules())
