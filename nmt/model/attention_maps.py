"""Where a model looks: the attention weights of every layer, for inspection and alignment.

Shapes: B pairs, S source and T target positions, H heads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nmt.model.device import wide
from nmt.model.kernels.attention import Attend, causal_bias
from nmt.model.transformer import Transformer


@dataclass(frozen=True)
class AttentionMaps:
    """How much each position looks at each other.

    A row sums to 1, with 0 for the source's padding and for target positions still to come.
    """

    encoder: Tensor  # [encoder layers,B,H,S,S]
    decoder: Tensor  # [decoder layers,B,H,T,T]
    cross: Tensor  # [decoder layers,B,H,T,S]


@torch.no_grad()
def attention_maps(model: Transformer, src: Tensor, tgt_in: Tensor) -> AttentionMaps:
    """Give the weights with which `model`, without dropout, reads src [B,S] and tgt_in [B,T]."""
    with _watched(model) as weights:
        model.decode_states(tgt_in, model.encode(src))
    of_encoder = weights[: len(model.encoder)]
    of_decoder = weights[len(model.encoder) :]  # a layer looks at the past, then at the source
    return AttentionMaps(
        encoder=torch.stack(of_encoder),
        decoder=torch.stack(of_decoder[::2]),
        cross=torch.stack(of_decoder[1::2]),
    )


def attention_weights(q: Tensor, k: Tensor, bias: Tensor | None) -> Tensor:
    """softmax(q kᵀ / √D + bias) in float32 or wider; shapes as for `Attend` → [N,H,T,S]."""
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    if bias is not None:
        scores = scores + bias
    return scores.softmax(dim=-1, dtype=wide(scores.dtype))


@contextmanager
def _watched(model: nn.Module) -> Iterator[list[Tensor]]:
    """Switch dropout off, and collect the weights of every call of attention, in order."""
    weights: list[Tensor] = []

    def watch(_module: nn.Module, inputs: tuple[Any, ...]) -> None:
        q, k, _values, bias, *causal = inputs
        if any(causal):
            bias = causal_bias(q)
        weights.append(attention_weights(q, k, bias))

    attends = [module for module in model.modules() if isinstance(module, Attend)]
    handles = [attend.register_forward_pre_hook(watch) for attend in attends]
    training = model.training
    model.eval()
    try:
        yield weights
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
