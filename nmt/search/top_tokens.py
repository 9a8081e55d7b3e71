"""The most likely next tokens. Shapes: N rows, n rows of one block, V tokens, C of them wanted, G groups."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.machine.device import accumulation_dtype, rows_at_once
from nmt.text.vocab import EOS

_GROUP_SIZE = 32  # tokens


@dataclass(frozen=True)
class TopTokens:
    """The most likely next tokens of each row, best first."""

    log_probs: Tensor  # [N,C], float32 or wider
    tokens: Tensor  # [N,C]
    eos_log_probs: Tensor  # [N], whether or not EOS is among the most likely


def top_tokens(logits: Tensor, count: int) -> TopTokens:
    """The `count` most likely tokens by logits [N,V], or all V if there are no more."""
    count = min(count, logits.shape[1])
    blocks = [_top_tokens(block, count) for block in logits.split(rows_at_once(logits))]
    return TopTokens(
        log_probs=torch.cat([block.log_probs for block in blocks]),
        tokens=torch.cat([block.tokens for block in blocks]),
        eos_log_probs=torch.cat([block.eos_log_probs for block in blocks]),
    )


def _top_tokens(logits: Tensor, count: int) -> TopTokens:
    logits = logits.to(accumulation_dtype(logits.dtype))  # [n,V]
    normalizer = logits.logsumexp(1, keepdim=True)  # [n,1]
    values, tokens = _topk(logits, count)  # [n,C]
    return TopTokens(
        log_probs=values - normalizer,
        tokens=tokens,
        eos_log_probs=logits[:, EOS] - normalizer.squeeze(1),
    )


def _topk(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The same as x.topk(count) for x [n,V]: values and indices [n,C].

    The C greatest values are in the C groups with the greatest maxima, and in what is left over when V is
    divided into groups. To find the maxima is quick; topk takes fifty times as long for each value.
    """
    size = x.shape[1]
    groups = size // _GROUP_SIZE
    if groups < 2 * count:
        values, indices = x.topk(count, dim=1)
        return values, indices

    grouped = groups * _GROUP_SIZE  # member i of group g is at i·G + g
    maxima = x[:, :grouped].unflatten(1, (_GROUP_SIZE, groups)).amax(1)  # [n,G]
    best_groups = maxima.topk(count, dim=1).indices  # [n,C]
    offsets = torch.arange(0, grouped, groups, device=x.device)  # [_GROUP_SIZE]
    members = best_groups[:, :, None] + offsets  # [n,C,_GROUP_SIZE]
    left_over = torch.arange(grouped, size, device=x.device).expand(len(x), -1)
    candidates = torch.cat([members.flatten(1), left_over], dim=1)
    values, places = x.gather(1, candidates).topk(count, dim=1)
    return values, candidates.gather(1, places)
