"""A start that knows what words mean: tokens that translate each other have alike vectors.

A decoder whose cross-attention passes on what it looks at then writes translations of the source's
words before it is trained, and learns from its first update where to look.

Shapes: V source and W target tokens, d = d_model.
"""

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from nmt.model.layers import CrossAttention, DecoderLayer, EncoderLayer
from nmt.model.transformer import Transformer
from nmt.train.start.word_pairs import WordPairs

_EXTRA = 16  # dimensions that make the first d of a randomised factorisation exact enough
_ROUNDS = 3
_QUIET = 0.3  # for others see docs/lab/training.md


@torch.no_grad()
def put_word_pairs(model: Transformer, pairs: WordPairs, seed: int) -> None:
    """Change a new model, which has its random start: embeddings, an untied output, and the layers' outputs.

    Tokens that no pair has keep their random vectors.
    """
    source, target = model.src_embedding.tokens.weight, model.tgt_embedding.tokens.weight
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        src, tgt = _vectors(pairs, len(source), len(target), source.shape[1])
    if source is target:
        src = tgt = _of_both_sides(pairs, src, tgt)
    _put_rows(source, src)
    _put_rows(target, tgt)
    if model.output.weight is not target:
        _put_rows(model.output.weight, tgt)
    for layer in model.decoder:
        _pass_on(cast(DecoderLayer, layer).cross)
    for layer in model.encoder:
        _quieten(cast(EncoderLayer, layer))


def _vectors(pairs: WordPairs, sources: int, targets: int, width: int) -> tuple[Tensor, Tensor]:
    """Vectors [V,d] and [W,d] whose products tell how much a source token speaks for a target token."""
    gains = _gains(pairs, sources, targets)
    rank = min(width + _EXTRA, sources, targets)
    u, sizes, v = torch.svd_lowrank(gains, q=rank, niter=_ROUNDS)
    roots = sizes[:width].sqrt()
    # Turned, so that no dimension is more important than another.
    turn = nn.init.orthogonal_(torch.empty(width, width))[: len(roots)]
    src = (u[:, :width] * roots) @ turn
    tgt = (v[:, :width] * roots) @ turn
    src_ids, tgt_ids = gains.indices()
    return src * _seen(src_ids, sources), tgt * _seen(tgt_ids, targets)


def _of_both_sides(pairs: WordPairs, src: Tensor, tgt: Tensor) -> Tensor:
    """One vector for each token [V,d]: that of the side on which it is more frequent has more weight."""
    src_counts = torch.tensor(np.bincount(pairs.src, pairs.expected, len(src)))
    tgt_counts = torch.tensor(np.bincount(pairs.tgt, pairs.expected, len(tgt)))
    return src * src_counts[:, None] + tgt * tgt_counts[:, None]


def _gains(pairs: WordPairs, sources: int, targets: int) -> Tensor:
    """The positive pointwise mutual information of each pair of tokens, sparse [V,W]."""
    frequency = np.bincount(pairs.tgt, pairs.expected, targets) / max(1.0, pairs.expected.sum())
    gain = np.log(pairs.probability / frequency[pairs.tgt] + 1e-9)
    gain *= pairs.expected / (pairs.expected + 1)  # what was seen only once or twice says less
    speaks = gain > 0
    places = torch.tensor(np.stack([pairs.src[speaks], pairs.tgt[speaks]]))
    values = torch.tensor(gain[speaks], dtype=torch.float32)
    size = (sources, targets)
    return torch.sparse_coo_tensor(places, values, size, check_invariants=True).coalesce()


def _seen(ids: Tensor, tokens: int) -> Tensor:
    """1 for tokens among these, else 0: their vectors are rounding errors."""
    return (torch.bincount(ids, minlength=tokens) > 0).float()[:, None]


def _put_rows(weight: Tensor, vectors: Tensor) -> None:
    """Put vectors in the place of rows, each of length 1, as the random ones have on average."""
    lengths = vectors.norm(dim=1, keepdim=True)
    known = (lengths > 0).squeeze(1)
    weight[known] = (vectors / lengths)[known].to(weight.dtype)


def _pass_on(attention: CrossAttention) -> None:
    """Let a layer add what it looks at to its state."""
    _keys, values = attention.kv.weight.chunk(2)
    nn.init.eye_(values)
    nn.init.eye_(attention.out.weight)


def _quieten(layer: EncoderLayer) -> None:
    """Let a layer add little to the words at first: it would be noise."""
    layer.attention.out.weight.mul_(_QUIET)
    layer.feed_forward.out.weight.mul_(_QUIET)
