"""The simpler simple recurrent unit, SSRU (Kim et al., 2019), in place of a decoder's self-attention.

It remembers a vector for each hypothesis instead of the keys and values of all that it has written, so that a step
takes the same time however long the translation is. https://aclanthology.org/D19-5632

Shapes: B sentences, K beams of each, T new target positions, d = d_model, R rows of packed sentences.
"""

import torch
from torch import Tensor, nn

from nmt.config.schema import ModelConfig
from nmt.machine.device import accumulation_dtype
from nmt.model.cache import LayerCache
from nmt.model.kernels.layout import Layout
from nmt.model.kernels.packed_attention import Sequences
from nmt.model.linear import Linear


class SSRU(nn.Module):
    """x = W·in, f = σ(W_f·in + b), c ← f·c + (1 − f)·x, out = relu(c)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.values = Linear(config.d_model, config.d_model, bias=False)
        self.forget = Linear(config.d_model, config.d_model, bias=True)

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        bias: Tensor | None,
        cache: LayerCache | None = None,
        first_slot: int = 0,
    ) -> Tensor:
        """x [B,T·K,d] in `layout` → the same. With a bias, it follows what the cache remembers."""
        del first_slot
        beams = 1 if cache is None else cache.beams
        kept, new = self._kept_and_new(layout.unpack(x), x.dtype)
        kept, new = (each.unflatten(1, (-1, beams)) for each in (kept, new))  # [B,T,K,d]
        followed = None if bias is None else cache
        if followed is not None and followed.state is not None:
            first = new[:, :1] + kept[:, :1] * followed.state[:, None]
            new = torch.cat([first, new[:, 1:]], dim=1)
        states = scan(kept, new)
        if followed is not None:
            followed.state = states[:, -1]
        return layout.pack(states.flatten(1, 2).relu().to(x.dtype))

    def packed(self, x: Tensor, sequences: Sequences, is_causal: bool) -> Tensor:
        """x [R,d] → [R,d]; each sequence begins with nothing."""
        del is_causal
        kept, new = self._kept_and_new(x, x.dtype)
        is_first = torch.zeros(len(x) + 1, 1, dtype=torch.bool, device=x.device)
        is_first[sequences.starts.long()] = True  # the last of them is behind the rows
        kept = kept.masked_fill(is_first[:-1], 0.0)
        return scan(kept[None], new[None], sequences.longest)[0].relu().to(x.dtype)

    def _kept_and_new(self, x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """How much of the state stays, and what is added to it; in a wider dtype, for sums of many steps."""
        wide = accumulation_dtype(dtype)
        kept = self.forget(x).to(wide).sigmoid()
        return kept, (1.0 - kept) * self.values(x).to(wide)


def scan(kept: Tensor, new: Tensor, longest: int | None = None) -> Tensor:
    """The states c_t = kept_t · c_{t−1} + new_t along the second dimension, from c = 0; all have the shape [B,T,…].

    In log T steps, each over all positions at once (Hillis and Steele, 1986). None looks further back than `longest`.
    """
    steps = kept.shape[1] if longest is None else min(longest, kept.shape[1])
    distance = 1
    while distance < steps:
        before_kept, before_new = kept[:, :-distance], new[:, :-distance]
        later = new[:, distance:] + kept[:, distance:] * before_new
        new = torch.cat([new[:, :distance], later], dim=1)
        kept = torch.cat([kept[:, :distance], kept[:, distance:] * before_kept], dim=1)
        distance *= 2
    return new
