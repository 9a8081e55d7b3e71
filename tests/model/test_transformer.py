from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_twin import (
    build,
    decoder_twin,
    encoder_twin,
    formula_sinusoids,
    random_batch,
    tiny,
    transformer_twin,
    twin_logits,
)

from nmt.config.schema import ModelConfig
from nmt.model.kernels.attention import bias_of
from nmt.model.kernels.layout import PADDED
from nmt.model.layers import FeedForward
from nmt.model.transformer import Transformer, sinusoids
from nmt.text.vocab import BOS, PAD
from nmt.train.start.initialise import initialise

VARIANTS = [
    pytest.param(tiny(), id="default"),
    pytest.param(tiny(norm="post"), id="post-norm"),
    pytest.param(tiny(norm="post", final_norm=True), id="post-norm with a final norm"),
    pytest.param(tiny(final_norm=False), id="pre-norm without a final norm"),
    pytest.param(tiny(activation="gelu", bias="none"), id="gelu, no biases"),
    pytest.param(
        tiny(bias="feed_forward", norm="post", embedding_norm=True),
        id="biases in feed-forward only",
    ),
    pytest.param(tiny(positions="learned", scale="none"), id="learned positions"),
    pytest.param(
        tiny(tie_embeddings="none", output_bias=True, scale="output"), id="untied, output bias"
    ),
]
GATED = pytest.param(tiny(activation="swiglu"), id="swiglu")
FAR_APART = [
    pytest.param(config, id=name) for name, config in (("pre", tiny()), ("post", tiny(norm="post")))
]
LENGTHS = [(6, 5), (3, 7), (1, 1), (4, 2)]


def exactly(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-11)


@pytest.fixture(autouse=True)
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


# --- the same as torch.nn ---


LAYERS = [
    tiny(norm=norm, activation=activation, bias=bias)
    for norm in ("pre", "post")
    for activation in ("relu", "gelu")
    for bias in ("all", "feed_forward", "none")
]


@pytest.mark.parametrize("config", LAYERS)
def test_an_encoder_layer_is_torchs_with_the_same_weights(config: ModelConfig) -> None:
    layer = build(config).encoder[0]
    x, padding = (
        torch.randn(3, 6, config.d_model, dtype=torch.float64),
        torch.zeros(3, 6, dtype=torch.bool),
    )
    padding[1, 4:] = True
    ours = layer(x, PADDED, bias_of(~padding[:, None, None, :], x.dtype))
    exactly(ours, encoder_twin(layer, config).train()(x, src_key_padding_mask=padding))


@pytest.mark.parametrize("config", LAYERS)
def test_a_decoder_layer_is_torchs_with_the_same_weights(config: ModelConfig) -> None:
    model = build(config)
    src, _ = random_batch([(5, 1), (2, 1), (4, 1)])
    cache = model.encode(src)
    memory, x = (torch.randn(3, n, config.d_model, dtype=torch.float64) for n in (5, 4))
    layer, past = model.decoder[0], torch.ones(4, 4, dtype=torch.bool).tril()
    ours = layer(x, PADDED, None, layer.cross.source_cache(memory, PADDED), 0, cache.source_bias)
    theirs = decoder_twin(layer, config)(
        x, memory, tgt_mask=~past, memory_key_padding_mask=src == PAD
    )
    exactly(ours, theirs)


@pytest.mark.parametrize("config", VARIANTS)
def test_the_whole_model_is_torchs_with_the_same_weights(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch(LENGTHS)
    exactly(model(src, tgt_in), twin_logits(model, src, tgt_in))


def test_the_twin_has_as_many_parameters_between_embedding_and_projection() -> None:
    model = build(tiny())
    outside = [model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight]
    ours = sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in outside)
    assert ours == sum(p.numel() for p in transformer_twin(model).parameters())


def test_swiglu_is_the_gated_network_of_shazeer() -> None:
    feed = build(tiny(activation="swiglu")).encoder[0].feed_forward
    assert isinstance(feed, FeedForward)
    x = torch.randn(2, 3, 16, dtype=torch.float64)
    (gate, up), (gate_bias, up_bias) = feed.inner.weight.chunk(2), feed.inner.bias.chunk(2)
    gated = x @ gate.T + gate_bias
    swish = gated / (1 + torch.exp(-gated))
    exactly(feed(x), (swish * (x @ up.T + up_bias)) @ feed.out.weight.T + feed.out.bias)


def test_swish_has_no_gate() -> None:
    feed = build(tiny(activation="swish")).encoder[0].feed_forward
    assert isinstance(feed, FeedForward)
    x = torch.randn(2, 3, 16, dtype=torch.float64)
    inner = x @ feed.inner.weight.T + feed.inner.bias
    swish = inner / (1 + torch.exp(-inner))
    exactly(feed(x), swish @ feed.out.weight.T + feed.out.bias)


@pytest.mark.parametrize("config", [*VARIANTS, GATED])
def test_training_without_dropout_computes_what_evaluation_computes(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch(LENGTHS)
    evaluated = model(src, tgt_in)
    exactly(model.train()(src, tgt_in), evaluated)


def test_training_and_evaluation_have_the_same_gradients() -> None:
    model = build(tiny())
    src, tgt_in = random_batch(LENGTHS)

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        with torch.enable_grad():
            model(src, tgt_in)[tgt_in != PAD].square().sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    evaluated = gradients()
    model.train()
    for one, other in zip(gradients(), evaluated, strict=True):
        exactly(one, other)


@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "activation_dropout"])
def test_every_dropout_acts_in_training_and_only_there(rate: str) -> None:
    model = build(tiny(**{rate: 0.5}))
    src, tgt_in = random_batch(LENGTHS)
    assert torch.equal(model(src, tgt_in), model(src, tgt_in))
    model.train()
    assert not torch.allclose(model(src, tgt_in), model(src, tgt_in))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dropout_takes_from_what_a_sublayer_gives_and_not_from_its_residual(norm: str) -> None:
    layer = build(tiny(norm=norm, dropout=0.5)).train().encoder[0].attention_residual
    x = torch.randn(2, 3, 16, dtype=torch.float64)
    exactly(layer(x, torch.zeros_like), x if norm == "pre" else layer.norm(x))


# --- what the decoder starts from ---


def test_a_decoder_with_ssru_starts_from_zeros_unless_it_is_told_otherwise() -> None:
    assert tiny(decoder="ssru").starts_from_zeros
    assert tiny(decoder_start="zeros").starts_from_zeros
    assert not tiny().starts_from_zeros
    assert not tiny(decoder="ssru", decoder_start="bos").starts_from_zeros


@pytest.mark.parametrize("decoder", ["attention", "ssru"])
@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_a_start_from_zeros_is_that_of_a_vector_of_zeros(decoder: str, tie: str) -> None:
    shape = {"decoder": decoder, "tie_embeddings": tie, "scale": "output"}
    from_zeros = build(tiny(**shape, decoder_start="zeros"), 23, 23)
    from_vector = build(tiny(**shape, decoder_start="bos"), 23, 23)
    src, tgt_in = random_batch(LENGTHS)
    assert not torch.allclose(from_zeros(src, tgt_in), from_vector(src, tgt_in))
    from_vector.tgt_embedding.tokens.weight[BOS] = 0.0
    others = torch.arange(23) != BOS  # which is never a target
    exactly(from_zeros(src, tgt_in)[..., others], from_vector(src, tgt_in)[..., others])


# --- decoding step by step ---


@pytest.mark.parametrize("config", [*VARIANTS, GATED])
def test_decoding_step_by_step_is_decoding_the_whole(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch([(6, 8), (3, 8), (1, 8)])
    cache = model.encode(src)
    cache.reserve(beams=1)
    steps = [model.decode(tgt_in[:, t : t + 1], cache) for t in range(8)]
    exactly(torch.cat(steps, dim=1), model(src, tgt_in))


@pytest.mark.parametrize("pieces", [[8], [1, 7], [3, 1, 4], [2, 2, 2, 2]])
def test_decoding_in_pieces_is_decoding_the_whole(pieces: list[int]) -> None:
    model = build(tiny())
    src, tgt_in = random_batch([(6, 8), (3, 8)])
    cache = model.encode(src)
    cache.reserve(beams=1)
    parts = [model.decode(piece, cache) for piece in tgt_in.split(pieces, dim=1)]
    exactly(torch.cat(parts, dim=1), model(src, tgt_in))


def one_by_one(
    model: Transformer, sources: list[torch.Tensor], paths: torch.Tensor
) -> torch.Tensor:
    """The logits after each path, every row decoded alone and whole: no cache, no beams, no padding."""
    return torch.stack(
        [model(src[None], path[None])[0, -1] for src, path in zip(sources, paths, strict=True)]
    )


@given(st.data())
@settings(max_examples=25)
def test_beams_that_are_reordered_and_sentences_that_leave_decode_as_if_alone(
    data: st.DataObject,
) -> None:
    model = build(data.draw(st.sampled_from([tiny(), tiny(norm="post", positions="learned")])))
    beams = data.draw(st.integers(1, 4))
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    src, _ = random_batch([(length, 1) for length in lengths])
    cache = model.encode(src)
    cache.reserve(beams)
    alive = list(range(len(lengths)))
    paths = torch.empty(len(alive) * beams, 0, dtype=torch.long)
    chance = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    for _ in range(data.draw(st.integers(2, 5))):
        newest = torch.randint(3, 23, (len(paths), 1), generator=chance)
        paths = torch.cat([paths, newest], dim=1)
        logits = model.decode(newest, cache)[:, -1]
        sources = [src[s, : lengths[s]] for s in alive for _ in range(beams)]
        exactly(logits, one_by_one(model, sources, paths))
        stay = sorted(data.draw(st.sets(st.sampled_from(range(len(alive))), min_size=1)))
        choice = st.lists(st.integers(0, beams - 1), min_size=beams, max_size=beams)
        rows = torch.tensor([s * beams + beam for s in stay for beam in data.draw(choice)])
        cache.select(rows)
        alive, paths = [alive[s] for s in stay], paths[rows]


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_a_sequence_longer_than_max_length_is_refused_not_wrapped(positions: str) -> None:
    model = build(tiny(positions=positions, max_length=4))
    src, tgt_in = random_batch([(4, 4)])
    model(src, tgt_in)
    for longer in ((5, 4), (4, 5)):
        with pytest.raises(RuntimeError, match="exceeds"):
            model(*random_batch([longer]))


# --- who may look where ---


@pytest.mark.parametrize("config", [*VARIANTS, GATED])
def test_padding_changes_nothing(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch(LENGTHS)
    wider = [nn.functional.pad(ids, (0, 3), value=PAD) for ids in (src, tgt_in)]
    exactly(model(*wider)[:, : tgt_in.shape[1]], model(src, tgt_in))


def test_a_row_does_not_depend_on_its_neighbours_in_the_batch() -> None:
    model = build(tiny())
    src, tgt_in = random_batch(LENGTHS)
    together = model(src, tgt_in)
    for row, (s, t) in enumerate(LENGTHS):
        exactly(model(src[row : row + 1, :s], tgt_in[row : row + 1, :t])[0], together[row, :t])


@pytest.mark.parametrize("config", [*VARIANTS, GATED])
def test_no_position_sees_the_future_and_each_sees_its_past(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch([(5, 6)])
    before = model(src, tgt_in)
    for changed in range(6):
        other = tgt_in.clone()
        other[0, changed] = 22
        moved = (model(src, other) - before)[0].abs().amax(-1) > 1e-9
        assert moved.tolist() == [position >= changed for position in range(6)]


def test_every_source_token_matters_to_every_position() -> None:
    model = build(tiny())
    src, tgt_in = random_batch([(5, 4)])
    before = model(src, tgt_in)
    for changed in range(5):
        other = src.clone()
        other[0, changed] = 3
        assert ((model(other, tgt_in) - before)[0].abs().amax(-1) > 1e-9).all()


# --- tables, and what is stored ---


def test_positions_are_the_papers_formula() -> None:
    torch.testing.assert_close(
        sinusoids(50, 12).double(), formula_sinusoids(50, 12), rtol=0, atol=1e-7
    )


def test_positions_of_a_fixed_distance_are_a_rotation() -> None:
    table = sinusoids(40, 16).double()
    products = table[:-7] @ table[7:].T
    exactly_on_distance = products.diagonal()
    torch.testing.assert_close(
        exactly_on_distance, exactly_on_distance[:1].expand(33), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("tie", "output_is_target", "source_is_target"),
    [("none", False, False), ("target", True, False), ("all", True, True)],
)
def test_tied_matrices_are_one_storage_and_count_once(
    tie: str, output_is_target: bool, source_is_target: bool
) -> None:
    model = Transformer(tiny(tie_embeddings=tie), 23, 23)
    src, tgt = model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight
    assert (model.output.weight is tgt) == output_is_target
    assert (src is tgt) == source_is_target
    untied = sum(p.numel() for p in Transformer(tiny(tie_embeddings="none"), 23, 23).parameters())
    saved = (output_is_target + source_is_target) * 23 * 16
    assert sum(p.numel() for p in model.parameters()) == untied - saved


def test_an_update_of_a_tied_matrix_moves_both_its_uses() -> None:
    model = build(tiny(tie_embeddings="all"), 23, 23)
    model.tgt_embedding.tokens.weight.add_(1.0)
    assert torch.equal(model.output.weight, model.src_embedding.tokens.weight)
    assert model.output.weight.data_ptr() == model.src_embedding.tokens.weight.data_ptr()


@pytest.mark.parametrize("config", FAR_APART)
def test_the_table_of_sinusoids_is_no_part_of_the_weights(config: ModelConfig) -> None:
    assert not any("positions" in name for name in Transformer(config, 9, 9).state_dict())


@pytest.mark.parametrize("config", [*VARIANTS, GATED])
def test_selected_positions_have_the_logits_that_they_have_among_all(config: ModelConfig) -> None:
    model = build(config)
    src, tgt_in = random_batch(LENGTHS)
    whole, real = model(src, tgt_in), tgt_in != PAD
    exactly(model(src, tgt_in, real.flatten().nonzero()[:, 0]), whole[real])


def test_logits_have_a_column_for_every_target_token() -> None:
    src, tgt_in = random_batch(LENGTHS)
    assert build(tiny(), 19, 31)(src, tgt_in).shape == (4, 7, 31)


def test_the_norm_of_an_embedding_comes_after_its_dropout() -> None:
    model = Transformer(tiny(embedding_norm=True, dropout=0.5), 19, 23)
    initialise(model)
    embedding = model.src_embedding.train()
    out = embedding(torch.randint(4, 19, (5, 8)), torch.float32)
    torch.testing.assert_close(out.mean(-1), torch.zeros(5, 8), rtol=0, atol=1e-5)
    torch.testing.assert_close(out.var(-1, correction=0), torch.ones(5, 8), rtol=0, atol=1e-3)
