"""The Transformer (Vaswani et al., 2017) in the variants that `ModelConfig` names.

Shapes: B sentences, N rows of the target (N = B in training; in search N = B·K, the K beams of a sentence
side by side), S source positions, T new target positions, t target positions decoded before, H heads,
D = d_model / H, V target tokens.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config import ModelConfig
from nmt.model.dropout import Dropout
from nmt.text.vocab import PAD

Sublayer = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Sublayer] = {"relu": F.relu, "gelu": F.gelu, "swiglu": F.silu}


class Attend(nn.Module):
    """softmax(q kᵀ / √D) v, over the keys that `mask` allows.

    It has no parameters: it is the place where `attention_maps` watches.
    """

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """q [N,H,T,D], k and v [N,H,S,D], mask bool broadcast to [N,H,T,S] (True: may look) → [N,H,T,D]."""
        if self.training and q.device.type == "cpu":
            # The fused kernel's backward takes several times as long for sequences of a sentence's length.
            return self.dropout(attention_weights(q, k, mask)).to(v.dtype) @ v
        dropout = self.dropout.rate if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    memory_keys: Tensor  # [B,H,S,D]
    memory_values: Tensor
    keys: Tensor | None = None  # [N,H,capacity,D]; None: nothing is kept between calls of decode
    values: Tensor | None = None

    def extend(self, keys: Tensor, values: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Put T new positions [N,H,T,D] behind the `length` there are; give all, [N,H,length+T,D]."""
        if self.keys is None or self.values is None:
            return keys, values
        end = length + keys.shape[2]
        self.keys[:, :, length:end] = keys
        self.values[:, :, length:end] = values
        return self.keys[:, :, :end], self.values[:, :, :end]


@dataclass
class Cache:
    """What decoding needs of a source, and of the target so far."""

    layers: list[LayerCache]
    memory_mask: Tensor  # bool [B,1,1,S]: True where the source has a token
    length: int = 0  # t
    beams: int = 1  # K

    def reserve(self, beams: int, capacity: int) -> None:
        """Make room to decode step by step: `capacity` positions for each of a sentence's `beams` rows."""
        self.beams = beams
        for layer in self.layers:
            sentences, heads, _, size = layer.memory_keys.shape
            shape = (sentences * beams, heads, capacity, size)
            layer.keys = layer.memory_keys.new_empty(shape)
            layer.values = layer.memory_values.new_empty(shape)

    def select(self, rows: Tensor) -> None:
        """Keep these rows [N'], in this order: K for each sentence that stays; sentences keep their order."""
        sentences = rows[:: self.beams] // self.beams
        fewer = len(sentences) != len(self.memory_mask)
        if fewer:
            self.memory_mask = self.memory_mask[sentences]
        for layer in self.layers:
            assert layer.keys is not None  # noqa: S101 - reserve comes before select
            assert layer.values is not None  # noqa: S101
            layer.keys = self._moved(layer.keys, rows)
            layer.values = self._moved(layer.values, rows)
            if fewer:
                layer.memory_keys = layer.memory_keys[sentences]
                layer.memory_values = layer.memory_values[sentences]

    def _moved(self, kept: Tensor, rows: Tensor) -> Tensor:
        moved = kept.new_empty(len(rows), *kept.shape[1:])
        torch.index_select(kept[:, :, : self.length], 0, rows, out=moved[:, :, : self.length])
        return moved


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence over itself."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        bias = config.bias == "all"
        self.qkv = nn.Linear(config.d_model, 3 * config.d_model, bias)
        self.out = nn.Linear(config.d_model, config.d_model, bias)
        self.attend = Attend(config.attention_dropout)

    def forward(self, x: Tensor, mask: Tensor | None, cache: LayerCache | None = None, length: int = 0) -> Tensor:
        """x [N,T,d]; with a cache, x stands behind the `length` positions that it holds."""
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            k, v = cache.extend(k, v, length)
        return self.out(join_heads(self.attend(q, k, v, mask)))


class CrossAttention(nn.Module):
    """Multi-head attention of the target over the memory, whose keys and values are made once a sentence."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        bias = config.bias == "all"
        self.q = nn.Linear(config.d_model, config.d_model, bias)
        self.kv = nn.Linear(config.d_model, 2 * config.d_model, bias)
        self.out = nn.Linear(config.d_model, config.d_model, bias)
        self.attend = Attend(config.attention_dropout)

    def memory(self, x: Tensor) -> LayerCache:
        """Keys and values of encoder output x [B,S,d]."""
        k, v = (split_heads(part, self.heads) for part in self.kv(x).chunk(2, dim=-1))
        return LayerCache(k, v)

    def forward(self, x: Tensor, cache: LayerCache, mask: Tensor) -> Tensor:
        """x [N,T,d]: the K beams of a sentence look at its one memory as K·T queries."""
        rows, steps, width = x.shape
        sentences = len(cache.memory_keys)
        q = split_heads(self.q(x).view(sentences, -1, width), self.heads)  # [B,H,K·T,D]
        looked = join_heads(self.attend(q, cache.memory_keys, cache.memory_values, mask))
        return self.out(looked.view(rows, steps, width))


class FeedForward(nn.Module):
    """The position-wise network: relu, gelu, or the gated swiglu (Shazeer, 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        bias = config.bias != "none"
        self.gated = config.activation == "swiglu"
        self.activation = ACTIVATIONS[config.activation]
        self.inner = nn.Linear(config.d_model, config.d_ff * (2 if self.gated else 1), bias)
        self.dropout = Dropout(config.activation_dropout)
        self.out = nn.Linear(config.d_ff, config.d_model, bias)

    def forward(self, x: Tensor) -> Tensor:
        """x [N,T,d] → [N,T,d]."""
        inner = self.inner(x)
        if self.gated:
            gate, inner = inner.chunk(2, dim=-1)
            return self.out(self.dropout(self.activation(gate) * inner))
        return self.out(self.dropout(self.activation(inner)))


class PreNorm(nn.Module):
    """x + dropout(sublayer(norm(x))): trains without a long warm-up (Xiong et al., 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = layer_norm(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """x [N,T,d] → [N,T,d]."""
        return x + self.dropout(sublayer(self.norm(x)))


class PostNorm(PreNorm):
    """norm(x + dropout(sublayer(x))): the order of the paper."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """x [N,T,d] → [N,T,d]."""
        return self.norm(x + self.dropout(sublayer(x)))


RESIDUALS: dict[str, type[PreNorm]] = {"pre": PreNorm, "post": PostNorm}


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention, self.attention_residual = SelfAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,S,d], mask [B,1,1,S] → [B,S,d]."""
        x = self.attention_residual(x, lambda y: self.attention(y, mask))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the memory, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention, self.attention_residual = SelfAttention(config), residual(config)
        self.cross, self.cross_residual = CrossAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(self, x: Tensor, causal: Tensor | None, layer: LayerCache, cache: Cache) -> Tensor:
        """x [N,T,d], causal [T,t+T] → [N,T,d]."""
        x = self.attention_residual(x, lambda y: self.attention(y, causal, layer, cache.length))
        x = self.cross_residual(x, lambda y: self.cross(y, layer, cache.memory_mask))
        return self.feed_forward_residual(x, self.feed_forward)


class Embedding(nn.Module):
    """Tokens and their positions as vectors."""

    def __init__(self, config: ModelConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = math.sqrt(config.d_model) if config.scale == "embedding" else 1.0
        self.norm = layer_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)
        self.positions: Tensor
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(config.max_length, config.d_model))
        else:
            self.register_buffer("positions", sinusoids(config.max_length, config.d_model), persistent=False)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """ids [N,T], the first at position `start` → [N,T,d]."""
        x = self.tokens(ids) * self.scale + self.positions.narrow(0, start, ids.shape[1])
        return self.norm(self.dropout(x))


class Transformer(nn.Module):
    """Encoder, decoder, and the projection to the target vocabulary."""

    def __init__(self, config: ModelConfig, src_tokens: int, tgt_tokens: int) -> None:
        super().__init__()
        self.config = config
        source = nn.Embedding(src_tokens, config.d_model)
        target = source if config.tie_embeddings == "all" else nn.Embedding(tgt_tokens, config.d_model)
        self.src_embedding = Embedding(config, source)
        self.tgt_embedding = Embedding(config, target)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = layer_norm(config) if config.has_final_norm else nn.Identity()
        self.decoder_norm = layer_norm(config) if config.has_final_norm else nn.Identity()
        self.output = nn.Linear(config.d_model, tgt_tokens, config.output_bias)
        if config.tie_embeddings != "none":
            self.output.weight = target.weight
        self.output_scale = config.d_model**-0.5 if config.scale == "output" else 1.0
        self.apply(self._start)

    def _start(self, module: nn.Module) -> None:
        normal, width = self.config.init == "normal", self.config.d_model
        if isinstance(module, nn.Linear):
            if module.bias is not None:
                nn.init.zeros_(module.bias)
            if normal:
                nn.init.normal_(module.weight, std=0.02)
            elif module is not self.output or self.config.tie_embeddings == "none":
                nn.init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02 if normal else width**-0.5)
        elif isinstance(module, Embedding) and isinstance(module.positions, nn.Parameter):
            nn.init.normal_(module.positions, std=0.02 if normal else width**-0.5)
        elif not normal:
            for part in _joined(module):
                nn.init.xavier_uniform_(part)

    def encode(self, src: Tensor) -> Cache:
        """src [B,S] → what decoding needs of it."""
        mask = (src != PAD)[:, None, None, :]
        x = self.src_embedding(src)
        for layer in self.encoder:
            x = layer(x, mask)
        x = self.encoder_norm(x)
        decoder = cast(list[DecoderLayer], self.decoder)
        return Cache([layer.cross.memory(x) for layer in decoder], mask)

    def decode(self, tgt_in: Tensor, cache: Cache) -> Tensor:
        """tgt_in [N,T], which stands behind what the cache holds → logits [N,T,V] of each next token."""
        return self.project(self.decode_states(tgt_in, cache))

    def decode_states(self, tgt_in: Tensor, cache: Cache) -> Tensor:
        """The decoder's last states [N,T,d], before the projection."""
        steps = tgt_in.shape[1]
        x = self.tgt_embedding(tgt_in, cache.length)
        causal = causal_mask(steps, cache.length, x.device) if steps > 1 else None
        for layer, kept in zip(self.decoder, cache.layers, strict=True):
            x = layer(x, causal, kept, cache)
        cache.length += steps
        return self.decoder_norm(x)

    def project(self, states: Tensor) -> Tensor:
        """States [..., d] → logits [..., V]."""
        return self.output(states) * self.output_scale

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing: src [B,S], tgt_in [B,T] → logits [B,T,V]."""
        return self.decode(tgt_in, self.encode(src))


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(q kᵀ / √D) over the allowed keys, float32 or better; shapes as for `Attend` → [N,H,T,S]."""
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1)


def _joined(module: nn.Module) -> tuple[Tensor, ...]:
    """The matrices that a module stores as one; each of them starts as if it stood alone."""
    if isinstance(module, SelfAttention):
        return module.qkv.weight.chunk(3)
    if isinstance(module, CrossAttention):
        return module.kv.weight.chunk(2)
    if isinstance(module, FeedForward) and module.gated:
        return module.inner.weight.chunk(2)
    return ()


def layer_norm(config: ModelConfig) -> nn.LayerNorm:
    """A norm over d_model, with a bias unless the model has none."""
    return nn.LayerNorm(config.d_model, bias=config.bias != "none")


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[N,T,d] → [N,H,T,D]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """[N,H,T,D] → [N,T,d]."""
    return x.transpose(1, 2).flatten(2)


def causal_mask(steps: int, before: int, device: torch.device) -> Tensor:
    """bool [T, t+T]: new position i may look at the `before` old ones and at new ones up to itself."""
    return torch.ones(steps, before + steps, dtype=torch.bool, device=device).tril(before)


def sinusoids(length: int, width: int) -> Tensor:
    """[length, width] of Vaswani et al. (2017), §3.5: sin and cos in turn, wavelengths 2π to 10000·2π."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.empty(length, width, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table.float()
