"""The data of an update follow from how far training has come."""

import threading
from collections.abc import Iterator
from pathlib import Path

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
