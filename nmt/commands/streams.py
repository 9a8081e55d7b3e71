"""What goes in on stdin and out on stderr. Stdout belongs to the commands' results."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO


class LastingStream:
    """A stream for people: when its reader goes away, what is said goes nowhere, and the work goes on.

    `nmt train 2>&1 | head` must not cost hours of training; train.log has all of it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if anybody reads."""
        with self._unless_it_is_gone():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if anybody reads."""
        with self._unless_it_is_gone():
            self._stream.flush()

    @contextmanager
    def _unless_it_is_gone(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):  # of a pipe, and of a terminal
                raise
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def say(text: str) -> None:
    """Print a line for people: to stderr, so that stdout holds only results."""
    print(text, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Print a warning. --quiet does not silence it."""
    say(f"nmt: warning: {text}")


def printable(line: str) -> str:
    """A line without what would steer a terminal: a message may quote an untrusted file."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def stdin_lines(invalid: str = "error") -> Iterator[str]:
    """The lines of stdin as they arrive; `invalid` bytes are an "error", or "replace" makes them U+FFFD.

    Raises DataError for bytes that are not UTF-8, or for a line without end.
    """
    from nmt.corpus.lines import bounded_lines, decode_lines

    name = Path("stdin")
    # A file object of its own: at exit Python would wait for sys.stdin's lock, which the reading thread holds.
    file = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
    errors = "strict" if invalid == "error" else invalid
    return decode_lines(bounded_lines(file, name), name, errors)
