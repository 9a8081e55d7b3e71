"""Lines as they arrive: what is typed is taken at once, what waits is taken together."""

from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from nmt.errors import UserError

WINDOW = 2000  # lines that are sorted by length and translated together
_PAUSE = 0.02  # seconds that a line waits for others to come with it


def windows(lines: Iterable[str], size: int = WINDOW) -> Iterator[list[str]]:
    """Give lists of `size` lines, the last one shorter. What `lines` raises is raised after the lines before it."""
    window: list[str] = []
    try:
        for line in lines:
            window.append(line)
            if len(window) == size:
                yield window
                window = []
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
    arrived: Queue[str | BaseException | None] = Queue(maxsize=2 * size)
    Thread(target=_fill, args=(arrived, lines), daemon=True).start()
    while True:
        window: list[str] = []
        item = arrived.get()
        until = monotonic() + _PAUSE
        while isinstance(item, str):
            window.append(item)
            if len(window) == size:
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


def _fill(arrived: "Queue[str | BaseException | None]", lines: Iterable[str]) -> None:
    try:
        for line in lines:
            arrived.put(line)
        arrived.put(None)
    except BaseException as error:  # it is raised where the lines are read
        arrived.put(error)
