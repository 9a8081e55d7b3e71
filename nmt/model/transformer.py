"""The Transformer (Vaswani et al., 2017) in the variants that `ModelConfig` names.

From the parts to the model: attention and feed-forward, the residual around each, the layers of
both stacks, embeddings, and `Transformer`, which puts them together. What makes them fast on a CPU is
in `kernels/`, what decoding remembers in `cache.py`, how a new model starts in `initialise.py`.

Shapes: B sentences, N rows of the target (N = B in training; in search N = B·K, the K beams of a
sentence side by side), S source positions, T new target positions, H heads, d = d_model, D = d / H,
V target tokens.
"""

import math
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config.schema import ModelConfig
from nmt.model.cache import Cache, LayerCache
from nmt.model.kernels.attention import Attend, bias_of
from nmt.model.kernels.dropout import Dropout
from nmt.model.kernels.layer_norm import LayerNorm
from nmt.model.kernels.layout import PADDED, Layout, arrange
from nmt.text.vocab import PAD

Sublayer = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Sublayer] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swish": F.silu,
    "swiglu": F.silu,
}


class Linear(nn.Linear):
    """torch's, but built without values: `initialise` or a checkpoint brings them.

    It may store several matrices as one, `stacked` on top of each other: one product serves all.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool, stacked: int = 1) -> None:
        super().__init__(inputs, stacked * outputs, bias)
        self.stacked = stacked

    def reset_parameters(self) -> None:
        """Draw nothing."""


class TokenEmbedding(nn.Embedding):
    """torch's, but built without values: `initialise` or a checkpoint brings them."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence over itself."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        width = config.d_model
        bias = config.bias == "all"
        self.qkv = Linear(width, width, bias, stacked=3)
        self.out = Linear(width, width, bias)
        self.attend = Attend(config.attention_dropout)

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        bias: Tensor | None,
        cache: LayerCache | None = None,
        first_slot: int = 0,
    ) -> Tensor:
        """x [N,T,d] in `layout` → the same.

        With a cache, x also looks at the positions that it holds; with one and without a bias, each
        position looks at those up to itself.
        """
        q, k, v = layout.unpack(self.qkv(x)).chunk(3, dim=-1)
        q = split_heads(q, self.heads)
        k = split_heads(k, self.heads)
        v = split_heads(v, self.heads)
        if cache is not None:
            k, v = cache.extend(k, v, first_slot)
        is_causal = cache is not None and bias is None
        attended = join_heads(self.attend(q, k, v, bias, is_causal))
        return self.out(layout.pack(attended))


class CrossAttention(nn.Module):
    """Multi-head attention of the target over the output of the encoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        width = config.d_model
        bias = config.bias == "all"
        self.q = Linear(width, width, bias)
        self.kv = Linear(width, width, bias, stacked=2)
        self.out = Linear(width, width, bias)
        self.attend = Attend(config.attention_dropout)

    def source_cache(self, x: Tensor, layout: Layout) -> LayerCache:
        """The keys and values of encoder output x [B,S,d] in `layout`, computed once per sentence."""
        k, v = layout.unpack(self.kv(x)).chunk(2, dim=-1)
        k = split_heads(k, self.heads)
        v = split_heads(v, self.heads)
        return LayerCache(k, v, keys=k[:, :, :0], values=v[:, :, :0])

    def forward(self, x: Tensor, layout: Layout, cache: LayerCache, bias: Tensor | None) -> Tensor:
        """x [B,T·K,d] in `layout` → the same: all beams of a sentence look at the same source."""
        q = split_heads(layout.unpack(self.q(x)), self.heads)
        attended = join_heads(self.attend(q, cache.source_keys, cache.source_values, bias))
        return self.out(layout.pack(attended))


class FeedForward(nn.Module):
    """The position-wise network: relu, gelu, swish, or swish with a gate, swiglu (Shazeer, 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        bias = config.bias != "none"
        self.gated = config.activation == "swiglu"
        self.activation = ACTIVATIONS[config.activation]
        self.inner = Linear(config.d_model, config.d_ff, bias, stacked=2 if self.gated else 1)
        self.dropout = Dropout(config.activation_dropout)
        self.out = Linear(config.d_ff, config.d_model, bias)

    def forward(self, x: Tensor) -> Tensor:
        """x [...,d] → [...,d], padded or packed."""
        if self.gated:
            gate, values = self.inner(x).chunk(2, dim=-1)
            inner = self.activation(gate) * values
        else:
            inner = self.activation(self.inner(x))
        return self.out(self.dropout(inner))


class PreNorm(nn.Module):
    """x + dropout(sublayer(norm(x))): trains without a long warm-up (Xiong et al., 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = layer_norm(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """x [...,d] → [...,d], padded or packed."""
        return self.dropout.onto(x, sublayer(self.norm(x)))


class PostNorm(PreNorm):
    """norm(x + dropout(sublayer(x))): the order of the paper."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """x [...,d] → [...,d], padded or packed."""
        return self.norm(self.dropout.onto(x, sublayer(x)))


RESIDUALS: dict[str, type[PreNorm]] = {"pre": PreNorm, "post": PostNorm}


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention = SelfAttention(config)
        self.attention_residual = residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config)

    def forward(self, x: Tensor, layout: Layout, bias: Tensor | None) -> Tensor:
        """x [B,S,d] in `layout`, bias [B,1,1,S] → the same as x."""
        x = self.attention_residual(x, lambda y: self.attention(y, layout, bias))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention = SelfAttention(config)
        self.attention_residual = residual(config)
        self.cross = CrossAttention(config)
        self.cross_residual = residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = residual(config)

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        bias: Tensor | None,
        cache: LayerCache,
        filled_slots: int,
        source_bias: Tensor | None,
    ) -> Tensor:
        """x [B,T·K,d] in `layout`, bias from `Cache.extend_past` → the same as x."""
        x = self.attention_residual(
            x, lambda y: self.attention(y, layout, bias, cache, filled_slots)
        )
        x = self.cross_residual(x, lambda y: self.cross(y, layout, cache, source_bias))
        return self.feed_forward_residual(x, self.feed_forward)


class Embedding(nn.Module):
    """Tokens and their positions as vectors."""

    def __init__(self, config: ModelConfig, tokens: TokenEmbedding) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = math.sqrt(config.d_model) if config.scale == "embedding" else 1.0
        self.norm = layer_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.positions: Tensor
        empty = torch.empty(config.max_length, config.d_model)
        if config.positions == "learned":
            self.positions = nn.Parameter(empty)
        else:
            self.register_buffer("positions", empty, persistent=False)
            if not empty.is_meta:  # there, only shapes matter, and sin would load torch's compiler
                self.positions.copy_(sinusoids(config.max_length, config.d_model))

    def forward(self, ids: Tensor, dtype: torch.dtype, start: int = 0) -> Tensor:
        """ids [N,T], the first at position `start` → [N,T,d] in `dtype`."""
        positions = self.positions.narrow(0, start, ids.shape[1])
        x = self.tokens(ids) * self.scale + positions
        return self.norm(self.dropout(x.to(dtype)))


class Transformer(nn.Module):
    """Encoder, decoder, and the projection to the target vocabulary.

    A new one has no values yet: `initialise` or a checkpoint brings them.
    """

    def __init__(self, config: ModelConfig, src_tokens: int, tgt_tokens: int) -> None:
        super().__init__()
        self.config = config
        self.tgt_tokens = tgt_tokens
        source = TokenEmbedding(src_tokens, config.d_model)
        target = source
        if config.tie_embeddings != "all":
            target = TokenEmbedding(tgt_tokens, config.d_model)
        self.src_embedding = Embedding(config, source)
        self.tgt_embedding = Embedding(config, target)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = layer_norm(config) if config.has_final_norm else nn.Identity()
        self.decoder_norm = layer_norm(config) if config.has_final_norm else nn.Identity()
        self.output = Linear(config.d_model, tgt_tokens, config.output_bias)
        if config.tie_embeddings != "none":
            self.output.weight = target.weight
        self.output_scale = config.d_model**-0.5 if config.scale == "output" else 1.0

    def forward(
        self,
        src: Tensor,
        tgt_in: Tensor,
        target_positions: Tensor | None = None,
        src_is_padded: bool = True,
    ) -> Tensor:
        """Teacher forcing: src [B,S], tgt_in [B,T] → logits [B,T,V] of each next token.

        With `target_positions` [n], which count through B·T, only theirs are computed: [n,V]. Logits at padding mean
        nothing.
        """
        steps = tgt_in.shape[1]
        arranged = arrange(src, tgt_in, src_is_padded, self.dtype)
        cache = self.encode(arranged.src, arranged.src_is_padded, arranged.src_layout)
        states = self.decode_states(arranged.tgt, cache, arranged.tgt_layout)[:, :steps]  # [B,T,d]
        if target_positions is not None:
            states = states.flatten(0, 1).index_select(0, target_positions)  # [n,d]
        return self.project(states)

    def encode(self, src: Tensor, is_padded: bool = True, layout: Layout = PADDED) -> Cache:
        """src [B,S] → what decoding needs of it; attention is faster if nothing is padded."""
        bias = None
        if is_padded:
            bias = bias_of((src != PAD)[:, None, None, :], self.dtype)  # [B,1,1,S]
        x = layout.pack(self.src_embedding(src, self.dtype))  # [B,S,d]
        for layer in self.encoder:
            x = layer(x, layout, bias)
        x = self.encoder_norm(x)
        layers = (cast(DecoderLayer, layer) for layer in self.decoder)
        return Cache([layer.cross.source_cache(x, layout) for layer in layers], source_bias=bias)

    def decode(self, tgt_in: Tensor, cache: Cache) -> Tensor:
        """tgt_in [N,T], which follows what the cache holds → logits [N,T,V] of each next token."""
        return self.project(self.decode_states(tgt_in, cache))

    def decode_states(self, tgt_in: Tensor, cache: Cache, layout: Layout = PADDED) -> Tensor:
        """The decoder's last states [N,T,d], before the projection."""
        x = self.tgt_embedding(tgt_in, cache.dtype, start=cache.length)
        x = layout.pack(join_beams(x, cache.beams))  # [B,T·K,d]
        steps = tgt_in.shape[1]
        bias = cache.extend_past(steps)
        for layer, layer_cache in zip(self.decoder, cache.layers, strict=True):
            x = layer(x, layout, bias, layer_cache, cache.filled_slots, cache.source_bias)
        cache.length += steps
        return split_beams(layout.unpack(self.decoder_norm(x)), cache.beams)

    def project(self, states: Tensor) -> Tensor:
        """States [..., d] → logits [..., V]."""
        logits: Tensor = self.output(states)
        return logits if self.output_scale == 1.0 else logits * self.output_scale

    @property
    def dtype(self) -> torch.dtype:
        """What the layers compute in: the dtype of their weights."""
        return cast(EncoderLayer, self.encoder[0]).attention.qkv.weight.dtype


def layer_norm(config: ModelConfig) -> LayerNorm:
    """A norm over d_model, with a bias unless the model has none."""
    return LayerNorm(config.d_model, bias=config.bias != "none")


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[N,T,d] → [N,H,T,D]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """[N,H,T,D] → [N,T,d]."""
    return x.transpose(1, 2).flatten(2)


def join_beams(x: Tensor, beams: int) -> Tensor:
    """[B·K,T,d] → [B,T·K,d]: the beams of a sentence as one sequence, position by position."""
    return x.unflatten(0, (-1, beams)).transpose(1, 2).flatten(1, 2)


def split_beams(x: Tensor, beams: int) -> Tensor:
    """[B,T·K,d] → [B·K,T,d]."""
    return x.unflatten(1, (-1, beams)).transpose(1, 2).flatten(0, 1)


def sinusoids(length: int, width: int) -> Tensor:
    """[length, width] of Vaswani et al., §3.5: sin and cos in turn, wavelengths 2π to 10000·2π."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = position * frequency
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1).float()
