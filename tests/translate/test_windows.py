"""Timing is made with events and semaphores: what should come at once is waited for, with a long limit."""

from collections.abc import Iterator
from itertools import count, islice, repeat
from threading import Event, Semaphore
from time import sleep

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.errors import DataError
from nmt.translate.windows import live_windows, windows

SOON = 20  # seconds after which a test fails that would wait for ever
LINES = st.lists(st.text(max_size=3), max_size=30)


@given(LINES, st.integers(1, 12))
def test_windows_are_full_but_for_the_last(lines: list[str], size: int) -> None:
    given_out = list(windows(lines, size))
    assert [line for window in given_out for line in window] == lines
    assert all(len(window) == size for window in given_out[:-1])
    assert all(1 <= len(window) <= size for window in given_out)


def test_windows_take_no_more_lines_than_they_give() -> None:
    source = iter(range(10))
    assert next(windows(map(str, source), 4)) == ["0", "1", "2", "3"]
    assert next(source) == 4


@given(st.lists(st.tuples(st.text(max_size=3), st.booleans()), max_size=25), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_live_lines_come_in_order_whatever_the_timing(
    typed: list[tuple[str, bool]], size: int
) -> None:
    seen = Semaphore(0)

    def typist() -> Iterator[str]:
        """Now and then waits until all lines so far have been given out."""
        unseen = 0
        for text, waits in typed:
            yield text
            unseen += 1
            while waits and unseen:
                assert seen.acquire(timeout=SOON)
                unseen -= 1

    given_out = []
    for window in live_windows(typist(), size):
        assert 1 <= len(window) <= size
        given_out += window
        seen.release(len(window))
    assert given_out == [text for text, _ in typed]


def test_a_line_that_comes_alone_is_given_at_once() -> None:
    answered = Event()

    def typist() -> Iterator[str]:
        yield "a"
        assert answered.wait(SOON)
        yield "b"

    live = live_windows(typist())
    assert next(live) == ["a"]
    answered.set()
    assert list(live) == [["b"]]


def test_lines_that_drip_in_do_not_keep_the_first_waiting() -> None:
    def drip() -> Iterator[str]:
        for number in range(400):
            yield str(number)
            sleep(0.005)

    assert len(next(live_windows(drip(), 1000))) < 200


def test_lines_that_wait_are_given_together() -> None:
    all_there, wanted = Event(), Event()

    def burst() -> Iterator[str]:
        yield "first"
        assert wanted.wait(SOON)
        yield from map(str, range(10))
        all_there.set()

    live = live_windows(burst(), size=5)
    assert next(live) == ["first"]
    wanted.set()
    assert all_there.wait(SOON)
    assert [next(live), next(live)] == [list("01234"), list("56789")]


@pytest.mark.parametrize(
    "error", [DataError("stdin:3: not UTF-8"), KeyboardInterrupt(), OSError(5, "gone")]
)
def test_an_error_comes_after_the_lines_before_it(error: BaseException) -> None:
    def typist() -> Iterator[str]:
        yield from "ab"
        raise error

    def take() -> None:
        for window in live_windows(typist(), size=1):
            given_out.extend(window)

    given_out: list[str] = []
    with pytest.raises(type(error)) as caught:
        take()
    assert given_out == ["a", "b"]
    assert caught.value is error


def test_no_lines_make_no_window() -> None:
    assert list(windows([])) == list(live_windows([])) == []


def test_a_source_without_end_is_read_only_a_little_ahead() -> None:
    size, taken, farthest = 7, 0, 0
    ran_ahead = Event()

    def endless() -> Iterator[str]:
        nonlocal farthest
        for number in count(1):
            farthest = max(farthest, number - taken)
            if number >= taken + 2 * size:
                ran_ahead.set()
            yield str(number)

    for window in islice(live_windows(endless(), size), 30):
        assert ran_ahead.wait(SOON)  # the reader goes on while we are busy
        taken += len(window)
        ran_ahead.clear()
    assert farthest <= 3 * size + 1


def test_a_long_line_takes_the_room_of_many() -> None:
    lines = ["short"] * 10 + ["x" * 10**6] * 3 + ["short"] * 3
    assert [len(window) for window in windows(lines, 2000)] == [11, 1, 1, 3]


def test_long_lines_are_read_only_a_little_ahead() -> None:
    taken = 0
    second = Event()

    def endless() -> Iterator[str]:
        nonlocal taken
        for line in repeat("x" * 10**6):
            taken += 1
            if taken == 3:
                second.set()
            yield line

    live = live_windows(endless(), 2000)
    for _ in range(5):
        assert len(next(live)) == 1
    assert second.wait(SOON)
    sleep(0.1)  # for what would come if it did not wait
    assert taken <= 5 + 4
