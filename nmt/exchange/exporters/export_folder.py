"""A folder that is exported: it appears whole or not at all, and replaces nothing but an export of nmt's.

`export.json` in it says what it holds and where that comes from, and has the SHA-256 of every other file.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmt import __version__
from nmt.errors import ModelError
from nmt.files import (
    checksum,
    read_json,
    refuse_taken,
    refuse_unwritable,
    replacing,
    write_json,
)
from nmt.run.folder import EXPORT

_FIX = "name another folder, or --overwrite it"
_FIX_OF_FOREIGN = "it is not as nmt exported it: move it away, or name another folder"


@contextmanager
def export_folder(folder: Path, overwrite: bool, contents: dict[str, Any]) -> Iterator[Path]:
    """Yield an empty folder to write in; on success it becomes `folder`, with `contents` in its export.json.

    Raises ConfigError as `refuse_to_replace` does.
    """
    refuse_to_replace(folder, overwrite)
    with replacing(folder) as part:
        part.mkdir()
        yield part
        write_json(part / EXPORT, {"nmt": __version__, **contents, "sha256": _hashes(part)})
        refuse_to_replace(folder, overwrite)  # something may have appeared there meanwhile


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Raise ConfigError unless a folder is free, or may be overwritten and is as nmt exported it."""
    refuse_unwritable(folder.parent)
    if not (overwrite and _is_own(folder)):
        refuse_taken(folder, _FIX_OF_FOREIGN if overwrite else _FIX)


def _is_own(folder: Path) -> bool:
    """Whether a folder holds, byte for byte, the files that nmt exported, and nothing beside them."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if any(path.is_symlink() or not (path.is_file() or path.is_dir()) for path in _inside(folder)):
        return False  # a pipe would never end
    try:
        hashes = read_json(folder / EXPORT)["sha256"]
    except (OSError, ModelError, KeyError, TypeError):
        return False
    return bool(hashes == _hashes(folder)) and _folders(folder) == _folders_of(hashes)


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def _hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder but its record, by its path there."""
    files = [path for path in _inside(folder) if path.is_file() and path != folder / EXPORT]
    return {path.relative_to(folder).as_posix(): checksum(path) for path in files}


def _folders(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in _inside(folder) if path.is_dir()}


def _folders_of(files: Iterable[str]) -> set[str]:
    """The folders that these files lie in."""
    return {above.as_posix() for file in files for above in Path(file).parents} - {"."}


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in _inside(folder) if path.is_file())
