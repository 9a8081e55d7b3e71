"""The keys of the sentences that a run is trained on, so that an evaluation can tell whether it tests on them.

The file is written beside the text, 16 bytes per pair: the keys (`nmt.corpus.identity.dedupe.side_key`) of its source
and its target as little-endian 64-bit numbers, in the order of the pairs. Pairs that weigh more are in it once, and
variants are not.

Shapes: m keys read at a time.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from nmt.corpus.identity.contamination import Keys, is_telling
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.reading.pairs import SentencePair
from nmt.files import replacing

_READ_AT_ONCE = 2**16  # keys
_WRITTEN_AT_ONCE = 2**10  # keys, which take 40 bytes each while they wait
_NUMBER = np.dtype("<u8")


@contextmanager
def writing_keys(path: Path) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that appends the two keys of a pair; the file appears whole or not at all."""
    waiting: list[int] = []
    with replacing(path) as part, part.open("wb") as file:

        def write(src_key: int, tgt_key: int) -> None:
            waiting.append(src_key)
            waiting.append(tgt_key)
            if len(waiting) >= _WRITTEN_AT_ONCE:
                _write(file, waiting)

        yield write
        _write(file, waiting)


def _write(file: IO[bytes], waiting: list[int]) -> None:
    file.write(np.array(waiting, _NUMBER).tobytes())
    waiting.clear()


def lines_in_train(path: Path, pairs: Sequence[SentencePair]) -> list[int] | None:
    """The numbers of the normalised pairs that a run was trained on (`lines_known`); None if it has no file of keys."""
    if not path.is_file():
        return None
    keys = [side_key(side) for pair in pairs for side in pair]
    return lines_known(pairs, _known(path, np.unique(np.array(keys, np.uint64))))


def lines_known(pairs: Sequence[SentencePair], known: Container[int]) -> list[int]:
    """The numbers, from 1, of the normalised pairs whose sides have a known key.

    A pair counts if what is known of it is long enough to be no chance: one side, or the two together.
    """
    found = []
    for number, pair in enumerate(pairs, 1):
        matching = [side for side in pair if side_key(side) in known]
        if is_telling(matching):
            found.append(number)
    return found


def _known(path: Path, wanted: Keys) -> set[int]:
    """Which of the wanted keys, rising, are in the file."""
    known: set[int] = set()
    with path.open("rb") as file:
        while len(wanted) and (block := file.read(_READ_AT_ONCE * _NUMBER.itemsize)):
            whole = len(block) - len(block) % _NUMBER.itemsize
            keys = np.frombuffer(block[:whole], _NUMBER)  # [m]
            places = np.searchsorted(wanted, keys).clip(max=len(wanted) - 1)  # [m]
            known.update(keys[wanted[places] == keys].tolist())
    return known
