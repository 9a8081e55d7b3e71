"""How files are written: whole or not at all. And how they are read: never more than any of ours holds."""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmt.errors import ModelError, UserError

PART = ".part"  # ends the names of folders that hold what is not whole
_LARGEST = (
    2**28
)  # bytes of a file that is read at once; a small archive may hold an endless one, as a hole


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`; on success it is synced and renamed to `path`, else removed.

    The neighbour does not exist yet: the caller makes it a file or a folder. Raises UserError if the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent))
    part = work / path.name
    try:
        with _naming(path):
            yield part
            for inner in sorted(part.rglob("*")):
                sync(inner)
            sync(part)
        if part.is_dir() and path.is_dir():
            path.replace(work / "old")
        part.replace(path)
        sync(path.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file where the disk is full: the system's own error does not."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        mend = "free some space: what was whole before is whole still"
        raise UserError(f"{path}: cannot be written ({error.strerror}); {mend}") from None


def sync(path: Path) -> None:
    """Push a file, or a folder's list of names, to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(folder: Path) -> None:
    """Delete a folder so that nobody finds half of it, even if this process is killed meanwhile."""
    doomed = folder.with_name(f".{folder.name}.old{PART}")
    if folder.is_dir():
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def append_text(path: Path, text: str) -> None:
    """Append to a file. Raises UserError if the disk is full."""
    with _naming(path), path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, its line ends as they are, whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_bytes(path: Path) -> bytes:
    """Read a whole file. Raises ModelError for one that is larger than any that a run needs, OSError as usual."""
    if path.stat().st_size > _LARGEST:
        raise ModelError(f"{path}: larger than {_LARGEST:,} bytes; no file of this kind is")
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Read JSON written by `write_json`. Raises ModelError if the file is damaged, OSError if it is missing."""
    try:
        return json.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"{path}: damaged ({error}); delete it and run the command again"
        ) from None
