"""Which pairs of a corpus are repeats: decided at once, for all pairs, from a key of 8 bytes each.

The keys wait on disk, in buckets: equal keys are in the same one, so each is decided alone. The memory is that of one
bucket, half a byte for each pair of the corpus. A set of Python takes 75 to 100 bytes a key.

Shapes: m keys in a bucket.
"""

from array import array
from io import BufferedReader
from pathlib import Path

import numpy as np

_BUCKETS = 64
_WAITING = 1024  # keys of a bucket that wait in memory


class Repeats:
    """Keys go in one by one; then the same keys are asked for, in the same order."""

    def __init__(self, folder: Path) -> None:
        """`folder` is for the buckets alone."""
        folder.mkdir()
        self._files = [folder / f"keys{bucket}" for bucket in range(_BUCKETS)]
        self._waiting = [array("Q") for _ in range(_BUCKETS)]
        self._flags: dict[int, BufferedReader] = {}

    def add(self, key: int) -> None:
        """Take a key of 64 bits."""
        bucket = key % _BUCKETS
        waiting = self._waiting[bucket]
        waiting.append(key)
        if len(waiting) >= _WAITING:
            self._write(bucket)

    def _write(self, bucket: int) -> None:
        with self._files[bucket].open("ab") as file:
            file.write(self._waiting[bucket].tobytes())
        self._waiting[bucket] = array("Q")

    def decide(self) -> int:
        """End the adding; gives how many different keys there are."""
        different = 0
        for bucket, file in enumerate(self._files):
            if self._waiting[bucket]:
                self._write(bucket)
            if not file.exists():
                continue
            keys = np.fromfile(file, np.uint64)  # [m]
            _, firsts = np.unique(keys, return_index=True)
            is_first = np.zeros(len(keys), np.uint8)  # [m]
            is_first[firsts] = 1
            file.write_bytes(is_first.tobytes())  # tofile tells no reason when the disk is full
            self._flags[bucket] = file.open("rb")
            different += len(firsts)
        return different

    def is_first(self, key: int) -> bool:
        """Whether no key before this one equals it. Each key is asked for once, in the order of adding."""
        return self._flags[key % _BUCKETS].read(1) == b"\x01"

    def close(self) -> None:
        """Close the buckets."""
        for file in self._flags.values():
            file.close()
