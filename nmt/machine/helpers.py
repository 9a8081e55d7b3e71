"""Processes that work for this one, forked from it: they have its model at once, and share its memory.

Threads would share Python's lock instead (docs/lab/performance.md). A forked process has none of torch's threads, so it
computes on one; torch's DataLoader does the same.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar, cast
from weakref import finalize

Task = TypeVar("Task")
Result = TypeVar("Result")

CAN_FORK = sys.platform == "linux"  # on macOS, the system's libraries do not survive it
_is_helper = False
_AHEAD = 2  # tasks per helper whose results may wait for an earlier one


class Helpers(Generic[Task, Result]):
    """Some processes, each of which does a task at a time."""

    def __init__(self, work: Callable[[Task], Result], count: int) -> None:
        """Start `count` processes. They have what `work` needs as it is now: it must not change any more."""
        self._work = work
        self._idle = [_forked(work) for _ in range(count)]
        self._most = _AHEAD * count
        finalize(self, _close, list(self._idle))

    def map(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """The result of each task, in order; tasks are taken as they are needed.

        What a helper cannot do, or loses by its death, is done here: errors are those of this process. What `tasks`
        raises is raised after the results before it.
        """
        source = _Numbered(tasks)
        busy: dict[Connection, tuple[int, Task]] = {}
        results: dict[int, Result] = {}
        given = 0
        try:
            while not source.has_ended or busy:
                while self._idle and source.taken - given < self._most and source.take():
                    self._hand_out(source.taken - 1, source.task, busy, results)
                if busy:
                    self._collect(busy, results)
                elif source.take():  # all helpers have died
                    results[source.taken - 1] = self._work(source.task)
                while given in results:
                    yield results.pop(given)
                    given += 1
        finally:
            _close(list(busy))  # nobody waits any more for what they do
        source.raise_error()

    def _hand_out(
        self,
        number: int,
        task: Task,
        busy: dict[Connection, tuple[int, Task]],
        results: dict[int, Result],
    ) -> None:
        helper = self._idle.pop()
        try:
            helper.send(task)
        except OSError:  # it has died
            results[number] = self._work(task)
        else:
            busy[helper] = number, task

    def _collect(
        self, busy: dict[Connection, tuple[int, Task]], results: dict[int, Result]
    ) -> None:
        """Wait for helpers, and take what they have done."""
        for ready in wait(list(busy)):
            helper = cast(Connection, ready)
            number, task = busy.pop(helper)
            try:
                is_done, result = helper.recv()
                self._idle.append(helper)
            except (EOFError, OSError):  # it has died
                is_done = False
            results[number] = result if is_done else self._work(task)


def is_helper() -> bool:
    """Whether this process is one."""
    return _is_helper


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], helpers: int
) -> Iterator[Result]:
    """The result of each task, in order: by so many helpers if there are several tasks, else by this process.

    What `tasks` raises is raised after the results before it.
    """
    if not helpers or is_helper():
        yield from map(work, tasks)
        return
    rest = iter(tasks)
    source = _Numbered(rest)
    first = [source.task for _ in range(2) if source.take()]
    if len(first) == 2:
        yield from Helpers(work, helpers).map(chain(first, rest))
    else:
        yield from map(work, first)
        source.raise_error()


class _Numbered(Generic[Task]):
    """Tasks that are taken one after the other; an error ends them, and is kept."""

    task: Task

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.taken = 0
        self._tasks = iter(tasks)
        self._error: Exception | None = None
        self.has_ended = False

    def take(self) -> bool:
        """Take the next task; False if there is none."""
        if self.has_ended:
            return False
        try:
            self.task = next(self._tasks)
        except StopIteration:
            self.has_ended = True
        except Exception as error:
            self.has_ended = True
            self._error = error
        else:
            self.taken += 1
        return not self.has_ended

    def raise_error(self) -> None:
        if self._error is not None:
            raise self._error


def _forked(work: Callable[[Any], Any]) -> Connection:
    """Start a helper; gives the connection to it."""
    # Loads a good deal that one process does not need.
    from nmt.machine.workers import deaf_children

    context = get_context("fork")
    ours, its = context.Pipe()
    process = context.Process(target=_serve, args=(work, its, ours), daemon=True)
    with deaf_children(), warnings.catch_warnings():
        # Python 3.12 and later warn of it wherever there are threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    its.close()
    return ours


def _serve(work: Callable[[Any], Any], connection: Connection, of_parent: Connection) -> None:
    """Do the tasks that come, until the other end is closed."""
    from nmt.machine.workers import end_with_parent

    global _is_helper
    _is_helper = True
    of_parent.close()
    end_with_parent()
    _compute_on_one_thread()
    try:
        while True:
            task = connection.recv()
            try:
                answer = (True, work(task))
            except Exception:
                answer = (False, None)
            connection.send(answer)
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)  # what the parent does at its end is not for this process


def _compute_on_one_thread() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"  # for torch, if it is loaded later
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _close(helpers: list[Connection]) -> None:
    for helper in helpers:
        helper.close()
