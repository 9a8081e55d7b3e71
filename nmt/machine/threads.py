"""Threads of Python that compute with torch, each with its share of the cores."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Barrier, BrokenBarrierError

import torch


@contextmanager
def thread_pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Workers that share torch's threads.

    torch sets how many threads it has for the thread that asks and for all that start later, in the whole process. So
    it is set back as soon as every worker has begun.
    """
    threads = torch.get_num_threads()
    have_begun = Barrier(workers + 1)

    def begin() -> None:
        torch.get_num_threads()  # at its first question a thread takes over what is set by then
        torch.set_num_threads(max(1, threads // workers))
        with suppress(BrokenBarrierError):
            have_begun.wait()

    with ThreadPoolExecutor(workers, initializer=begin) as pool:
        try:
            for _ in range(workers):  # a worker starts for each piece of work while none is free
                pool.submit(int)
            have_begun.wait()
        except BaseException:  # Ctrl-C: the pool would wait for workers that wait for us
            have_begun.abort()
            raise
        finally:
            torch.set_num_threads(threads)
        yield pool
