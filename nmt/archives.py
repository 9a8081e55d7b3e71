"""Untrusted zip archives: nothing in them unpacks to more than the archive is large."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path

from nmt.errors import ModelError

_DAMAGED = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,  # such as a place before the file's begin, or a name that is not UTF-8
    zlib.error,  # of files that are stored, and said to be compressed
    LZMAError,
)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive whose files are stored as they are. Raises ModelError for a damaged or a compressed one.

    torch and Marian store numbers uncompressed, so a small archive that promises much is hostile.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise _damaged(path, error) from None
    with archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > path.stat().st_size:
            what = f"says that it holds {unpacked:,} bytes, more than its size"
            raise ModelError(f"{path}: {what}; store its files uncompressed")
        try:
            yield archive
        except _DAMAGED as error:
            raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path}: a damaged archive ({error}); take a whole copy of it")
