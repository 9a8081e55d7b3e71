"""Files that appear whole or not at all, folders that one process at a time may change, and bounded reading."""

import errno
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmt.errors import ModelError, UserError

PART = ".part"  # ends the name of every folder that holds unfinished work
# Bytes of a file that is read at once. A small archive may hold an endless file, as a hole.
_LARGEST = 2**28
# `.NAME.RANDOM.part` stands beside NAME while that is written or deleted.
_WORK = re.compile(rf"\.(?P<name>.+)\.[^.]+{re.escape(PART)}")
_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


# --- writing ---


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`; on success it is synced and renamed to `path`, else removed.

    The neighbour does not exist yet: the caller makes it a file or a folder.
    Raises UserError if the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent))
    new = work / path.name
    try:
        with _naming_the_full_disk(path):
            yield new
            for inner in sorted(new.rglob("*")):
                sync(inner)
            sync(new)
        if new.is_dir() and path.is_dir():  # a folder that is not empty cannot be replaced at once
            path.replace(work / "old")
        new.replace(path)
        sync(path.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, its line ends as they are, whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def append_text(path: Path, text: str) -> None:
    """Append to a file. Raises UserError if the disk is full."""
    with _naming_the_full_disk(path), path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def _naming_the_full_disk(path: Path) -> Iterator[None]:
    """Name the file if the disk is full. The system's own error does not."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_IS_FULL:
            raise
        fix = "free some space; everything written before is intact"
        raise UserError(f"{path}: cannot be written ({error.strerror}); {fix}") from None


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


# --- reading ---


def read_bytes(path: Path) -> bytes:
    """Read a whole file. Raises ModelError if it is larger than any file of a run, OSError as usual."""
    if path.stat().st_size > _LARGEST:
        raise ModelError(f"{path}: larger than {_LARGEST:,} bytes; no file of this kind is")
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Read JSON written by `write_json`. Raises ModelError if the file is damaged, OSError if it is missing."""
    try:
        return json.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        fix = "delete it and run the command again"
        raise ModelError(f"{path}: damaged ({error}); {fix}") from None


# --- folders that one process at a time may change ---


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if need be, and keep other processes from changing it meanwhile.

    The system frees the lock of a process that dies; its unfinished work is cleared away here.
    Raises UserError if another process holds the lock, or if a link in the folder leads elsewhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_links(folder)
    refuse_special_files(folder)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "another process is at work in this folder; wait for it, or stop it"
            raise UserError(f"{folder}: {message}") from None
        _clear_unfinished_work(folder)
        yield


def _refuse_links(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_symlink():
            message = "a link, through which files elsewhere would be written"
            raise UserError(f"{path}: {message}; put a file or folder there")


def refuse_special_files(folder: Path) -> None:
    """Raise ModelError for a pipe or a device in a folder: reading it might never end."""
    for path in folder.rglob("*"):
        if not (path.is_file() or path.is_dir()):
            raise ModelError(f"{path}: neither a file nor a folder; take it out of {folder}")


def _clear_unfinished_work(folder: Path) -> None:
    for work in list(folder.rglob(f".*{PART}")):
        made_for = _WORK.fullmatch(work.name)
        if made_for is None:
            continue
        path = work.with_name(made_for["name"])
        # A process that was killed between two renames leaves the old folder, and the new one is whole in `work`.
        if (work / "old").exists() and not path.exists():
            (work / path.name).rename(path)
        shutil.rmtree(work, ignore_errors=True)
