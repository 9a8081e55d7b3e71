"""Attention within sequences that lie end to end: neither padding nor a mask.

Shapes: R rows of queries, R' of keys; H heads of D values; P sequences.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

_LARGEST_HEAD = 256
_HEAD_STEP = 8


class Sequences(NamedTuple):
    """Where sequences begin in their rows. Each row belongs to one; some may be empty."""

    starts: Tensor  # int32 [P+1]: the first row of each, and the number of rows
    longest: int  # rows that none of them exceeds


def attends_packed(device: torch.device, dtype: torch.dtype, head_size: int) -> bool:
    """Whether this device has a kernel for it: NVIDIA's since Ampere, in bf16, where torch has FlashAttention.

    Dao (2023), https://arxiv.org/abs/2307.08691.
    """
    if device.type != "cuda" or dtype != torch.bfloat16:
        return False
    fits = head_size <= _LARGEST_HEAD and head_size % _HEAD_STEP == 0
    return fits and torch.cuda.get_device_capability(device) >= (8, 0) and _has_kernel()


def _has_kernel() -> bool:
    """Whether this torch has `varlen_attn`, as since 2.10."""
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401 - looked for
    except ImportError:
        return False
    return torch.backends.cuda.is_flash_attention_available()


def attend_packed(
    q: Tensor, k: Tensor, v: Tensor, queries: Sequences, keys: Sequences, is_causal: bool
) -> Tensor:
    """q [R,H,D], k and v [R',H,D] → [R,H,D]: the queries of sequence i see the keys of sequence i.

    With `is_causal`, query t of a sequence sees its keys up to t.
    """
    if q.device.type != "cuda":
        return _attend_masked(q, k, v, queries, keys, is_causal)
    from torch.nn.attention.varlen import varlen_attn  # not every build of torch has it

    window = (-1, 0) if is_causal else (-1, -1)
    attended = varlen_attn(
        q,
        k,
        v,
        queries.starts,
        keys.starts,
        queries.longest,
        keys.longest,
        window_size=window,
    )
    assert isinstance(attended, Tensor)  # noqa: S101 - it gives more where more is asked for
    return attended


def _attend_masked(
    q: Tensor, k: Tensor, v: Tensor, queries: Sequences, keys: Sequences, is_causal: bool
) -> Tensor:
    """The same by one large mask: what the kernel is compared with, where there is no GPU."""
    of_query = _sequence_of_rows(queries, len(q))  # [R]
    of_key = _sequence_of_rows(keys, len(k))  # [R']
    mask = of_query[:, None] == of_key  # [R,R']
    if is_causal:
        mask = mask.tril()
    attended = F.scaled_dot_product_attention(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), attn_mask=mask
    )
    has_keys = mask.any(1)[:, None, None]
    return torch.where(has_keys, attended.transpose(0, 1), 0.0)


def _sequence_of_rows(sequences: Sequences, rows: int) -> Tensor:
    """Which sequence each row belongs to: [R]."""
    every_row = torch.arange(rows, dtype=torch.int32, device=sequences.starts.device)
    return torch.searchsorted(sequences.starts[1:], every_row, right=True)
