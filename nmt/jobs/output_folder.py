"""The folder that translated files appear in, each whole or not at all.

`.nmt/` in it holds for each file what is not finished, a folder of results of shards; then a record `NAME.done`, which
says what the finished file was made from, so that it is neither made again nor taken for the user's.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, DataError, ModelError
from nmt.files import PART, checksum, locked, read_json, replacing, sync, write_json
from nmt.jobs.shards import packed

_BLOCK = 2**20  # bytes copied at a time
_ANOTHER = "name another --output-dir, or --overwrite it"


@dataclass
class File:
    """A file to translate, and how far it has come."""

    source: Path
    target: Path
    parts: list[str] = field(default_factory=list)  # names of its shards, in order
    missing: set[str] = field(default_factory=set)  # of them, those without a result yet
    lines: int = 0
    before: list[int] = field(
        default_factory=list
    )  # size and time of the source, before it is read
    is_read: bool = False  # to its end
    is_whole: bool = True  # false when a shard or the reading has failed

    @property
    def is_complete(self) -> bool:
        """Whether its shards can be put together."""
        return self.is_read and self.is_whole and not self.missing


class OutputFolder:
    """The results of shards, and the finished files."""

    def __init__(self, path: Path, overwrite: bool = False) -> None:
        """`overwrite`: a file replaces what stands in its place, whoever wrote that."""
        self.path = path
        self._overwrite = overwrite
        self._work = path / ".nmt"

    @contextmanager
    def locked(self, files: Sequence[File]) -> Iterator[None]:
        """Keep other processes from writing here. Raises UserError if one does, ConfigError for what is not ours."""
        self._refuse_foreign()
        places = []
        for file in files:
            places += [self._parts(file), self._joined(file), self._record_file(file)]
        with locked(self._work, places):
            yield

    def _refuse_foreign(self) -> None:
        names = {path.name for path in self._work.glob("*")}
        if self._work.exists() and (not self._work.is_dir() or (names and ".lock" not in names)):
            raise ConfigError(f"{self._work}: not written by nmt; name another --output-dir")

    # --- results of shards ---

    def results(self, file: File) -> set[str]:
        """The names of the shards of a file whose results are there."""
        return {path.name for path in self._parts(file).glob("*") if path.is_file()}

    def store(self, file: File, name: str, content: bytes) -> None:
        """Keep the result of a shard."""
        with replacing(self._parts(file) / name) as part:
            part.write_bytes(content)

    def _parts(self, file: File) -> Path:
        return self._work / f"{file.target.name}{PART}"

    # --- finished files ---

    def knows(self, file: File) -> bool:
        """Whether nmt wrote the file that stands where this one is to be, and nobody has changed it since."""
        record = self._record(file)
        return record is not None and _is_as_noted(file.target, record.get("output"))

    def is_finished(self, file: File, made_with: str) -> bool:
        """Whether the file is there, made from this input with these."""
        record = self._record(file)
        if record is None or not self.knows(file) or record.get("made_with") != made_with:
            return False
        return _is_as_noted(file.source, record.get("input"))

    def finished_lines(self, file: File) -> int:
        """The lines of a finished file; 0 if nobody has noted them."""
        lines = (self._record(file) or {}).get("lines")
        return lines if isinstance(lines, int) else 0

    def put_together(self, file: File, made_with: str) -> None:
        """Make the file from the results of its shards.

        Raises DataError if its source is no longer what was read, ConfigError if a file has appeared in its place.
        """
        joined = self._joined(file)
        with replacing(joined) as part:
            self._join(file, part)
        read = _noted(file.source)
        if read is None or _size_and_time(file.source) != file.before:
            joined.unlink()
            message = "changed while it was translated"
            raise DataError(f"{file.source}: {message}; give the command again")
        record = {
            "made_with": made_with,
            "lines": file.lines,
            "input": read,
            "output": _noted(joined),
        }
        # Noted before it gets its name: a process that is killed here leaves no file that is unknown.
        write_json(self._record_file(file), record)
        if not self._overwrite and os.path.lexists(file.target):
            joined.unlink()
            raise ConfigError(f"{file.target}: has appeared meanwhile; {_ANOTHER}")
        joined.replace(file.target)
        sync(self.path)
        self.clear(file)

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
        return self._work / f"{file.target.name}.done"

    def clear(self, file: File) -> None:
        """Delete the results of the shards of a file that is finished."""
        shutil.rmtree(self._parts(file), ignore_errors=True)

    def _join(self, file: File, part: Path) -> None:
        with part.open("wb") as whole:
            for name in file.parts:
                with (self._parts(file) / name).open("rb") as result:
                    shutil.copyfileobj(result, whole, _BLOCK)
            if not file.parts:
                whole.write(packed(b"", file.source))

    def _joined(self, file: File) -> Path:
        return self._work / f"{file.target.name}.whole"


def begin_reading(file: File) -> None:
    """Note what the source is before it is read. Raises DataError if it is not there."""
    before = _size_and_time(file.source)
    if before is None:
        raise DataError(f"{file.source}: no such file; it was there when the command began")
    file.before = before


def _size_and_time(path: Path) -> list[int] | None:
    """Of a file; nothing if it is not there."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _noted(path: Path) -> list[Any] | None:
    """Size, time and hash of a file; nothing if it is not there."""
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


def refuse_targets(folder: OutputFolder, files: Iterable[File], made_with: str) -> None:
    """Raise ConfigError for a file that stands where one is to be written, and is not what would be written there."""
    for file in files:
        if not file.target.exists() or folder.is_finished(file, made_with):
            continue
        if folder.knows(file):
            message = "was made with another model, search, format, nmt or number of threads, or from another input"
            raise ConfigError(f"{file.target}: {message}; {_ANOTHER}")
        raise ConfigError(f"{file.target}: exists already; {_ANOTHER}")
