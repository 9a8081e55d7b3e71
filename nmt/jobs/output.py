"""Where translated files appear, each whole or not at all, and what is kept beside them until then.

`--output FILE` keeps it in `FILE.part/`, `--output-dir DIR` in `DIR/.nmt/`: for each file a folder of the results of
its shards, and in `.nmt` a record of each finished file, `NAME.done`. It says what the file was made from, so that it
is neither made again nor taken for the user's.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, DataError, ModelError, counted
from nmt.files import PART, checksum, locked, read_json, replacing, sync, write_json, write_text
from nmt.jobs.shards import lines_in, packed

_BLOCK = 2**20  # bytes copied at a time


@dataclass
class File:
    """A text to translate, and how far it has come."""

    source: Path | None  # None: stdin
    target: Path
    parts: list[str] = field(default_factory=list)  # names of its shards, in order
    missing: set[str] = field(default_factory=set)  # of them, those without a result yet
    lines: int = 0
    before: list[int] | None = None  # size and time of a plain source, before it is read
    is_read: bool = False  # to its end
    is_whole: bool = True  # false when a shard or the reading has failed

    @property
    def text(self) -> str:
        """What the source is called."""
        return "stdin" if self.source is None else str(self.source)

    @property
    def is_complete(self) -> bool:
        """Whether its shards can be put together."""
        return self.is_read and self.is_whole and not self.missing


class Output:
    """The results of shards, and the finished files."""

    def __init__(self, work: Path, option: str, overwrite: bool) -> None:
        """`work` is the folder for what is not finished, `option` what the user gave, --output or --output-dir.

        `overwrite`: a file replaces what is in its place, whoever wrote that.
        """
        self.work = work
        self.another = f"name another {option}, or --overwrite it"
        self._option = option
        self._overwrite = overwrite
        self.is_single = option == "--output"
        how = "continue with --resume" if self.is_single else "give the same command again"
        self._go_on = f"free some space, then {how}"

    @contextmanager
    def locked(self, files: Sequence[File]) -> Iterator[None]:
        """Keep other processes from writing here.

        Raises UserError if one does, ConfigError for files that nmt did not write.
        """
        self._refuse_foreign()
        places = []
        for file in files:
            places += [self._parts(file), self._joined(file), self._record_file(file)]
        with locked(self.work, places):
            yield

    def _refuse_foreign(self) -> None:
        names = {path.name for path in self.work.glob("*")}
        if self.work.exists() and (not self.work.is_dir() or (names and ".lock" not in names)):
            fix = f"move it away, or name another {self._option}"
            raise ConfigError(
                f"{self.work}: not written by nmt, but nmt needs this place for unfinished work; {fix}"
            )

    # --- results of shards ---

    def results(self, file: File) -> set[str]:
        """The names of the shards of a file whose results are there."""
        return {path.name for path in self._parts(file).glob("*-*-*") if path.is_file()}

    def lines_done(self, file: File) -> int:
        """How many lines of a file are translated."""
        return sum(map(lines_in, self.results(file)))

    def store(self, file: File, name: str, content: bytes) -> None:
        """Keep the result of a shard. Raises UserError if it cannot be written."""
        with replacing(self._parts(file) / name, self._go_on) as part:
            part.write_bytes(content)

    def clear(self, file: File) -> None:
        """Delete the results of the shards of a file."""
        shutil.rmtree(self._parts(file), ignore_errors=True)

    def _parts(self, file: File) -> Path:
        return self.work / f"{file.target.name}{PART}"

    # --- finished files ---

    def knows(self, file: File) -> bool:
        """Whether nmt wrote the file that is where this one is to be, and nobody has changed it since."""
        record = self._record(file)
        return record is not None and _is_as_noted(file.target, record.get("output"))

    def is_finished(self, file: File, made_with: str) -> bool:
        """Whether the file is there, made from this input with these."""
        record = self._record(file)
        if file.source is None or record is None or not self.knows(file):
            return False
        if record.get("made_with") != made_with:
            return False
        return _is_as_noted(file.source, record.get("input"))

    def finished_lines(self, file: File) -> int:
        """The lines of a finished file; 0 if nobody has noted them."""
        lines = (self._record(file) or {}).get("lines")
        return lines if isinstance(lines, int) else 0

    def put_together(self, file: File, made_with: str) -> None:
        """Make the file from the results of its shards.

        Raises DataError if its source is no longer what was read, ConfigError if a file has appeared in its place,
        UserError if it cannot be written.
        """
        joined = self._joined(file)
        with replacing(joined, self._go_on) as part:
            self._join(file, part)
        if file.source is not None and file.before is not None:
            self._note(file, joined, file.source, made_with)
        if not self._overwrite and os.path.lexists(file.target):
            joined.unlink()
            fix = self.another
            if self.is_single:
                fix = "move it away and give --resume, or give --resume --overwrite"
            raise ConfigError(
                f"{file.target}: was created by another program in the meantime; {fix}"
            )
        joined.replace(file.target)
        sync(file.target.parent)
        self.clear(file)

    def _note(self, file: File, joined: Path, source: Path, made_with: str) -> None:
        """Note a file before it gets its name: a process that is killed then leaves no file that is unknown."""
        read = _noted(source)
        if read is None or _size_and_time(source) != file.before:
            joined.unlink()
            message = "changed while it was translated"
            raise DataError(f"{source}: {message}; give the command again")
        record = {
            "made_with": made_with,
            "lines": file.lines,
            "input": read,
            "output": _noted(joined),
        }
        write_json(self._record_file(file), record)

    def _record(self, file: File) -> dict[str, Any] | None:
        """What is noted of a finished file. Raises ModelError if it is damaged."""
        path = self._record_file(file)
        if not path.exists():
            return None
        record = read_json(path)
        if not isinstance(record, dict):
            raise ModelError(f"{path}: damaged; delete it and run the command again")
        return record

    def _record_file(self, file: File) -> Path:
        return self.work / f"{file.target.name}.done"

    def _join(self, file: File, part: Path) -> None:
        with part.open("wb") as whole:
            for name in file.parts:
                with (self._parts(file) / name).open("rb") as result:
                    shutil.copyfileobj(result, whole, _BLOCK)
            if not file.parts:
                whole.write(packed(b"", is_packed(file.target)))

    def _joined(self, file: File) -> Path:
        return self.work / f"{file.target.name}.whole"


def is_packed(path: Path) -> bool:
    """Whether a file of this name is compressed."""
    return path.suffix == ".gz"


def begin_reading(file: File) -> None:
    """Note what a plain source is before it is read. Raises DataError if it is not there."""
    if file.source is None or (file.source.exists() and not file.source.is_file()):
        return  # a pipe
    file.before = _size_and_time(file.source)
    if file.before is None:
        raise DataError(f"{file.source}: no such file; it existed when the command started")


def _size_and_time(path: Path) -> list[int] | None:
    """Of a file; None if it is not there."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _noted(path: Path) -> list[Any] | None:
    """Size, time and hash of a file; None if it is not there."""
    try:
        status = path.stat()
        return [status.st_size, status.st_mtime_ns, checksum(path)]
    except FileNotFoundError:
        return None


def _is_as_noted(path: Path, noted: Any) -> bool:
    """Whether a file has the contents that were noted; it is read only where its time has changed."""
    if not isinstance(noted, list) or len(noted) != 3 or not path.is_file():
        return False
    status = path.stat()
    if status.st_size != noted[0]:
        return False
    return bool(status.st_mtime_ns == noted[1] or checksum(path) == noted[2])


# --- --output-dir: many files ---


def refuse_targets(output: Output, files: Iterable[File], made_with: str) -> None:
    """Raise ConfigError for a file that is where one is to be written, and is not what would be written there."""
    for file in files:
        if not file.target.exists() or output.is_finished(file, made_with):
            continue
        if output.knows(file):
            differs = "another model, search, format, nmt version or number of threads"
            message = f"was made from another input, or with {differs}"
            raise ConfigError(f"{file.target}: {message}; {output.another}")
        raise ConfigError(f"{file.target}: exists already; {output.another}")


# --- --output: one file ---


@contextmanager
def single_output(
    target: Path, source: Path | None, made_with: str, resume: bool, overwrite: bool
) -> Iterator[tuple[Output, File]]:
    """Yield where one file is made; what is done of it stays in `FILE.part` until the file is there.

    Raises ConfigError if work of another command is there, and is not to be resumed.
    """
    output = Output(target.with_name(f"{target.name}{PART}"), "--output", overwrite)
    file = File(source, target)
    with output.locked([file]):
        made_by = output.work / "made_with"
        _refuse_to_mix(output, file, made_by, made_with, resume, overwrite)
        write_text(made_by, made_with)
        yield output, file
        shutil.rmtree(output.work)


def _refuse_to_mix(
    output: Output, file: File, made_by: Path, made_with: str, resume: bool, overwrite: bool
) -> None:
    if overwrite and not resume:
        output.clear(file)
    done = output.lines_done(file)
    if done and not resume:
        raise ConfigError(
            f"{output.work}: already holds {counted(done, 'translated line')}; "
            "continue with --resume, or start again with --overwrite"
        )
    if done and made_by.read_text(encoding="utf-8") != made_with:
        raise ConfigError(
            f"{output.work}: made with another model, search, format, nmt or number of threads; "
            "give the same, or start again with --overwrite"
        )


def how_to_resume(output: Output, file: File) -> str:
    """What is kept of an interrupted --output, and how to go on."""
    held = f"{output.work} holds {counted(output.lines_done(file), 'translated line')}"
    return f"{held}; continue with the same command and --resume"
