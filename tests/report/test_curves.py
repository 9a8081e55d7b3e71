"""The course of a training, from what it wrote while it went on."""

from pathlib import Path

import pytest
from conftest import tiny_config, train
from report_runs import made_run

from nmt.report.run.curves import read_course, resumptions


def test_curves_are_the_records_of_the_training(tmp_path: Path) -> None:
    course = read_course(made_run(tmp_path / "run"))
    assert course.curves["dev bleu"].updates == [100, 200, 300, 400]
    assert course.curves["dev bleu"].values == [10.0, 20.0, 30.0, 40.0]
    assert course.curves["train loss"].updates == [1, 50, 100, 150, 200, 250, 300, 350, 400]
    minutes = course.curves["dev loss"].minutes
    assert minutes == pytest.approx([99 / 60, 199 / 60, 299 / 60, 399 / 60])


@pytest.mark.parametrize("update", [120, 200])
def test_minutes_leave_out_the_time_between_interruption_and_resumption(
    tmp_path: Path, update: int
) -> None:
    straight = read_course(made_run(tmp_path / "straight"))
    stopped_run = made_run(tmp_path / "stopped", resumed=update)
    course = read_course(stopped_run)
    assert course.resumed == [update]
    assert course.curves["dev loss"].minutes == pytest.approx(straight.curves["dev loss"].minutes)


def test_a_resumption_of_a_real_training_is_found(corpus: Path, tmp_path: Path) -> None:
    train(tiny_config(corpus, tmp_path / "run", "train.updates=2"))
    run = train(tiny_config(corpus, tmp_path / "run", "train.updates=3"))
    assert resumptions(run) == [2]


def test_a_log_that_quotes_the_line_is_not_taken_for_a_resumption(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    run.log.write_text("2026-01-01 00:00:00 dev\n    resuming after update 5\n")
    assert resumptions(run) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json\n",
        '{"kind": "train", "update": "x", "time": 1, "loss": 2}\n[1]\n"a"\n',
        '{"kind": "train", "update": 5, "time": 1, "loss": NaN}\n',
        '{"kind": "train", "update": 5, "time": 1, "loss": null, "lr": [1]}\n',
    ],
)
def test_damaged_records_are_passed_over(tmp_path: Path, text: str) -> None:
    run = made_run(tmp_path / "run")
    run.metrics.write_text(text)
    assert read_course(run).curves == {}


def test_a_run_that_has_not_trained_has_no_curves(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    run.metrics.unlink()
    run.log.unlink()
    course = read_course(run)
    assert (course.curves, course.resumed) == ({}, [])
