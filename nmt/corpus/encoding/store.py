"""Encoded pairs on disk, opened at once whatever their number: ids are read through memory maps.

A store is a folder:
    src.ids, tgt.ids   the ids of all sentences, end to end
    offsets.npy        int64 [N+1, 2]: where each sentence starts in them, and the end
    meta.json          the number of pairs, the type of the ids, the fingerprints of both sides

Shapes: N pairs in the store, n pairs in a block, S and T ids of a source and of a target sentence.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nmt.errors import ModelError
from nmt.files import read_json, replacing, write_json
from nmt.run.folder import SIDES

Ids = npt.NDArray[np.integer]
Int32 = npt.NDArray[np.int32]
Sizes = tuple[int, int]  # of both vocabularies

_BLOCK = 4096  # pairs that are read at a time
_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_DTYPES: dict[str, type[np.integer]] = {"uint16": np.uint16, "int32": np.int32}


class Block(NamedTuple):
    """Some pairs: the ids of each side end to end, and how many each sentence has."""

    src: Ids  # [sum of S]
    tgt: Ids  # [sum of T]
    lengths: Ids  # [n, 2]


class ParallelCorpus:
    """N encoded pairs: `corpus[i]` is (source ids [S], target ids [T]) as views, without BOS and EOS."""

    def __init__(self, path: Path, fingerprints: tuple[str, str] | None = None) -> None:
        """Open a store. Raises ModelError if it is damaged or was encoded with other vocabularies."""
        self._path = path
        try:
            meta = read_json(path / "meta.json")
            self.fingerprints: tuple[str, str] = (meta["src"], meta["tgt"])
            dtype = _DTYPES[meta["dtype"]]
            self._ids = [_map_ids(path / f"{side}.ids", dtype) for side in SIDES]
            self._offsets = _plain(
                np.lib.format.open_memmap(path / "offsets.npy", mode="r")
            )  # [N+1, 2]
            fits = self._offsets_fit(meta["pairs"])
        except Exception as error:  # numpy raises errors of many kinds for damaged files
            raise ModelError(
                f"{path}: missing or damaged ({error}); run nmt build-vocab again"
            ) from None
        if not fits:
            raise ModelError(f"{path}: its files do not fit together; run nmt build-vocab again")
        if fingerprints is not None and fingerprints != self.fingerprints:
            raise ModelError(
                f"{path}: encoded with other vocabularies than the run's; run nmt build-vocab again"
            )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: int) -> tuple[Ids, Ids]:
        start, end = self._offsets[index], self._offsets[index + 1]
        return self._ids[0][start[0] : end[0]], self._ids[1][start[1] : end[1]]

    @property
    def lengths(self) -> Int32:
        """Count the ids of each sentence, int32 [N, 2]. Raises ModelError if the offsets cannot be true."""
        lengths = np.empty((len(self), 2), _INT32)
        is_sound = not self._offsets[0].any()
        for start in range(0, len(self), _BLOCK):
            offsets = self._offsets[start : start + _BLOCK + 1]  # [n+1, 2]
            block = np.diff(offsets, axis=0)
            is_sound = is_sound and block.min() >= 0
            lengths[start : start + len(block)] = block
        if not is_sound:
            raise ModelError(f"{self._path}: its sentences overlap; run nmt build-vocab again")
        return lengths

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """The pairs from `first` to before `last`, some at a time."""
        for start in range(first, last, _BLOCK):
            end = min(start + _BLOCK, last)
            offsets = self._offsets[start : end + 1]  # [n+1, 2]
            src_start, tgt_start = offsets[0]
            src_end, tgt_end = offsets[-1]
            src_ids, tgt_ids = self._ids
            lengths = np.diff(offsets, axis=0)  # [n, 2]
            yield Block(src_ids[src_start:src_end], tgt_ids[tgt_start:tgt_end], lengths)

    def block_of(self, indices: Ids) -> Block:
        """The pairs of these indices [n], in their order."""
        starts = self._offsets[indices]  # [n, 2]
        lengths = self._offsets[indices + 1] - starts  # [n, 2]
        src, tgt = (
            ids[runs(starts[:, side], lengths[:, side])] for side, ids in enumerate(self._ids)
        )
        return Block(src, tgt, lengths)

    def _offsets_fit(self, pairs: int) -> bool:
        """Whether the offsets are of this many pairs, and end where the ids end."""
        return (
            self._offsets.dtype == np.int64
            and self._offsets.shape == (pairs + 1, 2)
            and self._offsets[-1].tolist() == [len(ids) for ids in self._ids]
        )


def _map_ids(path: Path, dtype: type[np.integer]) -> Ids:
    if path.stat().st_size == 0:
        return np.empty(0, dtype)  # an empty file cannot be mapped
    return _plain(np.memmap(path, dtype, "r"))


def _plain(mapped: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory as a plain array: to cut out a sentence takes a quarter of the time."""
    return mapped.view(np.ndarray)


def runs(starts: Ids, counts: Ids) -> Ids:
    """The places from each start on, so many of each, end to end: starts 5 and 9, counts 2 and 3 give 5 6 9 10 11."""
    before = np.cumsum(counts) - counts
    places: Ids = np.repeat((starts - before).astype(starts.dtype), counts)
    places += np.arange(len(places), dtype=places.dtype)
    return places


def write_store(
    path: Path, blocks: Iterable[Block], vocab_sizes: Sizes, fingerprints: tuple[str, str]
) -> int:
    """Write a store, whole or not at all; gives the number of pairs."""
    dtype_name = "uint16" if max(vocab_sizes) <= 2**16 else "int32"
    with replacing(path) as part:
        part.mkdir()
        _write_blocks(part, blocks, _DTYPES[dtype_name])
        pairs = _write_offsets(part)
        meta = {
            "pairs": pairs,
            "dtype": dtype_name,
            "src": fingerprints[0],
            "tgt": fingerprints[1],
        }
        write_json(part / "meta.json", meta)
    return pairs


def _write_blocks(part: Path, blocks: Iterable[Block], dtype: type[np.integer]) -> None:
    """Write the ids of both sides as they come, and the lengths of all sentences, [N, 2]."""
    with (
        (part / "src.ids").open("wb") as src,
        (part / "tgt.ids").open("wb") as tgt,
        (part / "lengths").open("wb") as lengths,
    ):
        for block in blocks:
            src.write(block.src.astype(dtype).tobytes())
            tgt.write(block.tgt.astype(dtype).tobytes())
            lengths.write(block.lengths.astype(_INT32).tobytes())


def _write_offsets(part: Path) -> int:
    """Sum up the lengths that were written, some at a time; gives the number of pairs."""
    path = part / "lengths"
    pairs = path.stat().st_size // (2 * _INT32.itemsize)
    header = {"descr": _INT64.str, "fortran_order": False, "shape": (pairs + 1, 2)}
    with path.open("rb") as lengths, (part / "offsets.npy").open("wb") as offsets:
        np.lib.format.write_array_header_1_0(offsets, header)
        end = np.zeros((1, 2), _INT64)
        offsets.write(end.tobytes())
        for start in range(0, pairs, _BLOCK):
            count = min(_BLOCK, pairs - start)
            block = np.fromfile(lengths, _INT32, 2 * count).reshape(count, 2)
            ends = end + np.cumsum(block, axis=0, dtype=_INT64)  # [n, 2]
            offsets.write(ends.tobytes())
            end = ends[-1:]
    path.unlink()
    return pairs
