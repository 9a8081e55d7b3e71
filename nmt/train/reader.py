"""The batches that each update of this rank is computed from."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from nmt.config.schema import Config
from nmt.corpus.batching import Batch, Position, batches_from, fitting, load_batch
from nmt.corpus.store import ParallelCorpus
from nmt.errors import DataError
from nmt.run_dir import RunDir
from nmt.train.distributed import World


class Group(NamedTuple):
    """The data of one update.

    `batches` are this rank's, `tokens` counts the target tokens of all ranks, and `end` is where
    the next group begins.
    """

    batches: list[Batch]
    tokens: int
    end: Position


class Reader:
    """Reads the train split of a run. Raises DataError if no pair fits the model."""

    def __init__(
        self, config: Config, run: RunDir, world: World, fingerprints: tuple[str, str]
    ) -> None:
        self.config = config
        self.world = world
        self.corpus = ParallelCorpus(run.store("train"), fingerprints)
        self.widest = config.model.max_length
        self.fitting = fitting(self.corpus.lengths, self.widest)  # indices of the pairs to read
        self.lengths = self.corpus.lengths[self.fitting]
        if len(self.fitting) == 0:
            message = f"no pair is shorter than model.max_length={self.widest}"
            raise DataError(f"{run.store('train')}: {message}")

    def groups(self, position: Position) -> Iterator[Group]:
        """The groups from `position` on, without end."""
        train = self.config.train
        stream = batches_from(self.lengths, train.batch_tokens, train.seed, position)
        while True:
            planned = list(islice(stream, train.accumulate * self.world.size))
            tokens = 0
            for indices, _ in planned:
                tokens += int(self.lengths[indices, 1].sum()) + len(indices)  # an EOS each
            batches = []
            for indices, _ in planned[self.world.rank :: self.world.size]:
                batch = load_batch(self.corpus, self.fitting[indices], self.widest)
                batches.append(batch.to(self.world.device))
            _, end = planned[-1]
            yield Group(batches, tokens, end)
