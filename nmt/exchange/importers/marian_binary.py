"""Marian's binary models (`.bin`), such as those of Firefox Translations, as arrays of plain fractions.

    u64 version (1), u64 n
    n × (u64 bytes of the name, u64 type, u64 axes, u64 bytes of the data)
    n names that end with NUL, n shapes of i32
    u64 padding, that many bytes, n blocks of data

All are little-endian (marian-dev, src/common/binary.cpp). A quantised matrix has one float32 behind its numbers:
what they were multiplied with. Matrices for intgemm lie with their axes exchanged; tables of embeddings do not.
"""

import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nmt.errors import ModelError
from nmt.exchange.importers.fields import brief
from nmt.exchange.marian_format import (
    ACTIVATIONS,
    FLOAT32,
    INT8,
    INTGEMM8,
    MULTIPLIER,
    TABLES,
    VERSION,
)

Array = np.ndarray[Any, Any]
_MOST_ARRAYS = 10_000
_LONGEST_NAME = 200  # bytes
_MOST_AXES = 4
_WIDTHS = {FLOAT32: 4, INT8: 1, INTGEMM8: 1}  # bytes of a number


@dataclass(frozen=True)
class _Header:
    """What a file says of one array; lengths in bytes."""

    name_length: int
    kind: int
    axes: int
    length: int


@dataclass(frozen=True)
class Stored:
    """An array as it lies in a file, which has all of its numbers."""

    kind: int
    shape: tuple[int, ...]
    data: memoryview


def read_binary(content: bytes, place: str) -> dict[str, Array]:
    """The arrays of a model by name: float32, and text as int8. Raises ModelError if the file is not whole."""
    with _telling_what_is_damaged(place):
        stored = _stored(_Reader(content))
        return {
            name: _array(name, each)
            for name, each in stored.items()
            if not name.endswith(ACTIVATIONS)
        }


def read_stored(content: bytes, place: str) -> dict[str, Stored]:
    """The arrays as they lie there, by name. Raises ModelError if the file is not whole."""
    with _telling_what_is_damaged(place):
        return _stored(_Reader(content))


@contextmanager
def _telling_what_is_damaged(place: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        message = f"not a whole .bin of Marian's ({error}); fetch it again"
        raise ModelError(f"{place}: {message}") from None


class _Reader:
    """Takes a file apart from its beginning. Raises ValueError where it ends too early."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self._place = 0

    def take(self, count: int) -> memoryview:
        """The next bytes."""
        end = self._place + count
        if end > len(self._content):
            raise ValueError(f"it ends at byte {len(self._content):,}, before byte {end:,}")
        taken = self._content[self._place : end]
        self._place = end
        return taken

    def numbers(self, form: str, count: int) -> tuple[int, ...]:
        """Whole numbers, `form` as struct has it."""
        layout = struct.Struct(f"<{count}{form}")
        return layout.unpack(self.take(layout.size))


def _stored(reader: _Reader) -> dict[str, Stored]:
    version, count = reader.numbers("Q", 2)
    if version != VERSION:
        raise ValueError(f"it begins with {version} instead of {VERSION}")
    if count > _MOST_ARRAYS:
        raise ValueError(f"{count:,} arrays are more than {_MOST_ARRAYS:,}")
    headers = [_header(reader) for _ in range(count)]
    names = [_name(reader.take(header.name_length)) for header in headers]
    shapes = [reader.numbers("i", header.axes) for header in headers]
    (padding,) = reader.numbers("Q", 1)
    reader.take(padding)
    stored: dict[str, Stored] = {}
    for name, header, shape in zip(names, headers, shapes, strict=True):
        data = reader.take(header.length)
        if name in stored:
            raise ValueError(f"{brief(name)} is in it twice")
        _check(name, header.kind, shape, len(data))
        stored[name] = Stored(header.kind, shape, data)
    return stored


def _header(reader: _Reader) -> _Header:
    header = _Header(*reader.numbers("Q", 4))
    if not 0 < header.name_length <= _LONGEST_NAME:
        raise ValueError(f"a name of {header.name_length:,} bytes")
    if header.axes > _MOST_AXES:
        raise ValueError(f"an array of {header.axes:,} axes")
    return header


def _name(data: memoryview) -> str:
    try:
        return bytes(data).rstrip(b"\0").decode()
    except UnicodeDecodeError:
        raise ValueError("a name that is not UTF-8") from None


def _check(name: str, kind: int, shape: tuple[int, ...], length: int) -> None:
    """Raise ValueError unless so many bytes hold an array of this kind and shape."""
    if min(shape, default=1) < 0:
        raise ValueError(f"{brief(name)} has the shape {list(shape)}")
    if kind not in _WIDTHS or (kind == INTGEMM8 and len(shape) > 2):
        raise ValueError(f"{brief(name)} has {len(shape)} axes of type {kind:#x}")
    used = math.prod(shape) * _WIDTHS[kind] + (MULTIPLIER.size if kind == INTGEMM8 else 0)
    if used > length:
        raise ValueError(f"{brief(name)} needs {used:,} bytes and has {length:,}")


def _array(name: str, stored: Stored) -> Array:
    """An array in the shape that the file gives it."""
    count = math.prod(stored.shape)
    if stored.kind == INTGEMM8:
        return _dequantised(name, stored)
    kind = "<f4" if stored.kind == FLOAT32 else np.int8
    return np.frombuffer(stored.data, kind, count).reshape(stored.shape).copy()


def _dequantised(name: str, stored: Stored) -> Array:
    if len(stored.shape) != 2:
        raise ValueError(f"{brief(name)} has {len(stored.shape)} axes of type {INTGEMM8:#x}")
    rows, columns = stored.shape
    numbers = np.frombuffer(stored.data, np.int8, rows * columns)
    (multiplier,) = MULTIPLIER.unpack_from(stored.data, rows * columns)
    if not (math.isfinite(multiplier) and multiplier > 0):
        raise ValueError(f"{brief(name)} is divided by {multiplier}")
    if name.endswith(TABLES):
        lying = numbers.reshape(rows, columns)
    else:
        lying = numbers.reshape(columns, rows).T
    with np.errstate(over="ignore"):  # what becomes infinite is refused with the other weights
        return lying.astype(np.float32) / np.float32(multiplier)
