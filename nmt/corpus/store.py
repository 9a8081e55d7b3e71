"""Encoded pairs on disk, opened in no time whatever their number: ids are read through memory maps.

A store is a folder: `src.ids` and `tgt.ids` (all ids end to end), `offsets.npy` (int64 [N+1, 2], where each
sentence starts), `meta.json` (the count, the ids' width, both sides' fingerprints).
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from nmt.errors import ModelError
from nmt.files import read_json, replacing, write_json
from nmt.run_dir import SIDES

Ids = npt.NDArray[np.integer]
Int32 = npt.NDArray[np.int32]
Sizes = tuple[int, int]  # of both vocabularies
Block = tuple[
    Ids, Ids, Ids
]  # of some pairs: source ids, target ids, end to end, and their counts [n, 2]
_BLOCK = 4096  # pairs that are read at a time
_DTYPES: dict[str, type[np.integer]] = {"uint16": np.uint16, "int32": np.int32}


class ParallelCorpus:
    """N encoded pairs: `corpus[i]` is (source ids [S], target ids [T]) as views, without BOS and EOS."""

    def __init__(self, path: Path, fingerprints: tuple[str, str] | None = None) -> None:
        """Open a store. Raises ModelError if it is damaged or was encoded with other vocabularies."""
        self._path = path
        try:
            meta = read_json(path / "meta.json")
            self.fingerprints: tuple[str, str] = (meta["src"], meta["tgt"])
            self._ids = [_map_ids(path / f"{side}.ids", _DTYPES[meta["dtype"]]) for side in SIDES]
            self._offsets = np.lib.format.open_memmap(path / "offsets.npy", mode="r")
            shape = (meta["pairs"] + 1, 2)
            whole = self._offsets.dtype == np.int64 and self._offsets.shape == shape
            whole = whole and self._offsets[-1].tolist() == [len(ids) for ids in self._ids]
        except Exception as error:  # numpy raises whatever the damage leads it into
            raise ModelError(
                f"{path}: missing or damaged ({error}); run nmt build-vocab again"
            ) from None
        if not whole:
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
        """Count the tokens of each sentence, int32 [N, 2]. Raises ModelError if the offsets cannot be true."""
        lengths = np.diff(self._offsets, axis=0)
        if self._offsets[0].any() or (len(lengths) and lengths.min() < 0):
            raise ModelError(f"{self._path}: its sentences overlap; run nmt build-vocab again")
        return cast(Int32, lengths.astype(np.int32))

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """The pairs from `first` to before `last`, some at a time."""
        for start in range(first, last, _BLOCK):
            offsets = self._offsets[start : min(start + _BLOCK, last) + 1]
            src, tgt = (ids[offsets[0, i] : offsets[-1, i]] for i, ids in enumerate(self._ids))
            yield src, tgt, np.diff(offsets, axis=0)


def _map_ids(path: Path, dtype: type[np.integer]) -> Ids:
    """Map a file of ids; an empty one cannot be mapped."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)


def write_store(
    path: Path, blocks: Iterable[Block], vocab_sizes: Sizes, fingerprints: tuple[str, str]
) -> int:
    """Write a store, whole or not at all; gives the number of pairs."""
    width = "uint16" if max(vocab_sizes) <= 2**16 else "int32"
    dtypes = {"src.ids": _DTYPES[width], "tgt.ids": _DTYPES[width], "lengths": np.int32}
    with replacing(path) as part:
        part.mkdir()
        with ExitStack() as stack:
            files = [stack.enter_context((part / name).open("wb")) for name in dtypes]
            for each in blocks:
                for file, dtype, data in zip(files, dtypes.values(), each, strict=True):
                    file.write(data.astype(dtype).tobytes())
        count = _write_offsets(part)
        meta = {"pairs": count, "dtype": width} | dict(zip(SIDES, fingerprints, strict=True))
        write_json(part / "meta.json", meta)
    return count


def _write_offsets(part: Path) -> int:
    """Sum up the lengths that were written; gives the number of pairs."""
    lengths = np.fromfile(part / "lengths", np.int32).reshape(-1, 2)
    offsets = np.zeros((len(lengths) + 1, 2), np.int64)
    np.cumsum(lengths, axis=0, out=offsets[1:])
    np.save(part / "offsets.npy", offsets, allow_pickle=False)
    (part / "lengths").unlink()
    return len(lengths)
