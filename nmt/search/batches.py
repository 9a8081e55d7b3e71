"""Which sentences are searched together, and how long a translation may be. Nothing here needs torch."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from nmt.config.schema import SearchConfig

Item = TypeVar("Item")

# Sentences. On a CPU a new shape costs more time than a few rows that nobody needs.
BATCH_MULTIPLE = 8
# Positions. There a little padding costs less time than a new shape.
_WIDTH_MULTIPLE = 4
# Source tokens. A batch is not made smaller than this only to give another thread work.
_WORTH_A_THREAD = 500
_USUAL_BEAMS = 5
# Source tokens in a batch. A step of a GPU takes hardly longer for all lines of a window than for a few.
_USUAL_TOKENS = {"cpu": 4096, "cuda": 65_536}


def batch_tokens_of(search: SearchConfig, device: str) -> int:
    """The source tokens of a batch: what the settings say, or what suits the device, and fewer for many beams."""
    usual = _USUAL_TOKENS.get(device, _USUAL_TOKENS["cpu"])
    return search.batch_tokens or max(1, usual * _USUAL_BEAMS // max(_USUAL_BEAMS, search.beams))


def batches_of(lengths: Sequence[int], batch_tokens: int, threads: int) -> list[list[int]]:
    """Group indices, longest first, so that each of so many threads has work."""
    longest_first = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    tokens_per_thread = sum(lengths) // threads
    positions = min(batch_tokens, max(tokens_per_thread, _WORTH_A_THREAD))  # of the source

    def width(i: int) -> int:
        return padded_width(lengths[i])

    return list(widest_first(longest_first, width, positions, multiple=BATCH_MULTIPLE))


def widest_first(
    items: Iterable[Item], width: Callable[[Item], int], positions: int, multiple: int = 1
) -> Iterator[list[Item]]:
    """Batches of at most so many positions, with padding to the widest item, or of one item that has more.

    Larger batches have a `multiple` of items. What does not fit in memory fails at once and not at the end.
    """
    order = sorted(items, key=width, reverse=True)
    start = 0
    while start < len(order):
        size = max(1, positions // width(order[start]))
        if size > multiple:
            size -= size % multiple
        yield order[start : start + size]
        start += size


def padded_width(tokens: int) -> int:
    """The positions that a source of this many tokens and EOS is padded to."""
    return math.ceil((tokens + 1) / _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE


def longest_target(source_tokens: int, longest: int, search: SearchConfig) -> int:
    """The most tokens of a translation; the model has `longest`. The 10 let a short source have a long one."""
    by_ratio = int(source_tokens * search.max_ratio) + 10
    return min(by_ratio, longest, search.max_length or longest)
