"""What training says of its course."""

import json
from pathlib import Path

import pytest
from conftest import tiny_config
from in_process import CPU

from nmt.config.schema import Config, TrainConfig
from nmt.run.folder import RunDir
from nmt.train import reporting
from nmt.train.log import Log
from nmt.train.progress import Progress
from nmt.train.reporting import Reporter, counted, time_left
from nmt.train.update import UpdateResult

UPDATED = UpdateResult(loss=1.0, gradient_norm=1.0, tokens=10, applied=True)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return tiny_config(tmp_path / "corpus", tmp_path / "run", "train.log_every=100")


def reported(config: Config, updates: range, at_its_end: bool = False) -> tuple[str, str]:
    """The words on these updates, and the records."""
    run = RunDir(Path(config.run_dir))
    log = Log(run, 1000, start=updates.start - 1)
    reporter = Reporter(config, log, Progress(update=updates.start - 1), CPU.device)
    for update in updates:
        reporter.updated(UPDATED, Progress(update=update, seconds=1.0))
    if at_its_end:
        reporter.end(Progress(update=updates[-1], seconds=1.0))
    records = run.metrics.read_text() if run.metrics.exists() else ""
    return run.log.read_text(), records


def test_the_first_update_after_resuming_is_told_but_not_recorded(config: Config) -> None:
    words, records = reported(config, range(42, 50))
    assert words.count("update ") == 1
    assert "update 42/" in words
    assert records == ""


def test_a_long_silence_is_broken(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_LONGEST_SILENCE", 0.0)
    words, records = reported(config, range(99, 103))
    assert words.count("update ") == 4
    assert records.count("\n") == 1, "of update 100: records do not depend on the clock"


def test_the_last_updates_of_a_training_are_recorded_once(config: Config) -> None:
    words, records = reported(config, range(99, 103), at_its_end=True)
    assert [json.loads(line)["update"] for line in records.splitlines()] == [100, 102]
    assert "update 102/" in words
    _, records = reported(config, range(199, 201), at_its_end=True)
    assert [json.loads(line)["update"] for line in records.splitlines()] == [100, 102, 200]


def test_the_time_left_follows_the_present_pace_and_ends_with_the_time_allowed() -> None:
    """A machine that has become busy shows: the first 100 updates took a second each, these take a minute."""
    progress = Progress(update=100, seconds=100)
    assert time_left(TrainConfig(updates=200), progress, 60.0) == "1:40:00"
    assert time_left(TrainConfig(updates=200, max_minutes=10), progress, 60.0) == "0:08:20"


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 pairs"), (1, "1 pair"), (1896, "1,896 pairs")]
)
def test_numbers_agree_with_what_they_count(number: int, words: str) -> None:
    assert counted(number, "pair") == words
