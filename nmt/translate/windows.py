"""Lines as they arrive: what is typed is taken at once, what waits is taken together.

A window is a number of lines, fewer if they are long: a line of megabytes takes the room of many. So neither a window
nor the lines that wait for it take more memory than some long lines do.
"""

import sys
from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from time import monotonic

from tqdm import tqdm

from nmt.errors import UserError

WINDOW = 2000  # lines that are sorted by length and translated together
_SHORT = 500  # characters of a line that takes no more room than one
_PAUSE = 0.02  # seconds that a line waits for others to come with it
Arrived = SimpleQueue[str | BaseException | None]


def windows(lines: Iterable[str], size: int = WINDOW) -> Iterator[list[str]]:
    """Give lists of `size` lines, the last one shorter. What `lines` raises is raised after the lines before it."""
    window: list[str] = []
    room = size
    try:
        for line in lines:
            window.append(line)
            room -= _room(line, size)
            if room <= 0:
                yield window
                window, room = [], size
    except UserError:
        if window:
            yield window
        raise
    if window:
        yield window


def live_windows(lines: Iterable[str], size: int = WINDOW) -> Iterator[list[str]]:
    """Give lists of at most `size` lines: those that came while the last list was dealt with, or just after.

    What `lines` raises is raised after the lines before it have been given.
    """
    arrived: Arrived = SimpleQueue()
    free = Semaphore(2 * size)
    Thread(target=_fill, args=(arrived, free, lines, size), daemon=True).start()
    while True:
        window: list[str] = []
        room = size
        item = arrived.get()
        until = monotonic() + _PAUSE
        while isinstance(item, str):
            window.append(item)
            room -= _room(item, size)
            free.release(_room(item, size))
            if room <= 0:
                break
            try:
                item = arrived.get(timeout=max(0.0, until - monotonic()))
            except Empty:
                break
        if window:
            yield window
        if isinstance(item, BaseException):
            raise item
        if item is None:
            return


def shown(windows: Iterable[list[str]], quiet: bool) -> Iterator[list[str]]:
    """The same windows, with a progress bar if stderr is a terminal."""
    with tqdm(unit=" lines", file=sys.stderr, disable=quiet or not sys.stderr.isatty()) as bar:
        for window in windows:
            yield window
            bar.update(len(window))


def _room(line: str, size: int) -> int:
    """How many short lines' room a line takes."""
    return min(size, 1 + len(line) // _SHORT)


def _fill(arrived: Arrived, free: Semaphore, lines: Iterable[str], size: int) -> None:
    try:
        for line in lines:
            for _ in range(_room(line, size)):
                free.acquire()
            arrived.put(line)
        arrived.put(None)
    except BaseException as error:  # it is raised where the lines are read
        arrived.put(error)
