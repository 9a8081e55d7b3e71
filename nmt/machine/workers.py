"""Work on chunks of lines with all cores: the results come in order, whatever the number of processes."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, Protocol, TypeVar

from nmt.errors import UserError
from nmt.machine.cpu import cores

Item = TypeVar("Item")
Result = TypeVar("Result")


class MapChunks(Protocol):
    """What applies a function to chunks of items, in order: `map_chunks`, or the same on a cluster."""

    def __call__(
        self,
        work: Callable[[list[Any]], Any],
        items: Iterable[Any],
        workers: int,
        size: Callable[[Any], int],
    ) -> Iterator[Any]:
        """Give the results of the chunks."""


CHUNK = 5_000  # items that one process works on at a time
FREE_MEMORY = "free some, then give the command again"  # where no setting helps
# With fewer items, starting processes takes longer than the work.
_CHUNKS_WORTH_IT = 10
_WORTH_IT = _CHUNKS_WORTH_IT * CHUNK
_USUAL_LENGTH = 1000  # characters of an item; a chunk of longer ones has fewer of them


def map_chunks(
    work: Callable[[list[Item]], Result],
    items: Iterable[Item],
    workers: int,
    size: Callable[[Item], int] = lambda _: 1,
    chunk: int | None = None,
    fix: str = "set prepare.workers to fewer processes",
) -> Iterator[Result]:
    """Apply `work` to each chunk of `items`, in order.

    `workers` is the number of processes (0: one for each of our cores), `size` the length of an item in characters,
    `chunk` the items of a chunk where an item takes longer than a pair of lines, `fix` what to do when memory runs out.
    `work` is pickled to reach the processes, so it must be a module's function or a `partial` of one.
    Raises UserError if a process is killed.
    """
    source = iter(items)
    worth_it = _WORTH_IT if chunk is None else _CHUNKS_WORTH_IT * chunk
    first = _take(source, worth_it, size)
    chunks = chunks_of(chain(first, source), size, chunk or CHUNK)
    processes = workers or cores()
    if processes == 1 or _is_little(first, worth_it, size):
        yield from map(work, chunks)
        return
    try:
        yield from _in_processes(work, chunks, processes)
    except BrokenProcessPool:
        raise UserError(
            f"a worker process was killed, most likely because memory ran out; {fix}"
        ) from None


def chunks_of(
    items: Iterator[Item], size: Callable[[Item], int], most: int = CHUNK
) -> Iterator[list[Item]]:
    """Cut items into lists of `most`, or of fewer long ones."""
    while chunk := _take(items, most, size):
        yield chunk


def _is_little(first: list[Item], worth_it: int, size: Callable[[Item], int]) -> bool:
    """Whether no more items came than these, and not because they were long."""
    return len(first) < worth_it and sum(map(size, first)) < worth_it * _USUAL_LENGTH


def _take(source: Iterator[Item], count: int, size: Callable[[Item], int]) -> list[Item]:
    """Take `count` items, or fewer long ones, so that memory is bounded."""
    taken: list[Item] = []
    characters_left = count * _USUAL_LENGTH
    for item in islice(source, count):
        taken.append(item)
        characters_left -= size(item)
        if characters_left <= 0:
            break
    return taken


def _in_processes(
    work: Callable[[list[Item]], Result], chunks: Iterator[list[Item]], count: int
) -> Iterator[Result]:
    # "spawn": a fork of a process that has used torch's threads can hang.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent) as pool:
        pending: deque[Future[Result]] = deque()
        try:
            for chunk in chunks:
                with deaf_children():
                    pending.append(pool.submit(work, chunk))
                if len(pending) > 2 * count:  # memory holds a few chunks, not the corpus
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BaseException:  # nobody wants the rest: the pool would finish it first
            for worker in set(multiprocessing.active_children()) - before:
                worker.terminate()
            raise


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started here never hear Ctrl-C, which reaches all of a terminal: their parent ends them."""
    unheard = {signal.SIGINT, signal.SIGHUP}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, unheard)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_with_parent() -> None:
    """End this worker when its parent is killed; otherwise it would wait for ever to hand over its result."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - a worker has one

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()
