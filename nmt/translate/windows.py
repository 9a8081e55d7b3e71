"""Lines as they arrive: what is typed is taken at once, what waits is taken together.

A window has a number of slots. A short line takes one, a long line several: so neither a window nor the lines that
wait for it take more memory than a few long lines do.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from time import monotonic
from typing import TypeVar

from tqdm import tqdm

from nmt.errors import UserError

WINDOW = 2000  # slots of lines that are sorted by length and translated together
_SLOT = 500  # characters
_PAUSE = 0.02  # seconds that a line waits for others to come with it

Item = TypeVar("Item", bound=Sized)  # of a window: a line, or a pair
Shown = TypeVar("Shown")  # a window, or what was made of one
Arrival = str | BaseException | None  # a line; at the end what was raised, or None
Arrivals = SimpleQueue[Arrival]


def windows(
    items: Iterable[Item], size: int = WINDOW, characters: Callable[[Item], int] = len
) -> Iterator[list[Item]]:
    """Give lists of lines that fill `size` slots, the last one fewer; or of what else has so many characters.

    A UserError that `items` raises is raised after the items before it have been given.
    """
    window: list[Item] = []
    free = size
    try:
        for item in items:
            window.append(item)
            free -= _slots(characters(item), size)
            if free <= 0:
                yield window
                window = []
                free = size
    except UserError:
        if window:
            yield window
        raise
    if window:
        yield window


def live_windows(lines: Iterable[str], size: int = WINDOW) -> Iterator[list[str]]:
    """Give lists of lines that came while the last list was dealt with, or just after; at most `size` slots each.

    What `lines` raises is raised after the lines before it have been given. If nobody wants more windows, reading ends
    with the next line.
    """
    arrivals: Arrivals = SimpleQueue()
    free_slots = Semaphore(2 * size)  # how far the reading may run ahead
    is_abandoned = Event()
    reading = (lines, arrivals, free_slots, size, is_abandoned)
    Thread(target=_read, args=reading, daemon=True).start()
    del lines, reading  # the thread alone has them, and drops them at its end
    try:
        while True:
            window, last = _next_window(arrivals, free_slots, size)
            if window:
                yield window
            if isinstance(last, BaseException):
                raise last
            if last is None:
                return
    finally:
        is_abandoned.set()
        free_slots.release(size)  # as many as a line may wait for


def _next_window(arrivals: Arrivals, free_slots: Semaphore, size: int) -> tuple[list[str], Arrival]:
    """Lines of at most `size` slots, and the arrival that was taken last: a line, or how the lines ended."""
    window: list[str] = []
    free = size
    arrival = arrivals.get()
    deadline = monotonic() + _PAUSE
    while isinstance(arrival, str):
        slots = _slots(len(arrival), size)
        window.append(arrival)
        free_slots.release(slots)
        free -= slots
        if free <= 0:
            break
        try:
            arrival = arrivals.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            break
    return window, arrival


def shown(
    windows: Iterable[Shown],
    watched: bool,
    total: int | None = None,
    lines: Callable[[Shown], int] = len,  # type: ignore[assignment]
) -> Iterator[Shown]:
    """The same windows, with a progress bar on stderr if it is `watched`; `total` is the number of lines, if known."""
    with tqdm(unit=" lines", file=sys.stderr, disable=not watched, total=total) as bar:
        for window in windows:
            yield window
            bar.update(lines(window))


def _slots(characters: int, size: int) -> int:
    """How many of a window's slots so many characters take; at most all."""
    return min(size, 1 + characters // _SLOT)


def _read(
    lines: Iterable[str],
    arrivals: Arrivals,
    free_slots: Semaphore,
    size: int,
    is_abandoned: Event,
) -> None:
    try:
        for line in lines:
            for _ in range(_slots(len(line), size)):
                free_slots.acquire()
            if is_abandoned.is_set():
                return
            arrivals.put(line)
        arrivals.put(None)
    except BaseException as error:  # it is raised where the lines are read
        arrivals.put(error)
