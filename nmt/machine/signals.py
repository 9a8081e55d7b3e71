"""The signals that ask a command to stop: Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed; SIGUSR1 to save."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from nmt.errors import Interrupted

_ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handling_stops(handle: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `handle` at each of these signals, except those that are ignored: nohup ignores SIGHUP, and means it."""

    def received(number: int, _frame: FrameType | None) -> None:
        handle(signal.Signals(number))

    handlers_before = {}
    for number in _ASKING_TO_STOP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            handlers_before[number] = signal.signal(number, received)
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


class Signals:
    """Signals as values to ask for: `received` is the first that asked to stop, or 0.

    `asked_to_save` says whether SIGUSR1 has come, which schedulers such as Slurm send before a limit.
    """

    def __init__(self) -> None:
        self.received = 0
        self.asked_to_save = False

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Note the first signal; raise Interrupted at the second that asks to stop."""
        before = signal.signal(signal.SIGUSR1, self._note_wish_to_save)
        try:
            with handling_stops(self._note):
                yield
        finally:
            signal.signal(signal.SIGUSR1, before)

    def _note_wish_to_save(self, _number: int, _frame: FrameType | None) -> None:
        self.asked_to_save = True

    def _note(self, number: signal.Signals) -> None:
        if self.received:
            raise Interrupted("stopped at once; the work since the last checkpoint is lost", number)
        self.received = number


@contextmanager
def telling_how_to_go_on(message: Callable[[], str]) -> Iterator[None]:
    """Turn a signal into an Interrupted with this message, which is made when the signal has come."""
    received = signal.SIGINT

    def stop(number: signal.Signals) -> None:
        nonlocal received
        received = number
        raise KeyboardInterrupt

    try:
        with handling_stops(stop):
            yield
    except KeyboardInterrupt:
        raise Interrupted(f"{received.name}: {message()}", received) from None
