"""The data of an update follow from how far training has come."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import ready, tiny_config
from in_process import CPU

from nmt.config.schema import Config
from nmt.errors import DataError
from nmt.run.folder import RunDir
from nmt.train.data.batching import Position
from nmt.train.data.loader import BatchLoader, Group, ahead
from nmt.train.loop import Trainer


def test_the_data_go_on_where_they_stood_across_the_end_of_an_epoch(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=30", "train.batch_tokens=600")
    loader = Trainer(config, ready(config), CPU).loader
    straight = take(loader, Position(), 30)
    resumed = take(loader, straight[8].end, 21)
    assert sources(resumed) == sources(straight)[9:]


def take(loader: BatchLoader, position: Position, count: int) -> list[Group]:
    groups = loader.groups(position)
    return [next(groups) for _ in range(count)]


def sources(groups: list[Group]) -> list[list[list[int]]]:
    return [group.batches[0].src.tolist() for group in groups]


def test_packed_batches_hold_every_pair_of_an_epoch_once_and_go_on_where_they_stood(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.batch_tokens=300", "train.accumulate=2")
    trainer = Trainer(config, ready(config), CPU)
    loader = packed_loader(config, trainer)
    start = loader.starting_at(Position(), 1)
    assert start == Position(packed=True)
    straight = take(loader, start, 60)
    assert packed_sources(take(loader, straight[8].end, 20)) == packed_sources(straight)[9:29]
    ends = [group.end for group in straight]
    epoch = straight[: 1 + max(i for i, end in enumerate(ends) if end.epoch == 0)]
    expected = Counter(tuple(loader.corpus[index][0].tolist()) for index in loader.fitting)
    found = Counter(tuple(each) for sources in packed_sources(epoch) for each in sources)
    assert found <= expected
    assert (expected - found).total() < 300  # a group begins in one epoch and ends in the next
    for group in straight:
        assert group.tokens == sum(batch.tokens for batch in group.batches)
        assert len({batch.shape for batch in group.batches}) == 1


def packed_loader(config: Config, trainer: Trainer) -> BatchLoader:
    fingerprints = (trainer.src.fingerprint(), trainer.tgt.fingerprint())
    return BatchLoader(config, RunDir(Path(config.run_dir)), CPU, fingerprints, packs=True)


def packed_sources(groups: list[Group]) -> list[list[list[int]]]:
    """The source sentences of each group."""
    found = []
    for group in groups:
        rows = [batch.sources for batch in group.batches]
        parts = [np.split(each.ids, np.cumsum(each.lengths)[:-1]) for each in rows]
        found.append([part.tolist() for of_batch in parts for part in of_batch])
    return found


def test_where_batches_are_of_another_kind_the_next_epoch_begins(
    corpus: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    trainer = Trainer(config, ready(config), CPU)
    packs = packed_loader(config, trainer)
    assert packs.starting_at(Position(3, 5), 9) == Position(4, 0, packed=True)
    assert packs.starting_at(Position(3, 5, packed=True), 9) == Position(3, 5, packed=True)
    assert trainer.loader.starting_at(Position(3, 5, packed=True), 9) == Position(4, 0)
    assert trainer.loader.starting_at(Position(3, 0, packed=True), 9) == Position(3, 0)


def test_pairs_longer_than_the_model_are_left_out_and_counted(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "model.max_length=8")
    loader = Trainer(config, ready(config), CPU).loader
    assert (loader.lengths < 8).all()
    left_out = len(loader.corpus) - len(loader.fitting)
    assert f"{left_out:,} pairs are empty or longer" in capsys.readouterr().err
    shorter = config.model.model_copy(update={"max_length": 1})
    refused: Config = config.model_copy(update={"model": shorter})
    with pytest.raises(DataError, match="no pair is shorter"):
        Trainer(refused, RunDir(tmp_path / "run"), CPU)


def test_items_drawn_ahead_are_the_same_and_few() -> None:
    drawn: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(6):
            drawn.append(number)
            yield number

    read = ahead(numbers())
    assert next(read) == 0
    assert len(drawn) <= 4
    assert list(read) == [1, 2, 3, 4, 5]


def test_an_error_in_the_thread_that_draws_ahead_reaches_who_asks() -> None:
    def numbers() -> Iterator[int]:
        yield 1
        raise DataError("the store is damaged")

    read = ahead(numbers())
    assert next(read) == 1
    with pytest.raises(DataError, match="the store is damaged"):
        next(read)


def test_whoever_stops_asking_stops_the_thread() -> None:
    read = ahead(iter(range(1000)))
    next(read)
    before = threading.active_count()
    read.close()
    assert threading.active_count() < before
