"""Processes that work for this one: the results are those of one process, whoever dies."""

import os
import signal
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from nmt.machine.helpers import Helpers, in_order, is_helper

HERE = os.getpid()


def squared(number: int) -> int:
    if number == 13:
        raise ValueError("thirteen")
    return number * number


def dying(number: int) -> int:
    """Kills its helper at every third number."""
    if number % 3 == 0 and os.getpid() != HERE:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def ended(numbers: list[int]) -> Iterator[int]:
    yield from numbers
    raise KeyError("the end")


@pytest.mark.parametrize("count", [1, 3])
def test_results_come_in_order(count: int) -> None:
    helpers = Helpers(squared, count)
    for _ in range(2):
        assert list(helpers.map(range(12))) == [number * number for number in range(12)]


def test_an_error_is_that_of_this_process_and_the_next_work_is_done_all_the_same() -> None:
    helpers = Helpers(squared, 2)
    with pytest.raises(ValueError, match="thirteen"):
        list(helpers.map(range(10, 30)))
    assert list(helpers.map(range(5))) == [0, 1, 4, 9, 16]


def test_what_a_helper_loses_by_its_death_is_done_here() -> None:
    helpers = Helpers(dying, 3)
    for _ in range(2):
        assert list(helpers.map(range(20))) == [number * number for number in range(20)]


@pytest.mark.parametrize("helpers", [0, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_an_error_of_the_tasks_comes_after_the_results_before_it(helpers: int, count: int) -> None:
    results = in_order(squared, ended(list(range(count))), helpers)
    assert list(islice(results, count)) == [number * number for number in range(count)]
    with pytest.raises(KeyError, match="the end"):
        next(results)


def test_a_single_task_is_done_here_at_once_and_several_are_not() -> None:
    def who(_task: int) -> tuple[int, bool]:
        return os.getpid(), is_helper()

    assert list(in_order(who, [1], 2)) == [(HERE, False)]
    several = list(in_order(who, range(4), 2))
    assert all(process != HERE and helps for process, helps in several)


def test_tasks_are_taken_as_they_are_needed() -> None:
    taken = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            taken.append(number)
            yield number
            number += 1

    results = Helpers(abs, 2).map(endless())
    for number in range(30):
        assert next(results) == number
    assert len(taken) < 40


def test_helpers_end_with_what_they_help() -> None:
    helpers = Helpers(lambda _: os.getpid(), 2)
    processes = set(helpers.map(range(20)))
    del helpers
    deadline = time.monotonic() + 20
    while any(is_running(process) for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a process is there, and no mere entry that is still to be read."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
