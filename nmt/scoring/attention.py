"""Where a model looked in the source as it wrote, or would have written, a target.

Shapes: B pairs, S source positions, T target positions (both with EOS), H heads, D = d_model / H.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor

from nmt.machine.device import accumulation_dtype
from nmt.model.batch import collate
from nmt.model.cache import LayerCache
from nmt.model.kernels.layout import Layout
from nmt.model.layers import CrossAttention, DecoderLayer, split_heads
from nmt.model.transformer import Transformer


@torch.inference_mode()
def cross_attention(
    model: Transformer, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> list[Tensor]:
    """The weights of all heads for each pair, float [layers, H, T, S] on the CPU.

    `sources` and `targets` are ids without BOS or EOS, at most `max_length - 1` of them. Row t is the step that wrote
    target token t, the last row EOS; the last column is the source's EOS. Each row sums to 1. For the mean of a
    layer's heads: `weights[layer].mean(0)`. No other thread may compute with the model meanwhile: its attention would
    be noted, too.
    """
    if not sources:
        return []
    model.eval()
    device = next(model.parameters()).device
    batch = collate(sources, targets, model.config.max_length).to(device)
    with _recording(model) as recorded:
        model(batch.src, batch.tgt_in, src_is_padded=batch.src_is_padded)
    layers = torch.stack(recorded, dim=1).cpu()  # [B,layers,H,T,S]
    of_pairs = []
    for weights, src, tgt in zip(layers, sources, targets, strict=True):
        of_pairs.append(weights[:, :, : len(tgt) + 1, : len(src) + 1].clone())
    return of_pairs


@contextmanager
def _recording(model: Transformer) -> Iterator[list[Tensor]]:
    """Note the weights of each layer's attention to the source, [B,H,T,S], while the model computes."""
    recorded: list[Tensor] = []

    def note(cross: Any, inputs: tuple[Tensor, Layout, LayerCache, Tensor | None]) -> None:
        recorded.append(_weights(cross, *inputs))

    layers = [cast(DecoderLayer, layer) for layer in model.decoder]
    hooks = [layer.cross.register_forward_pre_hook(note) for layer in layers]
    try:
        yield recorded
    finally:
        for hook in hooks:
            hook.remove()


def _weights(
    cross: CrossAttention, x: Tensor, layout: Layout, cache: LayerCache, bias: Tensor | None
) -> Tensor:
    """softmax(q kᵀ / √D + bias) [B,H,T,S] of x [B,T,d] in `layout`: the weights that attention gives to its values."""
    q = split_heads(layout.unpack(cross.q(x)), cross.heads)  # [B,H,T,D]
    scores = (q @ cache.source_keys.mT).to(accumulation_dtype(q.dtype)) * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1)
