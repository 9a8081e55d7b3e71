"""Which pairs of a corpus are repeats: decided at once, for all pairs, from a key of 8 bytes each.

A set of keys would answer pair by pair, but a set of Python takes 75 to 100 bytes a key. Here it is 13 at most.

Shapes: n pairs, m of them in a part.
"""

from array import array

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]

_PARTS = 64  # one part at a time is sorted, so that sorting takes little memory; at most 256


def first_of_each(keys: "array[int]") -> Flags:
    """Flag those of n keys of 64 bits ("Q") that no earlier key equals, bool [n]."""
    numbers = np.frombuffer(keys, np.uint64)  # [n]
    some_byte = numbers.view(np.uint8)[::8]  # [n]; equal keys have equal bytes
    parts = some_byte % _PARTS  # [n]
    is_first = np.zeros(len(numbers), np.bool_)  # [n]
    for part in range(_PARTS):
        places = np.flatnonzero(parts == part)  # [m], rising
        _, firsts = np.unique(numbers[places], return_index=True)
        is_first[places[firsts]] = True
    return is_first
