"""The Transformer (Vaswani et al., 2017): embeddings, both stacks of layers, the projection to the vocabulary.

Its layers are in `layers.py`, what decoding remembers in `cache.py`, how a new model starts in
`nmt/train/start/initialise.py`.

Shapes: B sentences, N rows of the target (N = B in training; in search N = B·K, the K beams of a
sentence side by side), S source positions, T new target positions, d = d_model, V target tokens; R rows of
packed sentences, R_s of sources and R_t of targets.
"""

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nmt.config.schema import ModelConfig
from nmt.model.cache import Cache
from nmt.model.kernels.attention import bias_of
from nmt.model.kernels.dropout import Dropout
from nmt.model.kernels.layout import PADDED, Layout, arrange
from nmt.model.layers import DecoderLayer, EncoderLayer, layer_norm
from nmt.model.linear import Linear
from nmt.model.packed_batch import PackedPairs, PackedSide
from nmt.text.vocab import BOS, PAD


class TokenEmbedding(nn.Embedding):
    """torch's, but built without values: `initialise` or a checkpoint brings them."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Module):
    """Tokens and their positions as vectors."""

    def __init__(
        self, config: ModelConfig, tokens: TokenEmbedding, zero: int | None = None
    ) -> None:
        """`zero` is the token, if any, whose vector is zeros whatever the table holds."""
        super().__init__()
        self.tokens = tokens
        self.zero = zero
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
        x = self._vectors(ids) + positions
        return self.norm(self.dropout(x.to(dtype)))

    def packed(self, side: PackedSide, dtype: torch.dtype) -> Tensor:
        """Tokens of sentences end to end → [R,d] in `dtype`."""
        positions = F.embedding(side.positions, self.positions)
        x = self._vectors(side.ids) + positions
        return self.norm(self.dropout(x.to(dtype)))

    def _vectors(self, ids: Tensor) -> Tensor:
        x: Tensor = self.tokens(ids) * self.scale
        return x if self.zero is None else x.masked_fill((ids == self.zero)[..., None], 0.0)


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
        start = BOS if config.starts_from_zeros else None
        self.tgt_embedding = Embedding(config, target, zero=start)
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

    def packed(self, pairs: PackedPairs) -> Tensor:
        """Teacher forcing of sentences end to end → logits [R_t,V] of each next token.

        Logits of spare rows mean nothing.
        """
        src, tgt = pairs.src, pairs.tgt
        source = self.src_embedding.packed(src, self.dtype)  # [R_s,d]
        for layer in self.encoder:
            source = cast(EncoderLayer, layer).packed(source, src.sequences)
        source = self.encoder_norm(source)
        x = self.tgt_embedding.packed(tgt, self.dtype)  # [R_t,d]
        for layer in self.decoder:
            x = cast(DecoderLayer, layer).packed(x, tgt.sequences, source, src.sequences)
        return self.project(self.decoder_norm(x))

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
