"""What goes in on stdin and out on stdout and stderr. Stdout belongs to the commands' results."""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from nmt import files
from nmt.errors import ConfigError, DataError, UserError
from nmt.files import unreadable

if TYPE_CHECKING:
    from nmt.corpus.reading.lines import WrittenLine

_BLOCK = 2**20  # bytes read at a time
STANDARD = "-"  # as the name of a file: stdin, or stdout


def is_standard(path: Path | None) -> bool:
    """Whether a path means stdin or stdout."""
    return path is not None and str(path) == STANDARD


# --- out ---


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


def put(text: str) -> None:
    """Write results to stdout. Raises UserError if they cannot be written, BrokenPipeError if nobody reads them."""
    _on_stdout(lambda: sys.stdout.write(text))


def flush() -> None:
    """Hand on the results so far; raises as `put` does."""
    _on_stdout(sys.stdout.flush)


def _on_stdout(write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        # What is left in the buffer would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        if error.errno == errno.EBADF:
            raise UserError("stdout: is closed; send the results somewhere") from None
        fix = "free some space, or write elsewhere"
        raise UserError(f"stdout: cannot be written ({error.strerror}); {fix}") from None


def is_watched(quiet: bool) -> bool:
    """Whether somebody sees how far the work has come."""
    return not quiet and sys.stderr.isatty()


# --- in ---


def input_lines(path: Path | None, invalid: str = "error") -> Iterator[str]:
    """The lines of a file (a .gz is unzipped), or of stdin without a file or for `-`, each as soon as it is there.

    `invalid` bytes are an "error", or "replace" makes them U+FFFD.
    Raises DataError for a file that is missing, bytes that are not UTF-8, or a line without end.
    """
    from nmt.corpus.reading.lines import decode_lines

    blocks, name = input_blocks(path)
    return decode_lines(blocks, name, "strict" if invalid == "error" else invalid)


def filled_lines(path: Path, fix: str = "name a file with text") -> list[str]:
    """All lines of a file or of stdin; raises as `input_lines`, and DataError with this `fix` if all are blank."""
    lines = list(input_lines(path))
    if not any(line.strip() for line in lines):
        name = "stdin" if is_standard(path) else path
        found = f"only blank lines ({len(lines):,})" if lines else "no lines"
        raise DataError(f"{name}: has {found}; {fix}")
    return lines


def lines_as_written(path: Path | None) -> "Iterator[WrittenLine]":
    """The lines with their ends and a byte-order mark; else as `input_lines`."""
    from nmt.corpus.reading import lines

    blocks, name = input_blocks(path)
    return lines.lines_as_written(blocks, name)


def input_blocks(path: Path | None) -> tuple[Iterator[bytes], Path]:
    """Whole lines of a file or of stdin, as bytes, and its name in messages."""
    from nmt.corpus.reading.lines import blocks_of

    if path is None or is_standard(path):
        name = Path("stdin")
        return _arriving(sys.stdin.fileno(), name), name
    if path.is_file() or path.is_dir() or not path.exists():
        return blocks_of(path), path
    return _arriving(path, path), path  # a named pipe


def _arriving(source: int | Path, name: Path) -> Iterator[bytes]:
    """Each line of a stream as soon as it is there."""
    from nmt.corpus.reading.lines import bounded_lines

    try:
        if isinstance(source, int):
            # Where another program has made it non-blocking, a pause would look like the end.
            os.set_blocking(source, True)
        # For stdin a file object of its own: at exit Python would wait for sys.stdin's lock, which the reading
        # thread holds.
        with open(source, "rb", closefd=isinstance(source, Path)) as file:
            yield from bounded_lines(file, name)
    except OSError as error:
        raise DataError(unreadable(name, error)) from None


def is_on_disk(path: Path | None) -> bool:
    """Whether all lines of a file, or of stdin without one, are there; others come as they are written."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path is None else path.stat()
    except OSError:  # stdin is closed; what is missing is reported where it is read
        return False
    return stat.S_ISREG(status.st_mode)


def lines_ahead(path: Path | None) -> int | None:
    """How many lines a plain file on a disk still has, or stdin without one; None where only reading them tells."""
    if path is None:
        is_plain = stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    else:  # not opened to see that: a named pipe that is closed again loses its writer
        is_plain = path.is_file() and path.suffix != ".gz"
    if not is_plain:
        return None
    with open(sys.stdin.fileno() if path is None else path, "rb", closefd=path is not None) as file:
        descriptor = file.fileno()
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        count = 0
        while block := os.pread(descriptor, _BLOCK, place):
            count += block.count(b"\n")
            place += len(block)
    return count


def refuse_unreadable(*paths: Path | None) -> None:
    """Raise, before the work begins, DataError for a file that cannot be read, ConfigError for stdin given twice."""
    given = [path for path in paths if path is not None]
    if len([path for path in given if is_standard(path)]) > 1:
        raise ConfigError("command line: only one file can be - (stdin); name the others")
    for path in given:
        if not is_standard(path):
            files.refuse_unreadable(path, DataError)
