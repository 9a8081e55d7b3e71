"""What decoding needs of a source, and what it remembers of the target so far.

The beams of a sentence share one row of keys and values, divided into slots: target position p of
beam k is in slot p·K + k. A bias says for each beam which slots are its own past. So when beams
change places only the bias moves, and not the keys and values.

Shapes: B sentences, K beams of each, S source positions, T new target positions, C positions that
there are slots for, H heads, D = d_model / H.
"""

from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor
from torch.nn import functional as F

from nmt.model.kernels.attention import bias_of

# Slots are added for this many target positions at a time: to add some is to copy all, and on a CPU
# the first product of a new shape takes long.
_GROWTH = 8


@dataclass
class LayerCache:
    """Keys and values of one decoder layer, and the state of a recurrence."""

    source_keys: Tensor  # [B,H,S,D]
    source_values: Tensor  # [B,H,S,D]
    keys: Tensor  # [B,H,C·K,D]; without slots (C = 0) nothing is remembered between calls
    values: Tensor  # [B,H,C·K,D]
    beams: int = 1  # K
    state: Tensor | None = None  # [B,K,d], of a recurrence; None: nothing yet

    def extend(self, keys: Tensor, values: Tensor, first_slot: int) -> tuple[Tensor, Tensor]:
        """Put T new positions [B,H,T·K,D] into the slots from `first_slot` on.

        Gives all slots [B,H,C·K,D], or where there are none the new positions alone.
        """
        if self.keys.shape[2] == 0:
            return keys, values
        end = first_slot + keys.shape[2]
        self.keys[:, :, first_slot:end] = keys
        self.values[:, :, first_slot:end] = values
        return self.keys, self.values

    def add_slots(self, count: int) -> None:
        """Add empty slots. They hold zeros: a product with 0 weight must not meet NaN."""
        self.keys = F.pad(self.keys, (0, 0, 0, count))
        self.values = F.pad(self.values, (0, 0, 0, count))

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences [B']."""
        self.source_keys = self.source_keys[sentences]
        self.source_values = self.source_values[sentences]
        self.keys = self.keys[sentences]
        self.values = self.values[sentences]
        if self.state is not None:
            self.state = self.state[sentences]

    def reorder(self, origins: Tensor) -> None:
        """Continue with these beams [B,K,1] of each sentence. Of keys and values, a bias says whose they are."""
        if self.state is not None:
            self.state = self.state.gather(1, origins.expand(self.state.shape))


@dataclass
class Cache:
    """What decoding needs of a source, and of the target so far."""

    layers: list[LayerCache]
    source_bias: Tensor | None  # [B,1,1,S]: 0 where the source has a token, else -inf
    length: int = 0  # target positions decoded so far
    beams: int = 1  # K
    past_bias: Tensor | None = None  # [B,K,C·K]: 0 at each beam's own past, else -inf

    @property
    def dtype(self) -> torch.dtype:
        """What the decoder computes in: the dtype of the source keys."""
        return self.layers[0].source_keys.dtype

    @property
    def device(self) -> torch.device:
        """Where the source keys are."""
        return self.layers[0].source_keys.device

    @property
    def filled_slots(self) -> int:
        """How many slots the target so far takes."""
        return self.length * self.beams

    def reserve(self, beams: int) -> None:
        """Get ready to decode step by step, each sentence in `beams` rows."""
        self.beams = beams
        sentences = len(self.layers[0].source_keys)
        nobody_past = torch.empty(sentences, beams, 0, dtype=torch.bool, device=self.device)
        self.past_bias = bias_of(nobody_past, self.dtype)
        for layer in self.layers:
            layer.source_keys = layer.source_keys.contiguous()
            layer.source_values = layer.source_values.contiguous()
            layer.beams = beams

    def extend_past(self, steps: int) -> Tensor | None:
        """Take in T = `steps` new positions; give the bias of their queries [B,1,T·K,C·K].

        Without slots it is None: each new position looks at those up to itself.
        """
        if self.past_bias is None:
            return None
        start = self.filled_slots
        end = start + steps * self.beams
        past_bias = self._with_slots(self.past_bias, end)
        own = bias_of(
            torch.eye(self.beams, dtype=torch.bool, device=self.device), self.dtype
        )  # [K,K]
        past_bias[:, :, start:end] = own.repeat(1, steps)
        self.past_bias = past_bias
        if steps == 1:
            return past_bias[:, None]
        return self._hide_future(past_bias, steps)

    def _with_slots(self, past_bias: Tensor, wanted: int) -> Tensor:
        """Add slots to all layers until there are `wanted`; give `past_bias` with them."""
        growth = _GROWTH * self.beams
        missing = ceil(wanted / growth) * growth - past_bias.shape[2]
        if missing <= 0:
            return past_bias
        for layer in self.layers:
            layer.add_slots(missing)
        return F.pad(past_bias, (0, missing), value=-torch.inf)

    def _hide_future(self, past_bias: Tensor, steps: int) -> Tensor:
        """[B,K,C·K] → [B,1,T·K,C·K]: none of T new positions looks at the new ones after it."""
        device = past_bias.device
        slot_positions = torch.arange(past_bias.shape[2], device=device) // self.beams  # [C·K]
        new_positions = torch.arange(self.length, self.length + steps, device=device)  # [T]
        visible = slot_positions <= new_positions[:, None]  # [T,C·K]
        bias = past_bias[:, None] + bias_of(visible, self.dtype)[None, :, None]  # [B,T,K,C·K]
        return bias.flatten(1, 2)[:, None]

    def select(self, rows: Tensor) -> None:
        """Keep these rows [N'], in this order: K of each sentence that stays, no sentence moved."""
        assert self.past_bias is not None  # noqa: S101 - reserve comes before select
        sentences = rows[:: self.beams] // self.beams  # [B']
        if len(sentences) < len(self.past_bias):
            if self.source_bias is not None:
                self.source_bias = self.source_bias[sentences]
            self.past_bias = self.past_bias[sentences]
            for layer in self.layers:
                layer.select(sentences)
        if self.beams > 1:
            origins = (rows % self.beams).view(-1, self.beams, 1)  # [B',K,1]: the beams that go on
            self.past_bias = self.past_bias.gather(1, origins.expand(self.past_bias.shape))
            for layer in self.layers:
                layer.reorder(origins)
