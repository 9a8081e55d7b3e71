"""Weights from a file of `torch.save`: a zip, or the format of torch before 1.6.

Such a file holds a pickle, a program that builds objects. It is not executed: `_build` follows the few instructions
that describe a dict of tensors, and refuses all others. (`torch.load(weights_only=True)` executes no code either, but
reserves as much memory as a legacy file asks for, and may hash a key for ever.) No more is read than the file holds.

The formats: torch/serialization.py, `_save` and `_legacy_save`.
"""

import io
import math
import pickletools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import torch
from torch import Tensor

from nmt.errors import ModelError
from nmt.exchange.importers.archives import open_archive
from nmt.exchange.importers.fields import brief
from nmt.files import unreadable

Readable = io.BytesIO | mmap

_ZIP = b"PK\x03\x04"  # how a zip begins
_MAGIC = 0x1950A86A20F9469CFC6C  # the first pickle of a legacy file
_MOST_INSTRUCTIONS = 10**6  # of a pickle; a model of a thousand tensors has 30,000
_DTYPES = {
    "torch FloatStorage": torch.float32,
    "torch HalfStorage": torch.float16,
    "torch BFloat16Storage": torch.bfloat16,
    "torch DoubleStorage": torch.float64,
}


@dataclass(frozen=True)
class _Storage:
    """A run of numbers in the file."""

    key: str
    dtype: torch.dtype
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.dtype.itemsize


class _Tensor(NamedTuple):
    """Part of a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Name:
    """A function or class that a pickle names."""

    name: str


def read_torch_file(path: Path) -> dict[str, Tensor]:
    """The tensors that a file holds, by name. Raises ModelError if it holds anything else, or is damaged."""
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) == _ZIP:
                return _read_zip(path)
            # Unlike a file, a map does not reserve memory for what somebody wants to read beyond its end.
            with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
                return _read_legacy(content, path)
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error) as error:
        reason = str(error) if isinstance(error, ValueError) else type(error).__name__
        message = "not a dict of tensors as torch.save writes it"
        raise ModelError(f"{path}: {message} ({reason[:80]})") from None


# --- the two formats ---


def _read_zip(path: Path) -> dict[str, Tensor]:
    """Files in an archive: `NAME/data.pkl`, and each storage as `NAME/data/KEY`."""
    with open_archive(path) as archive:
        pickles = [name for name in archive.namelist() if name.rpartition("/")[2] == "data.pkl"]
        if len(pickles) != 1:
            raise ValueError(f"{len(pickles)} files data.pkl in the archive")
        folder = pickles[0].removesuffix("data.pkl")
        if f"{folder}byteorder" in archive.namelist():
            _refuse_big_endian(archive.read(f"{folder}byteorder") == b"little")
        tensors = _tensors(_build(io.BytesIO(archive.read(pickles[0]))))
        storages = _storages(tensors, path)
        numbers = {}
        for key, storage in storages.items():
            numbers[key] = _numbers(storage, archive.read(f"{folder}data/{key}"))
    return _filled(tensors, numbers)


def _read_legacy(file: Readable, path: Path) -> dict[str, Tensor]:
    """Five pickles (a magic number, a version, the writer's machine, the dict, its keys), then the storages."""
    if _build(file) != _MAGIC:
        raise ValueError("it does not begin like one")
    _version = _build(file)
    _refuse_big_endian(_build(file)["little_endian"])
    tensors = _tensors(_build(file))
    keys = _build(file)
    storages = _storages(tensors, path)
    numbers = {}
    for key in keys:
        if not isinstance(key, str) or key not in storages:
            raise ValueError("a storage that no tensor uses")
        (count,) = struct.unpack("<q", file.read(8))
        if count != storages[key].count:
            raise ValueError(f"storage {brief(key)} has another length than its tensors say")
        numbers[key] = _numbers(storages[key], file.read(storages[key].size))
    return _filled(tensors, numbers)


def _refuse_big_endian(is_little: object) -> None:
    if is_little is not True:
        raise ValueError("written on a big-endian machine")


def _storages(tensors: dict[str, _Tensor], path: Path) -> dict[str, _Storage]:
    """What is to be read, by key. Raises ModelError, before anything is read, for more than the file can hold."""
    storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    claimed = sum(storage.size for storage in storages.values())
    if claimed > path.stat().st_size:
        raise ModelError(f"{path}: says that it holds {claimed:,} bytes, more than its size")
    return storages


def _tensors(built: Any) -> dict[str, _Tensor]:
    """The dict that was built. Raises ValueError if something in it is no tensor."""
    if not isinstance(built, dict):
        raise ValueError("no dict")  # noqa: TRY004 - all that is wrong with a file is a ValueError here
    for name, value in built.items():
        if not isinstance(value, _Tensor):
            raise ValueError(f"{brief(name)} is no tensor")  # noqa: TRY004
    return built


def _numbers(storage: _Storage, data: bytes) -> Tensor:
    """The content of a storage, flat."""
    if len(data) != storage.size:
        raise ValueError(f"storage {brief(storage.key)} is not as long as its tensors say")
    return torch.frombuffer(bytearray(data), dtype=storage.dtype)


def _filled(tensors: dict[str, _Tensor], numbers: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with their numbers. Those that share a storage share memory."""
    filled = {}
    for name, (storage, offset, shape) in tensors.items():
        flat = numbers[storage.key]
        if flat.dtype != storage.dtype or len(flat) != storage.count:
            raise ValueError(f"storage {brief(storage.key)} is described in two ways")
        filled[name] = flat[offset : offset + math.prod(shape)].view(shape)
    return filled


# --- a pickle, followed but not executed ---


def _build(file: Readable) -> Any:
    """What the pickle at the file's position describes; the position is then behind it."""
    builder = _Builder()
    instructions = pickletools.genops(cast(IO[bytes], file))
    for opcode, argument, _place in islice(instructions, _MOST_INSTRUCTIONS):
        if opcode.name == "STOP":
            return builder.stack.pop()
        if opcode.name in _PUSHED:
            builder.stack.append(argument)
        elif opcode.name in _CONSTANTS:
            builder.stack.append(_CONSTANTS[opcode.name]())
        elif opcode.name in _STEPS:
            _STEPS[opcode.name](builder, argument)
        else:
            raise ValueError(f"the instruction {opcode.name}")
    raise ValueError("a pickle without end")


class _Builder:
    """The stack machine of pickle (PEP 307), less all that could run code."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []  # the stacks before each mark
        self._memo: dict[int, Any] = {}

    def mark(self, _argument: Any) -> None:
        """What follows is gathered, until an instruction takes all of it."""
        self._below.append(self.stack)
        self.stack = []

    def _since_mark(self) -> list[Any]:
        gathered = self.stack
        self.stack = self._below.pop()
        return gathered

    def remember(self, place: int) -> None:
        """Note the newest value."""
        self._memo[place] = self.stack[-1]

    def recall(self, place: int) -> None:
        """Push a value that was noted."""
        self.stack.append(self._memo[place])

    def name(self, argument: str) -> None:
        """Push the name of a function or class."""
        self.stack.append(_Name(argument))

    def tuple(self, _argument: Any) -> None:
        """All since the mark."""
        gathered = self._since_mark()
        self.stack.append(tuple(gathered))

    def tuple_of(self, count: int) -> None:
        """The newest values."""
        gathered = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.stack.append(gathered)

    def set_items(self, _argument: Any) -> None:
        """Keys and values since the mark."""
        self._put(self._since_mark())

    def set_item(self, _argument: Any) -> None:
        """One key and its value."""
        value = self.stack.pop()
        self._put([self.stack.pop(), value])

    def _put(self, items: list[Any]) -> None:
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str):
                raise ValueError("a key that is no text")  # noqa: TRY004
            self._top(dict)[key] = value

    def extend(self, _argument: Any) -> None:
        """Put all since the mark into a list."""
        gathered = self._since_mark()
        self._top(list).extend(gathered)

    def append(self, _argument: Any) -> None:
        """Put one value into a list."""
        value = self.stack.pop()
        self._top(list).append(value)

    def _top(self, kind: type) -> Any:
        if not isinstance(self.stack[-1], kind):
            raise ValueError(f"items for what is no {kind.__name__}")  # noqa: TRY004
        return self.stack[-1]

    def set_state(self, _argument: Any) -> None:
        """The `_metadata` that torch's dicts carry: not needed."""
        self.stack.pop()
        self._top(dict)

    def storage(self, _argument: Any) -> None:
        """A reference to numbers: ("storage", FloatStorage, key, device, count), and in legacy files None."""
        kind, type_, key, _device, count, *rest = self.stack.pop()
        if kind != "storage" or rest not in ([], [None]) or not isinstance(key, str):
            raise ValueError("a reference that is no storage")
        if not _is_count(count):
            raise ValueError("a storage without a length")
        if type_.name not in _DTYPES:
            raise ValueError(f"numbers of the kind {type_.name}")
        self.stack.append(_Storage(key, _DTYPES[type_.name], count))

    def call(self, _argument: Any) -> None:
        """Follow one of the functions that describe tensors."""
        arguments = self.stack.pop()
        function = self.stack.pop()
        if not isinstance(function, _Name) or function.name not in _CALLS:
            raise ValueError(f"a call of {brief(getattr(function, 'name', None))}")
        self.stack.append(_CALLS[function.name](*arguments))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_rest: Any) -> _Tensor:
    """`torch._utils._rebuild_tensor_v2`: rows one after the other within their storage."""
    is_whole = all(_is_count(each) for each in (offset, *shape))
    if not (isinstance(storage, _Storage) and is_whole and len(shape) <= 2):
        raise ValueError("a tensor that is none")
    is_within = offset + math.prod(shape) <= storage.count
    if not is_within or tuple(stride) != tuple(_strides(shape)):
        raise ValueError("a tensor that is not stored row by row")
    return _Tensor(storage, offset, tuple(shape))


def _strides(shape: tuple[int, ...]) -> Iterator[int]:
    for axis in range(len(shape)):
        yield math.prod(max(1, size) for size in shape[axis + 1 :])


def _empty() -> dict[str, Any]:
    return {}


def _parameter(tensor: Any, *_rest: Any) -> Any:
    """`torch._utils._rebuild_parameter`."""
    return tensor


_CALLS: dict[str, Callable[..., Any]] = {
    "collections OrderedDict": _empty,
    "torch._utils _rebuild_tensor_v2": _tensor,
    "torch._utils _rebuild_parameter": _parameter,
}
# Instructions whose argument is the value.
_PUSHED = {"BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"}
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}
_STEPS: dict[str, Callable[[_Builder, Any], None]] = {
    "PROTO": lambda _builder, _version: None,
    "MARK": _Builder.mark,
    "GLOBAL": _Builder.name,
    "BINPUT": _Builder.remember,
    "LONG_BINPUT": _Builder.remember,
    "BINGET": _Builder.recall,
    "LONG_BINGET": _Builder.recall,
    "TUPLE": _Builder.tuple,
    "TUPLE1": lambda builder, _: builder.tuple_of(1),
    "TUPLE2": lambda builder, _: builder.tuple_of(2),
    "TUPLE3": lambda builder, _: builder.tuple_of(3),
    "SETITEMS": _Builder.set_items,
    "SETITEM": _Builder.set_item,
    "APPENDS": _Builder.extend,
    "APPEND": _Builder.append,
    "BUILD": _Builder.set_state,
    "BINPERSID": _Builder.storage,
    "REDUCE": _Builder.call,
}
