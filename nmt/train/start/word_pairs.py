"""Which tokens translate each other, found in the pairs alone: IBM model 1 (Brown et al., 1993).

Shapes: S and T, the ids of all source and all target sentences that are looked at; C cells, one for
each source token with each target token of its pair; P different pairs of tokens.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nmt.corpus.encoding.store import Ids, ParallelCorpus, runs

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_CELLS = 20_000_000  # they take 1.1 GB
_LONGEST = 30  # tokens; longer sentences say less, and have more cells
_ROUNDS = 4


class WordPairs(NamedTuple):
    """Tokens that are in the same pairs of sentences."""

    src: Int64  # [P]
    tgt: Int64  # [P]
    probability: Floats  # [P]: of the target token, given the source token
    expected: Floats  # [P]: how often the one stands for the other


class _Cells(NamedTuple):
    """Each source token beside each target token of its pair."""

    src: Ids  # [C]
    tgt: Ids  # [C]
    place: Ids  # [C]: of the target token among all those of the sample, below T


def word_pairs(corpus: ParallelCorpus, most_cells: int = _MOST_CELLS) -> WordPairs:
    """The pairs of tokens of a corpus, or of a random sample of it with so many cells."""
    lengths = corpus.lengths.astype(np.int64)
    chosen = _sample(lengths, most_cells)
    cells = _cells(corpus, chosen, lengths[chosen])
    tokens = int(cells.tgt.max(initial=0)) + 1
    codes, kind = np.unique(_code(cells, tokens), return_inverse=True)
    src, tgt = np.divmod(codes.astype(np.int64), tokens)
    probability = np.full(len(codes), 1 / tokens)
    expected: Floats = np.zeros(len(codes))
    for _ in range(_ROUNDS):
        # How much each source token of the pair has to do with a target token: shares that add up to 1.
        share = probability[kind]
        share /= np.bincount(cells.place, share)[cells.place]
        expected = np.bincount(kind, share, len(codes)).astype(np.float64)
        probability = expected / np.bincount(src, expected)[src]
    return WordPairs(src, tgt, probability, expected)


def _code(cells: _Cells, tokens: int) -> Ids:
    """One number for each pair of tokens, in 32 bits where that is enough: half the memory, and sorted faster."""
    most = (int(cells.src.max(initial=0)) + 1) * tokens
    dtype: type[np.integer] = np.uint32 if most <= 2**32 else np.int64
    codes = cells.src.astype(dtype)
    codes *= tokens
    codes += cells.tgt.astype(dtype)
    return codes


def _sample(lengths: Int64, most_cells: int) -> Int64:
    """The numbers of pairs to look at, in the order of the corpus."""
    is_short = (lengths.min(axis=1) > 0) & (lengths.max(axis=1) <= _LONGEST)
    shuffled = np.random.default_rng(0).permutation(np.flatnonzero(is_short))
    fitting = np.cumsum(lengths[shuffled].prod(axis=1)) <= most_cells
    return np.sort(shuffled[fitting])


def _cells(corpus: ParallelCorpus, chosen: Int64, lengths: Int64) -> _Cells:
    block = corpus.block_of(chosen)
    src = block.src.astype(np.int64)  # [S]
    tgt = block.tgt.astype(np.int64)  # [T]
    first = (np.cumsum(lengths[:, 1]) - lengths[:, 1]).astype(np.int32)  # each sentence's, in tgt
    # [S]: how many target tokens each source token meets
    meets = np.repeat(lengths[:, 1], lengths[:, 0])
    place = runs(np.repeat(first, lengths[:, 0]), meets)
    return _Cells(np.repeat(src, meets), tgt[place], place)
