"""Work on chunks of lines with all cores: results in order, the same whatever the number of processes."""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from nmt.errors import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 5_000  # items that one process works on at a time
_WORTH_IT = 10 * CHUNK  # with fewer items, starting processes takes longer than the work
_ROOM = 1000  # characters of an item; longer ones make a chunk of fewer, so that memory has an end


def map_chunks(
    work: Callable[[list[Item]], Result],
    items: Iterable[Item],
    workers: int,
    size: Callable[[Item], int] = lambda _: 1,
) -> Iterator[Result]:
    """Apply `work` to each chunk of `items`, in order; `workers` processes (0: one a core); `size` in characters.

    `work` travels to the processes by pickling, so it is a module's function or a `partial` of one.
    """
    source = iter(items)
    first = _take(source, _WORTH_IT, size)
    whole = chain(first, source)
    chunks = iter(lambda: _take(whole, CHUNK, size), [])
    processes = workers or os.cpu_count() or 1
    if len(first) < _WORTH_IT or processes == 1:
        yield from map(work, chunks)
    else:
        try:
            yield from _in_processes(work, chunks, processes)
        except BrokenProcessPool:
            told = "a worker process was killed, most likely for want of memory"
            raise UserError(f"{told}; set prepare.workers to fewer processes") from None


def _take(source: Iterator[Item], most: int, size: Callable[[Item], int]) -> list[Item]:
    taken: list[Item] = []
    room = most * _ROOM
    for item in islice(source, most):
        taken.append(item)
        room -= size(item)
        if room <= 0:
            break
    return taken


def _in_processes(
    work: Callable[[list[Item]], Result], chunks: Iterator[list[Item]], count: int
) -> Iterator[Result]:
    # "spawn": a fork of a process that has used torch's threads can hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        pending: deque[Future[Result]] = deque()
        for chunk in chunks:
            pending.append(pool.submit(work, chunk))
            if len(pending) > 2 * count:  # so that memory holds a few chunks, not the corpus
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
