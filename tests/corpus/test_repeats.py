import tracemalloc
from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.repeats import first_of_each

# Few small ones, so that some come again.
KEYS = st.integers(0, 2**60 - 1) | st.integers(0, 300) | st.integers(0, 3).map(lambda n: n << 56)


@given(st.lists(KEYS, max_size=200))
def test_a_key_is_flagged_where_it_stands_first(keys: list[int]) -> None:
    expected = [key not in keys[:place] for place, key in enumerate(keys)]
    assert first_of_each(array("Q", keys)).tolist() == expected


def test_a_key_takes_sixteen_bytes_at_most() -> None:
    count = 400_000
    drawn = np.random.default_rng(1).integers(0, 2**60, count, np.uint64)
    tracemalloc.start()
    keys = array("Q")
    for start in range(0, count, 1000):
        keys.frombytes(drawn[start : start + 1000].tobytes())
    assert first_of_each(keys).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / count < 16
