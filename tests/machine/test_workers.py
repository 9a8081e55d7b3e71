import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.errors import DataError, UserError
from nmt.machine import workers
from nmt.machine.workers import map_chunks


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes start for 20 items, and take 7 at a time."""
    monkeypatch.setattr(workers, "CHUNK", 7)
    monkeypatch.setattr(workers, "_WORTH_IT", 20)


def square(numbers: list[int]) -> list[int]:
    return [number * number for number in numbers]


def pid(_items: list[int]) -> int:
    return os.getpid()


def refuse_forty(numbers: list[int]) -> list[int]:
    if 40 in numbers:
        raise DataError("item 40 is not wanted")
    return numbers


def flat(chunks: Iterator[list[int]]) -> list[int]:
    return [item for chunk in chunks for item in chunk]


@given(st.lists(st.integers(), max_size=60), st.integers(1, 9))
def test_one_process_maps_chunk_by_chunk(items: list[int], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "CHUNK", size)
        chunks = list(map_chunks(square, iter(items), workers=1))
    assert [item for chunk in chunks for item in chunk] == square(items)
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(chunks)


@pytest.mark.usefixtures("small")
def test_two_processes_give_what_one_gives_in_the_same_order() -> None:
    assert list(map_chunks(square, range(500), workers=2)) == list(
        map_chunks(square, range(500), workers=1)
    )


@pytest.mark.usefixtures("small")
def test_work_that_is_worth_it_is_done_elsewhere_and_little_work_here() -> None:
    assert set(map_chunks(pid, range(19), workers=2)) == {os.getpid()}
    assert os.getpid() not in set(map_chunks(pid, range(20), workers=2))


def length(_item: int) -> int:
    """Some more characters than usual, so that fewer items are looked at before the work begins."""
    return 1_100


@pytest.mark.usefixtures("small")
def test_few_long_items_are_done_elsewhere_too_unless_there_are_no_more() -> None:
    assert os.getpid() not in set(map_chunks(pid, range(500), workers=2, size=length))
    assert set(map_chunks(pid, range(18), workers=2, size=length)) == {os.getpid()}


@pytest.mark.usefixtures("small")
def test_an_error_in_a_process_comes_to_the_caller_after_the_results_before_it() -> None:
    done: list[int] = []
    with pytest.raises(DataError, match="item 40 is not wanted"):  # noqa: PT012 - what came before is asked for too
        for chunk in map_chunks(refuse_forty, range(500), workers=2):
            done += chunk
    assert done == list(range(35))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("workers", [1, 2])
def test_items_are_taken_only_a_little_ahead_of_the_results(workers: int) -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        while True:
            yield taken
            taken += 1

    results = map_chunks(square, endless(), workers)
    for number in range(1, 30):
        next(results)
        assert taken <= 7 * (number + 2 * workers + 2)
    results.close()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("small")
def test_the_caller_says_what_to_do_when_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> Iterator[object]:
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(workers, "_in_processes", killed)
    with pytest.raises(
        UserError, match=r"memory ran out; set prepare\.workers to fewer processes$"
    ):
        list(map_chunks(square, range(50), workers=2))
    fix = workers.FREE_MEMORY
    with pytest.raises(UserError, match=f"memory ran out; {fix}$"):
        list(map_chunks(square, range(50), workers=2, fix=fix))


ENDLESS = """
import os
import subprocess
import sys
import time
import time

from nmt.machine import workers


def work(items):
    return os.getpid(), b"x" * 2**22  # more than a pipe holds


if __name__ == "__main__":
    workers.CHUNK = 1
    workers._WORTH_IT = 2
    for pid, _ in workers.map_chunks(work, iter(int, 1), 2):
        print(pid, flush=True)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = {int(parent.stdout.readline()) for _ in range(20)}
        parent.kill()
    deadline = time.monotonic() + 30
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, pids
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return state != "" and not state.startswith("Z")


SLOW = """
import sys
import time

from nmt.machine.signals import telling_how_to_go_on
from nmt.machine.workers import map_chunks
from nmt.errors import Interrupted


def work(items):
    time.sleep(0.1 if items == [0] else 60)
    return items


if __name__ == "__main__":
    try:
        with telling_how_to_go_on(lambda: "start again"):
            for _ in map_chunks(work, iter(range(40)), workers=2, chunk=1):
                print("begun", flush=True)
    except Interrupted as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
"""


def is_there(group: int) -> bool:
    """Whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_workers_at_once_and_without_a_word_of_theirs(
    number: signal.Signals, tmp_path: Path
) -> None:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, told = process.communicate(timeout=30)  # a chunk takes 60 seconds
    assert process.returncode == 128 + number
    assert told == f"{number.name}: start again\n"
    deadline = time.monotonic() + 10  # multiprocessing's own helper ends a moment later
    while is_there(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_there(process.pid)
