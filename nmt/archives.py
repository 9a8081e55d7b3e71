"""Untrusted archives: a zip unpacks to no more than it is large, gzip to no more than a limit."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path

from nmt.errors import ModelError
from nmt.files import read_bytes

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
_LARGEST = 2**28  # bytes of an unpacked file: six times Mozilla's largest models in int8


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


def read_unpacked(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends with .gz.

    Raises ModelError for a damaged archive, OSError for a file that cannot be read.
    """
    packed = read_bytes(path)
    if path.suffix != ".gz":
        return packed
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(_LARGEST + 1)
    except _DAMAGED as error:
        raise _damaged(path, error) from None
    if len(content) > _LARGEST:
        raise ModelError(f"{path}: unpacks to more than {_LARGEST:,} bytes; unpack it yourself")
    return content


def _damaged(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path}: a damaged archive ({error}); take a whole copy of it")
