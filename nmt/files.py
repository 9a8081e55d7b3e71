"""Files that appear whole or not at all, what one process at a time may change, and bounded reading."""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, ModelError, UserError

PART = ".part"  # ends the name of every folder that holds unfinished work
# Bytes of a file that is read at once. A small archive may hold an endless file, as a hole.
_LARGEST = 2**28
# `.NAME.RANDOM.part` is beside NAME while that is written, `.NAME.old.part` while it is deleted.
_WORK = re.compile(rf"\.(?P<name>.+)\.(?P<why>[a-z0-9_]{{8}}|old){re.escape(PART)}")
# What only a stage itself reads.
_SCRATCH = re.compile(rf"\.(stage|prepare|tokens)\.[a-z0-9_]{{8}}{re.escape(PART)}")
_FREE_SPACE = "free some space; everything written before is intact"
_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


# --- writing ---


@contextmanager
def replacing(path: Path, fix: str = _FREE_SPACE) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`; on success it is synced and renamed to `path`, else removed.

    The neighbour does not exist yet: the caller makes it a file or a folder.
    Raises UserError, which tells the `fix`, if the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent))
    new = work / path.name
    old = work / "old"
    try:
        with _naming_the_full_disk(path, fix):
            yield new
            for inner in sorted(new.rglob("*")):
                sync(inner)
            sync(new)
        if new.is_dir() and path.is_dir():  # a folder that is not empty cannot be replaced at once
            path.replace(old)
        new.replace(path)
        sync(path.parent)
    finally:
        if old.exists() and not path.exists():  # a signal came between the two
            old.replace(path)
        shutil.rmtree(work, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, its line ends as they are, whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def writable(text: str) -> str:
    """The text, with what UTF-8 cannot write escaped: the bytes of a file name that is not UTF-8."""
    return text.encode(errors="backslashreplace").decode()


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def append_text(path: Path, text: str) -> None:
    """Append to a file. Raises UserError if the disk is full."""
    with _naming_the_full_disk(path), path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def _naming_the_full_disk(path: Path, fix: str = _FREE_SPACE) -> Iterator[None]:
    """Name the file if the disk is full. The system's own error does not."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_IS_FULL:
            raise
        raise UserError(f"{path}: cannot be written ({error.strerror}); {fix}") from None


def sync(path: Path) -> None:
    """Push a file, or a folder's list of names, to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(folders: Sequence[Path]) -> None:
    """Delete folders so that nobody finds half of one, even if this process is killed meanwhile."""
    doomed = [folder.with_name(f".{folder.name}.old{PART}") for folder in folders]
    for folder, work in zip(folders, doomed, strict=True):
        folder.rename(work)
    for work in doomed:
        shutil.rmtree(work, ignore_errors=True)


# --- reading ---


def unreadable(path: Path | str, error: OSError) -> str:
    """One line about a file that cannot be read: the place, the reason, the fix."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{path}: no such file; name an existing one (relative paths start at {Path.cwd()})"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a folder; name a file in it"
    fix = "name another file, or check the disk"
    if isinstance(error, PermissionError):
        fix = "check the permissions of the file and of its folders"
    return f"{path}: cannot be read ({error.strerror}); {fix}"


@contextmanager
def readable_or(kind: type[UserError]) -> Iterator[None]:
    """Raise this kind of error, by `unreadable`, for a file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise kind(unreadable(str(error.filename or "a file"), error)) from None


def refuse_unreadable(path: Path, kind: type[UserError]) -> None:
    """Raise this kind of error for a file that is missing, a folder, or not ours to read; nothing is opened."""
    with readable_or(kind):
        if stat.S_ISDIR(path.stat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def read_bytes(path: Path) -> bytes:
    """Read a whole file. Raises ModelError if it is larger than any file of a run, OSError as usual."""
    if path.stat().st_size > _LARGEST:
        raise ModelError(f"{path}: larger than {_LARGEST:,} bytes; no file of this kind is")
    return path.read_bytes()


def read_json(path: Path, fix: str = "delete it and run the command again") -> Any:
    """Read JSON of `write_json`. Raises ModelError with this `fix` if it is damaged, OSError if it is missing."""
    try:
        return json.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: damaged ({error}); {fix}") from None


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_special_files(places: Iterable[Path]) -> None:
    """Raise ModelError for a pipe or a device among these files, or in these folders: reading it might never end.

    What another process renames or deletes meanwhile is passed over.
    """
    for path in _within(places):
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ModelError(f"{path}: neither a file nor a folder; take it out of {path.parent}")


def _within(places: Iterable[Path]) -> Iterator[Path]:
    """The places themselves, and what is in them, two folders deep; unfinished work left out."""
    for place in places:
        yield place
        for child in _children(place):
            if not child.name.endswith(PART):
                yield child
                yield from _children(child)


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


# --- what one process at a time may change ---


@contextmanager
def opened_alone(path: Path) -> Iterator[FileIO]:
    """Open a file to append to, once no other process has it open so. The system ends the turn of one that dies."""
    with path.open("ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


@contextmanager
def locked(folder: Path, places: Sequence[Path]) -> Iterator[None]:
    """Make the folder if need be, and keep other processes from changing it meanwhile.

    `places` are the files and folders in it that are ours. The system frees the lock of a process that dies; the
    unfinished work that it left in our places is cleared away here. A folder in which nothing was done is not left
    behind. Raises UserError if another process holds the lock, ConfigError if the folder is a file, or if one of our
    places is a link that leads elsewhere.
    """
    lock = folder / ".lock"
    made = _make(folder)
    try:
        _refuse_links([lock, *places])
        refuse_special_files([lock, *places])
        before = _names(folder)
        with lock.open("a") as file:
            _hold(lock, file.fileno())
            try:
                _clear_unfinished_work(folder, places)
                yield
            finally:
                if _names(folder) - before == {lock.name}:
                    lock.unlink()
    finally:
        for each in made:
            with suppress(OSError):  # it is in use
                each.rmdir()


def _make(folder: Path) -> list[Path]:
    """Make a folder; gives what was made for it, itself first. Raises ConfigError as `refuse_unwritable` does."""
    refuse_unwritable(folder)
    around = [folder, *folder.parents]
    missing = [path for path in around if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def refuse_taken(folder: Path, fix: str) -> None:
    """Raise ConfigError unless a folder is free: absent or empty, where it can be made. `fix` says what else to do."""
    refuse_unwritable(folder.parent)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"{folder}: is no folder; {fix}")
    if folder.is_dir() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty; {fix}")


def refuse_unwritable(folder: Path) -> None:
    """Raise ConfigError for a folder in which nothing can be made, or, where it is not there, neither can it."""
    with readable_or(ConfigError):
        around = next(path for path in (folder, *folder.parents) if _is_taken(path))
    if not around.is_dir():
        message = "there is a file where a folder is needed"
        raise ConfigError(f"{around}: {message}; name another folder")
    if not os.access(around, os.W_OK | os.X_OK):
        place = "" if around == folder else f"{around.absolute()} "
        is_fixed = os.statvfs(around).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_fixed else errno.EACCES)
        raise ConfigError(f"{folder}: {place}cannot be written to ({reason}); name another folder")


def _is_taken(path: Path) -> bool:
    """Whether there is something, be it a link that leads nowhere."""
    return path.exists() or path.is_symlink()


def _names(folder: Path) -> set[str]:
    return {path.name for path in _children(folder)}


def _hold(lock: Path, descriptor: int) -> None:
    """Hold an open lock until it is closed. Raises UserError if another process holds it, or has just removed it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), lock.stat()):
            return
    except (BlockingIOError, FileNotFoundError):
        pass
    message = "another process is working in this folder; wait for it or stop it"
    raise UserError(f"{lock.parent}: {message}")


def _refuse_links(places: Iterable[Path]) -> None:
    for path in places:
        if path.is_symlink():
            message = "a link, through which files elsewhere would be written"
            raise ConfigError(f"{path}: {message}; put a file or folder there")


def _clear_unfinished_work(folder: Path, places: Sequence[Path]) -> None:
    """Delete what a killed process left half written or half deleted in our places; other folders stay."""
    for around in (folder, *places):
        for work in filter(Path.is_dir, _children(around)):
            made_for = _WORK.fullmatch(work.name)
            if around == folder and _SCRATCH.fullmatch(work.name):
                shutil.rmtree(work, ignore_errors=True)
            elif made_for is not None:
                path = around / made_for["name"]
                in_our_place = around in places or path in places
                is_ours = made_for["why"] == "old" or _names(work) <= {path.name, "old"}
                if in_our_place and is_ours:
                    _clear(work, path)


def _clear(work: Path, path: Path) -> None:
    # A process that was killed between two renames leaves the old folder, and the new one is whole in `work`.
    if (work / "old").exists() and not path.exists():
        (work / path.name).rename(path)
    shutil.rmtree(work, ignore_errors=True)


# --- the user's cache ---


def user_cache(name: str) -> Path:
    """A folder for what can be made or fetched again, in $XDG_CACHE_HOME or else in the home folder's .cache.

    Raises RuntimeError if neither is known.
    """
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "nmt" / name
