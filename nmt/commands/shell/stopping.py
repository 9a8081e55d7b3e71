"""Signals that end a command: what was done is kept, and its last line says how to go on."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from nmt.errors import Interrupted


@contextmanager
def telling_how_to_go_on(message: Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into an Interrupted with this message, made when the signal has come."""
    received = signal.SIGINT

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal received
        received = signal.Signals(number)
        raise KeyboardInterrupt

    handlers_before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP, and means it
            handlers_before[number] = signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"{received.name}: {message()}", received) from None
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
