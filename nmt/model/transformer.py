"""The Transformer (Vaswani et al., 2017) in the variants that `ModelConfig` names.

Shapes: B sentences, N rows of the target (N = B in training; in search N = B·K, the K beams of a sentence
side by side), S source positions, T new target positions, H heads, D = d_model / H, V target tokens.
"""

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from nmt.config.schema import ModelConfig
from nmt.model.cache import Cache, LayerCache
from nmt.model.device import wide
from nmt.model.kernels.attention import Attend, bias_of
from nmt.model.kernels.dropout import Dropout
from nmt.text.vocab import PAD

Sublayer = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Sublayer] = {"relu": F.relu, "gelu": F.gelu, "swiglu": F.silu}


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence over itself."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        bias = config.bias == "all"
        self.qkv = nn.Linear(config.d_model, 3 * config.d_model, bias)
        self.out = nn.Linear(config.d_model, config.d_model, bias)
        self.attend = Attend(config.attention_dropout)

    def forward(
        self, x: Tensor, bias: Tensor | None, layer: LayerCache | None = None, length: int = 0
    ) -> Tensor:
        """x [N,T,d] → [N,T,d]; with a cache, x stands behind the `length` positions that it holds."""
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        if layer is not None:
            k, v = layer.extend(k, v, length)
        return self.out(join_heads(self.attend(q, k, v, bias)))


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
        return LayerCache(k, v, keys=k[:, :, :0], values=v[:, :, :0])

    def forward(self, x: Tensor, cache: LayerCache, bias: Tensor) -> Tensor:
        """x [B,T·K,d] → [B,T·K,d]: the beams of a sentence look at its one memory."""
        q = split_heads(self.q(x), self.heads)
        return self.out(join_heads(self.attend(q, cache.memory_keys, cache.memory_values, bias)))


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
        return self.dropout.onto(x, sublayer(self.norm(x)))


class PostNorm(PreNorm):
    """norm(x + dropout(sublayer(x))): the order of the paper."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """x [N,T,d] → [N,T,d]."""
        return self.norm(self.dropout.onto(x, sublayer(x)))


RESIDUALS: dict[str, type[PreNorm]] = {"pre": PreNorm, "post": PostNorm}


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention, self.attention_residual = SelfAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [B,S,d], bias [B,1,1,S] → [B,S,d]."""
        x = self.attention_residual(x, lambda y: self.attention(y, bias))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the memory, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention, self.attention_residual = SelfAttention(config), residual(config)
        self.cross, self.cross_residual = CrossAttention(config), residual(config)
        self.feed_forward, self.feed_forward_residual = FeedForward(config), residual(config)

    def forward(self, x: Tensor, past: Tensor, layer: LayerCache, cache: Cache) -> Tensor:
        """x [B,T·K,d], `past` as from `Cache.look` → [B,T·K,d]."""
        x = self.attention_residual(
            x, lambda y: self.attention(y, past, layer, cache.length * cache.beams)
        )
        x = self.cross_residual(x, lambda y: self.cross(y, layer, cache.memory_bias))
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
            self.register_buffer(
                "positions", torch.empty(config.max_length, config.d_model), persistent=False
            )

    def forward(self, ids: Tensor, dtype: torch.dtype, start: int = 0) -> Tensor:
        """ids [N,T], the first at position `start` → [N,T,d] in `dtype`."""
        x = self.tokens(ids) * self.scale + self.positions.narrow(0, start, ids.shape[1])
        return self.norm(self.dropout(x.to(dtype)))


class Transformer(nn.Module):
    """Encoder, decoder, and the projection to the target vocabulary."""

    def __init__(self, config: ModelConfig, src_tokens: int, tgt_tokens: int) -> None:
        super().__init__()
        self.config = config
        source = nn.Embedding(src_tokens, config.d_model)
        target = (
            source if config.tie_embeddings == "all" else nn.Embedding(tgt_tokens, config.d_model)
        )
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
        normal = self.config.init == "normal"
        std = 0.02 if normal else self.config.d_model**-0.5
        if isinstance(module, nn.Linear):
            if module.bias is not None:
                nn.init.zeros_(module.bias)
            if normal:
                nn.init.normal_(module.weight, std=std)
            elif module is not self.output or self.config.tie_embeddings == "none":
                nn.init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std)
        elif isinstance(module, Embedding) and isinstance(module.positions, nn.Parameter):
            nn.init.normal_(module.positions, std=std)
        elif isinstance(module, Embedding) and not module.positions.is_meta:
            module.positions.copy_(sinusoids(*module.positions.shape))
        elif not normal:
            for part in _joined(module):
                nn.init.xavier_uniform_(part)

    @property
    def dtype(self) -> torch.dtype:
        """What the layers compute in."""
        return cast(DecoderLayer, self.decoder[0]).attention.qkv.weight.dtype

    def in_dtype(self, dtype: torch.dtype) -> dict[str, Tensor]:
        """The parameters as `torch.func.functional_call` takes them, so that the layers compute in `dtype`.

        Gradients arrive in the parameters' own dtype. Embeddings are left out: a frequent token's gradient is a sum
        over many positions.
        """
        embeddings = (self.src_embedding, self.tgt_embedding)
        left_out = {
            id(p)
            for embedding in embeddings
            for p in (embedding.tokens.weight, embedding.positions)
        }
        return {name: p.to(dtype) for name, p in self.named_parameters() if id(p) not in left_out}

    def encode(self, src: Tensor) -> Cache:
        """src [B,S] → what decoding needs of it."""
        bias = bias_of((src != PAD)[:, None, None, :], self.dtype)
        x = self.src_embedding(src, self.dtype)
        for layer in self.encoder:
            x = layer(x, bias)
        x = self.encoder_norm(x)
        return Cache([cast(DecoderLayer, layer).cross.memory(x) for layer in self.decoder], bias)

    def decode(self, tgt_in: Tensor, cache: Cache) -> Tensor:
        """tgt_in [N,T], which stands behind what the cache holds → logits [N,T,V] of each next token."""
        return self.project(self.decode_states(tgt_in, cache))

    def decode_states(self, tgt_in: Tensor, cache: Cache) -> Tensor:
        """The decoder's last states [N,T,d], before the projection."""
        steps, beams = tgt_in.shape[1], cache.beams
        x = self.tgt_embedding(tgt_in, self.dtype, cache.length)
        x = x.unflatten(0, (-1, beams)).transpose(1, 2).flatten(1, 2)  # [B,T·K,d]
        past = cache.look(steps, self.dtype)
        for layer, kept in zip(self.decoder, cache.layers, strict=True):
            x = layer(x, past, kept, cache)
        cache.length += steps
        return self.decoder_norm(x).unflatten(1, (steps, beams)).transpose(1, 2).flatten(0, 1)

    def project(self, states: Tensor) -> Tensor:
        """States [..., d] → logits [..., V]."""
        weight = self.output.weight
        if weight.dtype == states.dtype:
            logits = self.output(states)
        else:  # in training embeddings, and what is tied to them, stay in float32
            logits = F.linear(states, weight.to(states.dtype), self.output.bias)
        return logits if self.output_scale == 1.0 else logits * self.output_scale

    def forward(self, src: Tensor, tgt_in: Tensor, kept: Tensor | None = None) -> Tensor:
        """Teacher forcing: src [B,S], tgt_in [B,T] → logits [B,T,V], or [n,V] of the `kept` positions [n] of B·T."""
        states = self.decode_states(tgt_in, self.encode(src))
        return self.project(states if kept is None else states.flatten(0, 1)[kept])


class Undrawn(TorchFunctionMode):
    """A model that is made within gets no random weights: a file's will take their place, and to draw takes longer.

    Under `torch.device("meta")` they would moreover load torch's compiler, which takes seconds.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Do everything but draw."""
        drawing = getattr(func, "__name__", "") in ("normal_", "uniform_", "kaiming_uniform_")
        return (*args, *(kwargs or {}).values())[0] if drawing else func(*args, **(kwargs or {}))


def _joined(module: nn.Module) -> tuple[Tensor, ...]:
    """The matrices that a module stores as one; each of them starts as if it stood alone."""
    if isinstance(module, SelfAttention):
        return module.qkv.weight.chunk(3)
    if isinstance(module, CrossAttention):
        return module.kv.weight.chunk(2)
    return module.inner.weight.chunk(2) if isinstance(module, FeedForward) and module.gated else ()


def layer_norm(config: ModelConfig) -> nn.LayerNorm:
    """A norm over d_model, with a bias unless the model has none."""
    return LayerNorm(config.d_model, bias=config.bias != "none")


class LayerNorm(nn.LayerNorm):
    """torch's, but on a CPU its backward sums up the gradients of weight and bias in x's dtype: bf16 stands still."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape [..., d] → the same shape; in training on a CPU in float32 or wider."""
        if not self.training or x.device.type != "cpu":
            return super().forward(x)
        inside = wide(x.dtype)
        bias = None if self.bias is None else self.bias.to(inside)
        return F.layer_norm(
            x.to(inside), self.normalized_shape, self.weight.to(inside), bias, self.eps
        ).to(x.dtype)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[N,T,d] → [N,H,T,D]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """[N,H,T,D] → [N,T,d]."""
    return x.transpose(1, 2).flatten(2)


def sinusoids(length: int, width: int) -> Tensor:
    """[length, width] of Vaswani et al. (2017), §3.5: sin and cos in turn, wavelengths 2π to 10000·2π."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = position * frequency
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1).float()
