"""How signals end training: after the update under way, or at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nmt.errors import Interrupted

_WANTED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """What was received while they were `caught`: the number of a signal, or 0."""

    def __init__(self) -> None:
        self.received = 0

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Note the first SIGINT, SIGTERM or SIGHUP; raise Interrupted at the second."""
        # nohup ignores SIGHUP, and means it
        before = {
            n: signal.signal(n, self._note)
            for n in _WANTED
            if signal.getsignal(n) is not signal.SIG_IGN
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.received:
            raise Interrupted("stopped at once; the work since the last checkpoint is lost", number)
        self.received = number
