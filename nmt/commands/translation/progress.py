"""How far the translation of files has come, for people."""

import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.commands.shell.streams import is_watched, lines_ahead, printable, say
from nmt.errors import counted

if TYPE_CHECKING:
    from tqdm import tqdm

    from nmt.jobs.job import Watch
    from nmt.jobs.output import File

_LOG_EVERY = 60  # seconds, where nobody sees a bar
_START = 2**18  # bytes by which a file's number of lines is judged
_GZIP = 31  # as zlib calls it


class Progress:
    """How far the work has come: a bar on a terminal, else a line now and then."""

    def __init__(self, files: "Sequence[File]", quiet: bool) -> None:
        self._files = files
        self._quiet = quiet
        self._bar: tqdm[Any] | None = None
        self._lines: dict[str, int] = {}  # of each file; estimated until it is read
        self._translated = 0
        self._found = 0
        self._kept = 0  # files that were finished before
        self._workers = 1
        self._begun = time.monotonic()
        self._said = self._begun

    def __enter__(self) -> None:
        self._begun = self._said = time.monotonic()
        if is_watched(self._quiet):
            from tqdm import tqdm

            self._lines = {file.text: estimated_lines(file.source) for file in self._files}
            self._bar = tqdm(unit=" lines", total=sum(self._lines.values()), file=sys.stderr)
            self.working(self._workers)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if not self._quiet:
            say(f"nmt: {self._so_far()}")

    def watch(self) -> "Watch":
        """What the work tells."""
        from nmt.jobs.job import Watch

        return Watch(
            self._add,
            self._find,
            self._keep,
            self._know,
            self._finish,
            self._fault,
            self._warn,
        )

    def working(self, workers: int) -> None:
        """So many models are at work."""
        self._workers = workers
        if self._bar is not None:
            self._bar.set_postfix_str(counted(workers, "worker"))

    def _add(self, lines: int) -> None:
        self._translated += lines
        if self._bar is not None:
            self._bar.update(lines)
        elif not self._quiet and time.monotonic() - self._said > _LOG_EVERY:
            self._said = time.monotonic()
            say(f"nmt: {self._so_far()}")

    def _find(self, lines: int) -> None:
        self._found += lines
        if self._bar is not None:
            self._bar.initial += lines
            self._bar.update(lines)

    def _keep(self, file: "File") -> None:
        self._kept += 1
        self._find(file.lines)
        self._know(file)

    def _know(self, file: "File") -> None:
        if self._bar is not None:
            self._lines[file.text] = file.lines
            self._bar.total = sum(self._lines.values())

    def _finish(self, file: "File") -> None:
        if not self._quiet:
            self._print(f"nmt: {file.target}: {counted(file.lines, 'line')}")

    def _fault(self, file: "File", number: int, fault: str) -> None:
        self._warn(f"{file.text}:{number}: {fault}")

    def _warn(self, line: str) -> None:
        self._print(f"nmt: warning: {printable(line)}")

    def _print(self, line: str) -> None:
        if self._bar is None:
            say(line)
        else:
            self._bar.write(line, file=sys.stderr)

    def _so_far(self) -> str:
        if self._kept == len(self._files):
            return "nothing to translate"
        seconds = max(time.monotonic() - self._begun, 1e-3)
        speed = f"{self._translated / seconds:,.0f} a second"
        line = f"{counted(self._translated, 'line')} translated, {speed}"
        line += f", {counted(self._workers, 'worker')}"
        if self._found:
            line += f"; {counted(self._found, 'line')} were there"
        return line


class BarAlone(Progress):
    """The same for one file: a bar on a terminal, and no lines but warnings."""

    def __enter__(self) -> None:
        super().__enter__()
        if self._bar is not None:
            (file,) = self._files
            self._bar.total = lines_ahead(file.source)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _finish(self, file: "File") -> None:
        pass

    def _fault(self, _file: "File", number: int, fault: str) -> None:
        self._warn(f"line {number}: {fault}")


def estimated_lines(file: Path | None) -> int:
    """About how many lines a file has, judged by its start; 0 for what cannot be read: reading it tells why."""
    if file is None:
        return 0
    try:
        with file.open("rb") as opened:
            start = opened.read(_START)
        size = file.stat().st_size
        text = start
        if file.suffix == ".gz":
            unzip = zlib.decompressobj(wbits=_GZIP)
            text = unzip.decompress(start)
            start = start[: len(start) - len(unzip.unused_data)]
    except (OSError, zlib.error):
        return 0
    return text.count(b"\n") * size // max(1, len(start))
