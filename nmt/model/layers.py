"""The layers of the Transformer (Vaswani et al., 2017) in the variants that `ModelConfig` names.

From the parts to the layers: attention and feed-forward, the residual around each, the layers of both stacks. What
makes them fast is in `kernels/`, what decoding remembers in `cache.py`. `packed` is a module's other way of reading:
sentences end to end, for training on a GPU.

Shapes: B sentences, N rows of the target (N = B in training; in search N = B·K, the K beams of a sentence side by
side), S source positions, T new target positions, H heads, d = d_model, D = d / H; R rows of packed sentences, R_s of
sources and R_t of targets.
"""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config.schema import ModelConfig
from nmt.model.cache import LayerCache
from nmt.model.kernels.attention import Attend
from nmt.model.kernels.dropout import Dropout
from nmt.model.kernels.layer_norm import LayerNorm
from nmt.model.kernels.layout import Layout
from nmt.model.kernels.packed_attention import Sequences, attend_packed
from nmt.model.linear import Linear
from nmt.model.recurrence import SSRU

Sublayer = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Sublayer] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swish": F.silu,
    "swiglu": F.silu,
}


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

    def packed(self, x: Tensor, sequences: Sequences, is_causal: bool) -> Tensor:
        """x [R,d] → [R,d]."""
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(1)  # [R,H,D] each
        attended = attend_packed(q, k, v, sequences, sequences, is_causal)
        return self.out(attended.flatten(1))


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

    def packed(self, x: Tensor, sequences: Sequences, source: Tensor, sources: Sequences) -> Tensor:
        """x [R_t,d], encoder output `source` [R_s,d] → [R_t,d]."""
        q = self.q(x).unflatten(-1, (self.heads, -1))  # [R_t,H,D]
        k, v = self.kv(source).unflatten(-1, (2, self.heads, -1)).unbind(1)  # [R_s,H,D] each
        attended = attend_packed(q, k, v, sequences, sources, is_causal=False)
        return self.out(attended.flatten(1))


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

    def packed(self, x: Tensor, sequences: Sequences) -> Tensor:
        """x [R_s,d] → [R_s,d]."""
        x = self.attention_residual(
            x, lambda y: self.attention.packed(y, sequences, is_causal=False)
        )
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention or what stands in for it, attention to the source, feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm]
        self.attention = SSRU(config) if config.decoder == "ssru" else SelfAttention(config)
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

    def packed(self, x: Tensor, sequences: Sequences, source: Tensor, sources: Sequences) -> Tensor:
        """x [R_t,d], encoder output `source` [R_s,d] → [R_t,d]."""
        x = self.attention_residual(
            x, lambda y: self.attention.packed(y, sequences, is_causal=True)
        )
        x = self.cross_residual(x, lambda y: self.cross.packed(y, sequences, source, sources))
        return self.feed_forward_residual(x, self.feed_forward)


def layer_norm(config: ModelConfig) -> LayerNorm:
    """A norm over d_model, with a bias unless the model has none."""
    return LayerNorm(config.d_model, bias=config.bias != "none")


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[N,T,d] → [N,H,T,D]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """[N,H,T,D] → [N,T,d]."""
    return x.transpose(1, 2).flatten(2)
