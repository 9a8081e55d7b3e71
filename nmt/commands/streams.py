"""What goes in on stdin and out on stderr. Stdout belongs to the commands' results."""

import sys
from collections.abc import Iterator
from pathlib import Path


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
