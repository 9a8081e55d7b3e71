"""Tokens drawn at random. Shapes: N rows, V target tokens, C of them to draw from, L positions."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nmt.machine.device import accumulation_dtype
from nmt.search.top_tokens import TopTokens, top_tokens
from nmt.text.vocab import EOS


def uniforms(seed: int, source: Sequence[int], number: int, count: int) -> npt.NDArray[np.float32]:
    """`count` numbers of [0,1) for sample `number` of a source: a function of these alone.

    So a sentence gets the same samples in every batch and on every run.
    """
    key = f"{seed} {number} {list(source)}".encode()
    digest = hashlib.blake2b(key, digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest)).random(count, np.float32)


def draw(logits: Tensor, uniform: Tensor, temperature: float, top_k: int) -> TopTokens:
    """Draw one token of each row of logits [N,V], from the `top_k` most likely (0: from all), C = 1.

    A row's token is the first, by rising id, up to which the probabilities sum to more than its number
    of `uniform` [N] in [0,1). So rounding, which differs between batches, hardly ever changes a draw.
    """
    choices = _choices(logits, top_k)
    # The most likely token stays at 0, so that nothing overflows at a temperature near 0.
    relative = choices.log_probs - choices.log_probs.amax(1, keepdim=True)  # [N,C]
    cumulative = (relative / temperature).softmax(dim=1).cumsum(dim=1)  # [N,C]
    wanted = uniform[:, None] * cumulative[:, -1:]  # [N,1]
    drawn = torch.searchsorted(cumulative, wanted, right=True)  # [N,1]
    return TopTokens(
        log_probs=choices.log_probs.gather(1, drawn),
        tokens=choices.tokens.gather(1, drawn),
        eos_log_probs=choices.eos_log_probs,
    )


def _choices(logits: Tensor, top_k: int) -> TopTokens:
    """The tokens to draw from, by rising id."""
    if 0 < top_k < logits.shape[1]:
        top = top_tokens(logits, top_k)
        tokens, order = top.tokens.sort(dim=1)
        return TopTokens(top.log_probs.gather(1, order), tokens, top.eos_log_probs)
    logits = logits.to(accumulation_dtype(logits.dtype))  # [N,V]
    log_probs = logits - logits.logsumexp(1, keepdim=True)
    tokens = torch.arange(logits.shape[1], device=logits.device).expand(log_probs.shape)
    return TopTokens(log_probs, tokens, log_probs[:, EOS])
