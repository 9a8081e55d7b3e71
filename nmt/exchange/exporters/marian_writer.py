"""Marian's binary models, as `importers/marian_binary.py` describes them, in int8."""

import struct
from typing import NamedTuple

import numpy as np

from nmt.exchange.exporters.arrays import Array
from nmt.exchange.marian_format import (
    ACTIVATIONS,
    ALIGNMENT,
    FLOAT32,
    INT8,
    INTGEMM8,
    MULTIPLIER,
    SETTINGS,
    TABLES,
    VERSION,
)

LARGEST = 127  # of int8, in absolute value


class Item(NamedTuple):
    """One array of a file."""

    name: str
    kind: int
    shape: tuple[int, ...]
    data: bytes


def in_int8(arrays: dict[str, Array], multipliers: dict[str, float]) -> list[Item]:
    """Tables and matrices in int8; `multipliers` of the inputs, by the name of the matrix."""
    items = []
    for name, array in arrays.items():
        if name.endswith(TABLES):
            items.append(_quantised(name, array, array))
        elif name in multipliers:
            items.append(_quantised(name, array, array.T))
        else:
            items.append(_float(name, array))
    for name, multiplier in multipliers.items():
        items.append(_activation(f"{name}{ACTIVATIONS}", multiplier))
    return items


def write_binary(items: list[Item], settings: str) -> bytes:
    """A whole file, with its settings in YAML."""
    text = settings.encode() + b"\0"
    return packed([*items, Item(SETTINGS, INT8, (len(text),), text)])


def packed(items: list[Item]) -> bytes:
    """A file of these arrays, whose data begin at multiples of 256."""
    names = [item.name.encode() + b"\0" for item in items]
    blocks = [item.data + bytes(-len(item.data) % ALIGNMENT) for item in items]
    head = [struct.pack("<QQ", VERSION, len(items))]
    for item, name, block in zip(items, names, blocks, strict=True):
        head.append(struct.pack("<QQQQ", len(name), item.kind, len(item.shape), len(block)))
    head += names
    head += [struct.pack(f"<{len(item.shape)}i", *item.shape) for item in items]
    padding = -(sum(map(len, head)) + 8) % ALIGNMENT
    return b"".join([*head, struct.pack("<Q", padding), bytes(padding), *blocks])


def _float(name: str, array: Array) -> Item:
    return Item(name, FLOAT32, array.shape, array.astype("<f4").tobytes())


def _quantised(name: str, array: Array, lying: Array) -> Item:
    """An array of the shape of `array`, its numbers in the order of `lying`."""
    largest = float(np.abs(array).max())
    multiplier = LARGEST / largest if largest else 1.0
    numbers = np.clip(np.rint(lying * np.float32(multiplier)), -LARGEST, LARGEST)
    data = np.ascontiguousarray(numbers, np.int8).tobytes() + MULTIPLIER.pack(multiplier)
    return Item(name, INTGEMM8, array.shape, data)


def _activation(name: str, multiplier: float) -> Item:
    """A number; those of tables are in int8, as all that Marian's converter finds under a table's name."""
    if TABLES in name:
        data = bytes([LARGEST]) + MULTIPLIER.pack(LARGEST / multiplier)
        return Item(name, INTGEMM8, (1, 1), data)
    return Item(name, FLOAT32, (1, 1), MULTIPLIER.pack(multiplier))
