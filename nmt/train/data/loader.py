"""The batches that each update of this rank is computed from."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nmt.config.schema import Config
from nmt.corpus.encoding.store import Int32, ParallelCorpus
from nmt.errors import DataError
from nmt.model.batch import Batch
from nmt.model.packed_batch import PackedBatch, packed_shape
from nmt.run.folder import RunDir
from nmt.train.data.batching import (
    Indices,
    Position,
    batches_from,
    fitting,
    load_batch,
    load_packed_batch,
    plan_epoch,
    plan_packed_epoch,
)
from nmt.train.data.cooldown import cooldown_pairs
from nmt.train.distributed import World

Item = TypeVar("Item")

_READ_AHEAD = 2  # updates
_END: Any = object()


class Group(NamedTuple):
    """The data of one update.

    `batches` are this rank's, all of one kind, `tokens` counts the target tokens of all ranks, and `end` is where
    the next group begins.
    """

    batches: list[Any]  # Batch or PackedBatch
    tokens: int
    end: Position


class BatchLoader:
    """Reads the train split of a run, into padded or packed batches. Raises DataError if no pair fits the model."""

    def __init__(
        self,
        config: Config,
        run: RunDir,
        world: World,
        fingerprints: tuple[str, str],
        packs: bool = False,
    ) -> None:
        self.config = config
        self.world = world
        self.packs = packs
        self.corpus = ParallelCorpus(run.store("train"), fingerprints)
        self.widest = config.model.max_length
        self.fitting = fitting(self.corpus.lengths, self.widest)  # indices of the pairs to read
        self.lengths = self.corpus.lengths[self.fitting]
        if len(self.fitting) == 0:
            message = f"no pair is shorter than model.max_length={self.widest}"
            raise DataError(f"{run.store('train')}: {message}")
        self._shape = packed_shape(self.lengths, config.train.batch_tokens) if packs else None
        self._of_cooldown: Indices | None = None  # its places in `lengths`; None: it has all pairs
        has = cooldown_pairs(config, run, len(self.corpus))
        if has is not None:
            self._of_cooldown = np.flatnonzero(has[self.fitting])
            if len(self._of_cooldown) == 0:
                raise DataError(f"{run.store('train')}: no pair is left for the cooldown")

    def starting_at(self, position: Position, update: int) -> Position:
        """Where update number `update` begins: at `position`, or where that counts other batches, at the next epoch."""
        has_own_pairs = self._of_cooldown is not None
        cools = has_own_pairs and update > self.config.train.stable_updates
        if (position.packed, position.cooldown) == (self.packs, cools):
            return position
        return Position(position.epoch + min(position.batch, 1), 0, self.packs, cools)

    def groups(self, position: Position) -> Iterator[Group]:
        """The groups from `position` on, without end. On a GPU they are read ahead."""
        device = self.world.device
        groups = self._read(position)
        if device.type == "cuda":
            groups = ahead(map(_pinned, groups))
        for group in groups:
            yield group._replace(batches=[batch.to(device) for batch in group.batches])

    def _read(self, position: Position) -> Iterator[Group]:
        train = self.config.train
        stream = batches_from(partial(self._plan, position.cooldown), position)
        while True:
            planned = list(islice(stream, train.accumulate * self.world.size))
            tokens = 0
            for indices, _ in planned:
                tokens += int(self.lengths[indices, 1].sum()) + len(indices)  # an EOS each
            batches = []
            for indices, _ in planned[self.world.rank :: self.world.size]:
                batches.append(self._load(self.fitting[indices]))
            _, end = planned[-1]
            yield Group(batches, tokens, end)

    def _plan(self, cools: bool, epoch: int) -> list[Indices]:
        if not cools or self._of_cooldown is None:
            return self._plan_of(self.lengths, epoch)
        plan = self._plan_of(self.lengths[self._of_cooldown], epoch)
        return [self._of_cooldown[batch] for batch in plan]

    def _plan_of(self, lengths: Int32, epoch: int) -> list[Indices]:
        train = self.config.train
        if self._shape is None:
            return plan_epoch(lengths, train.batch_tokens, train.seed, epoch)
        return plan_packed_epoch(lengths, self._shape, train.seed, epoch)

    def _load(self, indices: Indices) -> Batch | PackedBatch:
        if self._shape is not None:
            return load_packed_batch(self.corpus, indices, self._shape)
        return load_batch(self.corpus, indices, self.widest)


def _pinned(group: Group) -> Group:
    return group._replace(batches=[batch.pinned() for batch in group.batches])


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, some of them drawn by a thread before they are asked for."""
    with ThreadPoolExecutor(1) as thread:
        drawn = deque(thread.submit(next, items, _END) for _ in range(_READ_AHEAD))
        while (item := drawn.popleft().result()) is not _END:
            drawn.append(thread.submit(next, items, _END))
            yield item
