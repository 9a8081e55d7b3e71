"""softmax(q kᵀ / √D + bias) v, and a way of computing it that suits short sequences on a CPU.

Shapes: N sequences, H heads, T queries, S keys, D values a head.
"""

from typing import Any

import torch
from torch import Tensor, nn

from nmt.model.device import wide
from nmt.model.kernels.dropout import Dropout

_VECTOR = 16  # float32 values in the largest of vector registers


class Attend(nn.Module):
    """Attention over the keys that `bias` allows. It has no parameters; `attention_maps` watches here."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        """q [N,H,T,D], k and v [N,H,S,D], bias as from `bias_of`, broadcast to [N,H,T,S] → [N,H,T,D]."""
        alone = q.shape[2] == 1 and q.dtype == torch.bfloat16  # one query a sentence: greedy search
        if q.device.type != "cpu" or (alone and not self.training):
            dropout = self.dropout.rate if self.training else 0.0
            mask = None if bias is None else bias.to(q.dtype)
            return nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, dropout_p=dropout
            )
        factors = self.dropout.factors(torch.Size((*q.shape[:3], k.shape[2])), wide(q.dtype))
        if not torch.is_grad_enabled():
            return _attend(q, k, v, bias, factors)[0]
        return _ShortAttention.apply(q, k, v, bias, factors)  # type: ignore[no-untyped-call]


def _attend(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, factors: Tensor | None
) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Attention by batched products, with the softmax in float32 or wider.

    On a CPU torch's fused attention takes 5 to 20 times as long for sentences of 10 to 30 tokens, forward and
    backward, and its softmax 10 times as long for rows that are shorter than a vector register. (For a single query
    in bfloat16, the fused one takes half to three quarters of the time.)

    Shapes as in `Attend`; `factors` [N,H,T,S] are dropout's. Gives what was looked up and, with N and H as one
    dimension: q, k, v, and the weights before dropout.
    """
    shape = q.shape
    q, k, v = (
        x.reshape(-1, *x.shape[2:]) for x in (q, k, v)
    )  # copies: products of strided rows are slow
    scores = torch.bmm(q, k.mT).to(wide(q.dtype)).view(*shape[:3], -1)
    scale = shape[-1] ** -0.5
    scores = scores.mul_(scale) if bias is None else torch.add(bias, scores, alpha=scale)
    if scores.shape[-1] < _VECTOR:
        weights = scores.sub_(scores.amax(-1, keepdim=True)).exp_()
        weights.div_(weights.sum(-1, keepdim=True))
    else:
        weights = scores.softmax(-1)
    looked = torch.bmm(_times(weights, factors).to(v.dtype).flatten(0, 1), v)
    return looked.view(shape), (q, k, v, weights.flatten(0, 1))


class _ShortAttention(torch.autograd.Function):
    """`_attend` with its gradients."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, factors: Tensor | None
    ) -> Tensor:
        """As `_attend`."""
        looked, kept = _attend(q, k, v, bias, factors)
        ctx.save_for_backward(*kept, None if factors is None else factors.flatten(0, 1))
        return looked

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of q, k and v."""
        q, k, v, weights, factors = ctx.saved_tensors
        heads = gradients[0].shape[:2]
        of_out = gradients[0].reshape(q.shape)
        of_v = torch.bmm(_times(weights, factors).to(v.dtype).mT, of_out)
        of_weights = _times(torch.bmm(of_out, v.mT).to(weights.dtype), factors)
        mean = (weights * of_weights).sum(-1, keepdim=True)
        of_scores = (of_weights - mean).mul_(weights).mul_(q.shape[-1] ** -0.5).to(q.dtype)
        of_q, of_k = torch.bmm(of_scores, k), torch.bmm(of_scores.mT, q)
        return *(x.unflatten(0, heads) for x in (of_q, of_k, of_v)), None, None


def bias_of(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to the scores of a model that computes in `dtype`: 0 where `mask` is True, -inf elsewhere."""
    kept_in = wide(dtype) if mask.device.type == "cpu" else dtype
    return torch.zeros(mask.shape, dtype=kept_in, device=mask.device).masked_fill_(
        ~mask, -torch.inf
    )


def _times(weights: Tensor, factors: Tensor | None) -> Tensor:
    return weights if factors is None else weights * factors
