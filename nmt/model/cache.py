"""What decoding needs of a source, and what it remembers of the target so far.

Shapes: B sentences, K beams of each, S source positions, t target positions decoded before, T new ones, C positions
that there is room for, H heads, D = d_model / H.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model.kernels.attention import bias_of

_ROOM = 8  # positions that a cache grows by


@dataclass
class LayerCache:
    """Keys and values of one decoder layer."""

    memory_keys: Tensor  # [B,H,S,D]
    memory_values: Tensor
    keys: (
        Tensor  # [B,H,C·K,D], position t of beam k at t·K + k; C = 0: nothing is kept between calls
    )
    values: Tensor

    def extend(self, keys: Tensor, values: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Put T new positions [B,H,T·K,D] behind the `length` there are; give the whole, with its room [B,H,C·K,D]."""
        if self.keys.shape[2] == 0:
            return keys, values
        end = length + keys.shape[2]
        self.keys[:, :, length:end] = keys
        self.values[:, :, length:end] = values
        return self.keys, self.values

    def keep(self, sentences: Tensor) -> None:
        """Keep some sentences."""
        self.memory_keys, self.memory_values = (
            self.memory_keys[sentences],
            self.memory_values[sentences],
        )
        self.keys, self.values = self.keys[sentences], self.values[sentences]


@dataclass
class Cache:
    """What decoding needs of a source, and of the target so far.

    The beams of a sentence share what they look at: a bias tells each one its own past, so that when beams change
    places only that moves, and not their keys and values.
    """

    layers: list[LayerCache]
    memory_bias: Tensor  # [B,1,1,S]: 0 where the source has a token, else -inf
    length: int = 0  # t
    beams: int = 1  # K
    past: Tensor | None = None  # [B,K,C·K]: 0 at each beam's own past, else -inf

    def reserve(self, beams: int) -> None:
        """Get ready to decode step by step, each sentence in `beams` rows."""
        self.beams = beams
        self.past = self.memory_bias.new_empty(len(self.memory_bias), beams, 0)
        for layer in self.layers:
            layer.memory_keys, layer.memory_values = (
                layer.memory_keys.contiguous(),
                layer.memory_values.contiguous(),
            )

    def look(self, steps: int, dtype: torch.dtype) -> Tensor:
        """Take in T new positions; give what their queries [T·K] may look at, [T,T] or [B,1,T·K,C·K]."""
        device = self.memory_bias.device
        if self.past is None:
            return bias_of(torch.ones(steps, steps, dtype=torch.bool, device=device).tril(), dtype)
        start, end = self.length, self.length + steps
        self.past = self._with_room(self.past, end * self.beams)
        own = bias_of(torch.eye(self.beams, dtype=torch.bool, device=device), dtype)
        self.past[:, :, start * self.beams : end * self.beams] = own.repeat(1, steps)
        if steps == 1:
            return self.past[:, None]
        times = torch.arange(self.past.shape[2], device=device) // self.beams
        present = bias_of(
            times <= torch.arange(start, end, device=device)[:, None], dtype
        )  # [T,C·K]
        return (self.past[:, None] + present[None, :, None]).flatten(1, 2)[:, None]

    def _with_room(self, past: Tensor, slots: int) -> Tensor:
        """Have room for some at a time: it keeps copies and, what costs much on a CPU, new shapes few."""
        block = _ROOM * self.beams
        more = -(-slots // block) * block - past.shape[2]
        if more <= 0:
            return past
        for layer in (
            self.layers
        ):  # zeros for now: what is not yet there must be finite, though nobody may look at it
            layer.keys, layer.values = (
                F.pad(x, (0, 0, 0, more)) for x in (layer.keys, layer.values)
            )
        return F.pad(past, (0, more), value=-torch.inf)

    def select(self, rows: Tensor) -> None:
        """Keep these rows [N'], in this order: K for each sentence that stays; sentences keep their order."""
        assert self.past is not None  # noqa: S101 - reserve comes before select
        sentences, origin = (
            rows[:: self.beams] // self.beams,
            (rows % self.beams).view(-1, self.beams, 1),
        )
        if len(sentences) < len(self.past):
            self.memory_bias, self.past = self.memory_bias[sentences], self.past[sentences]
            for layer in self.layers:
                layer.keep(sentences)
        if self.beams > 1:
            self.past = self.past.gather(1, origin.expand(self.past.shape))
