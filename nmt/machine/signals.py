"""How signals end training: after the current update, or at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nmt.errors import Interrupted

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Signals as a number to ask for: `received` is the first signal that came, or 0."""

    def __init__(self) -> None:
        self.received = 0

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Note the first SIGINT, SIGTERM or SIGHUP; raise Interrupted at the second."""
        handlers_before = {}
        for number in _CAUGHT:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup ignores SIGHUP, and means it
            handlers_before[number] = signal.signal(number, self._note)
        try:
            yield
        finally:
            for number, handler in handlers_before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.received:
            raise Interrupted("stopped at once; the work since the last checkpoint is lost", number)
        self.received = number
