"""What goes in on stdin and out on stderr. Stdout belongs to the commands' results."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt.corpus.lines import WrittenLine

_STDIN = Path("stdin")  # in messages


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
    from nmt.corpus.lines import decode_lines

    errors = "strict" if invalid == "error" else invalid
    return decode_lines(_stdin(), _STDIN, errors)


def stdin_as_written() -> "Iterator[WrittenLine]":
    """The lines of stdin with their ends and a byte-order mark. Raises DataError as `stdin_lines` does."""
    from nmt.corpus.lines import lines_as_written

    return lines_as_written(_stdin(), _STDIN)


def _stdin() -> Iterator[bytes]:
    from nmt.corpus.lines import bounded_lines

    # A file object of its own: at exit Python would wait for sys.stdin's lock, which the reading thread holds.
    file = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115
    return bounded_lines(file, _STDIN)
