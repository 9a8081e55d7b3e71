"""Which sentences of a batch are still searched. Shapes: B sentences still in the batch."""

import math
from typing import Protocol

import torch
from torch import Tensor

from nmt.machine.device import copied_to
from nmt.search.batches import BATCH_MULTIPLE
from nmt.search.hypotheses import NBest


class Selects(Protocol):
    """What has a row for each sentence of the batch."""

    def select(self, rows: Tensor, /) -> None:
        """Continue with these places of the batch."""


class ActiveSentences:
    """The sentences still in the batch: open ones, and some closed ones that wait to be dropped.

    Which are open is known on the host, so that the device need not be asked.
    """

    def __init__(self, limits: Tensor) -> None:
        self.limits = limits  # [B]
        self.sentences = torch.arange(len(limits), device=limits.device)  # [B]: places in the input
        self.found: list[NBest] = [[] for _ in range(len(limits))]  # of all sentences of the input
        self._inputs = list(range(len(limits)))  # the same as `sentences`
        self._is_open = [True] * len(limits)

    def __len__(self) -> int:
        return len(self._inputs)

    def close(self, done: Tensor) -> list[int]:
        """Close those of the open sentences that are `done` [B]; give their places in the batch.

        This waits for the device.
        """
        newly_closed = []
        for place, is_done in enumerate(done.tolist()):
            if is_done and self._is_open[place]:
                self._is_open[place] = False
                newly_closed.append(place)
        return newly_closed

    def put(self, places: list[int], n_bests: list[NBest]) -> None:
        """Keep what was found for the sentences at these places of the batch."""
        for place, n_best in zip(places, n_bests, strict=True):
            self.found[self._inputs[place]] = n_best

    def any_open(self) -> bool:
        """Whether any sentence is still searched."""
        return any(self._is_open)

    def drop_closed(self, *others: Selects) -> Tensor | None:
        """Drop closed sentences, from the `others` as well, where that is worth it.

        Gives the places in the batch that stay, None if all do.
        """
        kept = self.worth_keeping()
        if len(kept) == len(self):
            return None
        places = self.select(kept)
        for other in others:
            other.select(places)
        return places

    def worth_keeping(self) -> list[int]:
        """Places in the batch to continue with, in order: the open sentences, and some closed ones.

        To drop the others costs copies, so it is done when a quarter of the batch can leave, and leaves a
        multiple of `BATCH_MULTIPLE`.
        """
        count = sum(self._is_open)
        wanted = math.ceil(count / BATCH_MULTIPLE) * BATCH_MULTIPLE
        if count and wanted > 0.75 * len(self):
            return list(range(len(self)))
        open_first = sorted(range(len(self)), key=lambda place: not self._is_open[place])
        return sorted(open_first[:wanted])

    def select(self, kept: list[int]) -> Tensor:
        """Continue with these places of the batch; gives them as a tensor."""
        places = to_device(kept, self.limits.device)
        self.limits = self.limits[places]
        self.sentences = self.sentences[places]
        self._inputs = [self._inputs[place] for place in kept]
        self._is_open = [self._is_open[place] for place in kept]
        return places


def to_device(places: list[int], device: torch.device) -> Tensor:
    """Places of the batch as a tensor. The copy does not wait for what the device is doing."""
    return copied_to(torch.tensor(places), device)
