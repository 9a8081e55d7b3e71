"""softmax(q kᵀ / √D + bias) v, and a way of computing it that suits short sequences on a CPU.

Shapes: N sequences, H heads, T queries, S keys, D values a head; G = N·H, both in one dimension.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nmt.machine.device import accumulation_dtype
from nmt.model.kernels.dropout import Dropout

_VECTOR = 16  # float32 values in the largest of vector registers
_ALIGNMENT = 8  # keys


class Attend(nn.Module):
    """Attention over the keys that `bias` allows."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        """q [N,H,T,D], k and v [N,H,S,D] → [N,H,T,D].

        bias is from `bias_of`, of a shape that broadcasts to [N,H,T,S]. If `is_causal`, there is
        none, and query t sees the keys up to t.
        """
        single_bf16_query = q.shape[2] == 1 and q.dtype == torch.bfloat16
        if q.device.type != "cpu" or (single_bf16_query and not self.training):
            return self._fused(q, k, v, bias, is_causal)
        if is_causal:
            bias = causal_bias(q)
        weights_shape = torch.Size((*q.shape[:3], k.shape[2]))
        factors = self.dropout.factors(weights_shape, accumulation_dtype(q.dtype))
        if torch.is_grad_enabled():
            return _ShortAttention.apply(q, k, v, bias, factors)  # type: ignore[no-untyped-call]
        return _attend(q, k, v, bias, factors).out

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, is_causal: bool
    ) -> Tensor:
        """torch's own kernels, which on a GPU are the fastest without a bias; shapes as in `forward`."""
        mask = None if bias is None else bias.to(q.dtype)
        dropout = self.dropout.rate if self.training else 0.0
        return nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=is_causal
        )


def bias_of(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to the scores of a model in `dtype`: 0 where `mask` is True, -inf elsewhere."""
    if mask.device.type == "cpu":
        zeros = torch.zeros(mask.shape, dtype=accumulation_dtype(dtype))  # the dtype of the scores
    else:
        zeros = _aligned_zeros(mask, dtype)
    return zeros.masked_fill_(~mask, -torch.inf)


def _aligned_zeros(like: Tensor, dtype: torch.dtype) -> Tensor:
    """Zeros in the shape of `like` [..., S], its rows as far apart as torch's kernels on a GPU want.

    They would copy any other bias, in every layer.
    """
    keys = like.shape[-1]
    padded = -(-keys // _ALIGNMENT) * _ALIGNMENT
    return torch.zeros(*like.shape[:-1], padded, dtype=dtype, device=like.device)[..., :keys]


def causal_bias(q: Tensor) -> Tensor:
    """The bias [T,T] with which each of the T queries [N,H,T,D] sees the keys up to its own place."""
    steps = q.shape[2]
    past = torch.ones(steps, steps, dtype=torch.bool, device=q.device).tril()
    return bias_of(past, q.dtype)


class _Attended(NamedTuple):
    """The output of attention, and what its gradients need."""

    out: Tensor  # [N,H,T,D]
    q: Tensor  # [G,T,D]
    k: Tensor  # [G,S,D]
    v: Tensor  # [G,S,D]
    weights: Tensor  # [G,T,S], before dropout


def _attend(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, factors: Tensor | None
) -> _Attended:
    """Attention by batched products, with the softmax in float32 or wider.

    On a CPU torch's fused attention takes 5 to 20 times as long for sentences of 10 to 30 tokens,
    forward and backward, and its softmax 10 times as long for rows that are shorter than a vector
    register. (For a single query in bfloat16 the fused one takes half to three quarters of the
    time.)

    Shapes as in `Attend`; `factors` [N,H,T,S] are dropout's.
    """
    out_shape = q.shape
    q = _joined(q)
    k = _joined(k)
    v = _joined(v)
    scores = (
        torch.bmm(q, k.mT).to(accumulation_dtype(q.dtype)).view(*out_shape[:3], -1)
    )  # [N,H,T,S]
    scale = out_shape[-1] ** -0.5
    if bias is None:
        scores.mul_(scale)
    else:
        scores = torch.add(bias, scores, alpha=scale)
    weights = _softmax(scores)
    dropped = _times(weights, factors).to(v.dtype).flatten(0, 1)  # [G,T,S]
    out = torch.bmm(dropped, v).view(out_shape)
    return _Attended(out, q, k, v, weights.flatten(0, 1))


def _joined(x: Tensor) -> Tensor:
    """[N,H,T,D] → [G,T,D]: a copy if x is a strided view, since products of those are slow."""
    return x.reshape(-1, *x.shape[2:])


def _softmax(scores: Tensor) -> Tensor:
    """The softmax of each row [...,S]; it may overwrite the scores."""
    if scores.shape[-1] >= _VECTOR:
        return scores.softmax(-1)
    weights = scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    return weights.div_(weights.sum(-1, keepdim=True))


def _times(weights: Tensor, factors: Tensor | None) -> Tensor:
    return weights if factors is None else weights * factors


class _ShortAttention(torch.autograd.Function):
    """`_attend` with the gradients of Q, K and V.

    S = Q Kᵀ / √D + bias,  P = softmax(S),  O = (P ∘ M) V, where M are the factors of dropout.
    """

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, factors: Tensor | None
    ) -> Tensor:
        """O, as `_attend` computes it."""
        attended = _attend(q, k, v, bias, factors)
        joined_factors = None if factors is None else factors.flatten(0, 1)  # [G,T,S]
        ctx.save_for_backward(attended.q, attended.k, attended.v, attended.weights, joined_factors)
        return attended.out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """dO [N,H,T,D] → dQ [N,H,T,D], dK and dV [N,H,S,D]; bias and factors have no gradient."""
        q, k, v, weights, factors = ctx.saved_tensors
        heads = gradients[0].shape[:2]  # N, H
        d_out = gradients[0].reshape(q.shape)
        # dV = (P ∘ M)ᵀ dO
        d_v = torch.bmm(_times(weights, factors).to(v.dtype).mT, d_out)
        # dP = (dO Vᵀ) ∘ M
        d_weights = _times(torch.bmm(d_out, v.mT).to(weights.dtype), factors)
        # dS = P ∘ (dP − rowsum(dP ∘ P))
        row_sums = (weights * d_weights).sum(-1, keepdim=True)
        d_scores = (d_weights - row_sums).mul_(weights)
        # dQ = dS K / √D,  dK = dSᵀ Q / √D
        scaled = d_scores.mul_(q.shape[-1] ** -0.5).to(q.dtype)
        d_q = torch.bmm(scaled, k)
        d_k = torch.bmm(scaled.mT, q)
        return (
            d_q.unflatten(0, heads),
            d_k.unflatten(0, heads),
            d_v.unflatten(0, heads),
            None,
            None,
        )
