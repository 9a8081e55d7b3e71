"""The likeliest of all tokens. Shapes: N rows, V tokens, C of them wanted."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.model.device import rows_at_once, wide
from nmt.text.vocab import EOS

_GROUP = 32  # tokens of which only the best is looked at first


@dataclass(frozen=True)
class Likeliest:
    """The likeliest next tokens of each row, best first."""

    log_probs: Tensor  # float32 or wider [N,C]
    tokens: Tensor  # [N,C]
    of_end: Tensor  # [N]: the log-probability of EOS


def likeliest(logits: Tensor, count: int) -> Likeliest:
    """The `count` likeliest tokens by logits [N,V], or all V if there are no more; on a CPU block by block."""
    parts = [
        _of_block(block, min(count, logits.shape[1]))
        for block in logits.split(rows_at_once(logits))
    ]
    return Likeliest(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _of_block(logits: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    logits = logits.to(wide(logits.dtype))
    total = logits.logsumexp(1, keepdim=True)
    values, tokens = _top(logits, count)
    return values - total, tokens, logits[:, EOS] - total.squeeze(1)


def _top(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The same as x.topk(count), x [n,V]: its members are in the groups with the `count` greatest maxima.

    To compare whole groups is quick; topk's time per value is fifty times that.
    """
    size = x.shape[1]
    groups = size // _GROUP
    if groups < 2 * count:
        values, tokens = x.topk(count, dim=1)
        return values, tokens
    grouped = groups * _GROUP  # member i of group g stands at i·groups + g
    chosen = x[:, :grouped].unflatten(1, (_GROUP, groups)).amax(1).topk(count, dim=1).indices
    members = chosen[:, :, None] + torch.arange(0, grouped, groups, device=x.device)
    rest = torch.arange(grouped, size, device=x.device).expand(len(x), -1)
    candidates = torch.cat([members.flatten(1), rest], dim=1)
    values, at = x.gather(1, candidates).topk(count, dim=1)
    return values, candidates.gather(1, at)
