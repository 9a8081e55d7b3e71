import tracemalloc
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.corpus.identity import repeats as repeats_module
from nmt.corpus.identity.repeats import Repeats

# Few small ones, so that some come again.
KEYS = st.integers(0, 2**60 - 1) | st.integers(0, 300) | st.integers(0, 3).map(lambda n: n << 56)


def flags(keys: list[int]) -> tuple[int, list[bool]]:
    """How many keys are different, and which are first."""
    with TemporaryDirectory() as folder:
        repeats = Repeats(Path(folder) / "repeats")
        for key in keys:
            repeats.add(key)
        different = repeats.decide()
        found = [repeats.is_first(key) for key in keys]
        repeats.close()
    return different, found


@given(st.lists(KEYS, max_size=60))
@settings(max_examples=50)
def test_a_key_is_flagged_where_it_stands_first(keys: list[int]) -> None:
    expected = [key not in keys[:place] for place, key in enumerate(keys)]
    assert flags(keys) == (len(set(keys)), expected)


def test_keys_that_no_longer_wait_in_memory_are_compared_too() -> None:
    keys = [*range(0, 200_000, 64), *range(0, 400_000, 64)]  # all in one bucket
    different, found = flags(keys)
    assert different == 6_250
    assert found == [True] * 3_125 + [False] * 3_125 + [True] * 3_125


def peak(folder: Path, count: int) -> int:
    """The most bytes of memory that so many keys take."""
    drawn = np.random.default_rng(1).integers(0, 2**60, count, np.uint64).tolist()
    repeats = Repeats(folder)
    tracemalloc.start()
    for key in drawn:
        repeats.add(key)
    assert repeats.decide() == count
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    repeats.close()
    return found


def test_keys_are_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats_module, "_WAITING", 64)
    more = peak(tmp_path / "many", 90_000) - peak(tmp_path / "few", 30_000)
    assert more / 60_000 < 2


def test_a_full_disk_is_told_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repeats = Repeats(tmp_path / "repeats")
    repeats.add(0)
    repeats._write(0)
    bucket = tmp_path / "repeats" / "keys0"
    bucket.rename(tmp_path / "keys")
    bucket.symlink_to("/dev/full")
    keys = np.fromfile(tmp_path / "keys", np.uint64)
    monkeypatch.setattr(np, "fromfile", lambda *_: keys)
    with pytest.raises(OSError, match="No space left") as caught:
        repeats.decide()
    assert caught.value.errno == ENOSPC
