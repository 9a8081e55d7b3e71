"""Stores of encoded pairs."""

from pathlib import Path

import numpy as np

from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store

PRINTS = ("source-print", "target-print")
Pair = tuple[list[int], list[int]]


def content(corpus: ParallelCorpus) -> list[Pair]:
    return [(src.tolist(), tgt.tolist()) for src, tgt in (corpus[i] for i in range(len(corpus)))]


def block(pairs: list[Pair]) -> Block:
    src, tgt = (np.array([i for pair in pairs for i in pair[side]], int) for side in range(2))
    lengths = np.array([(len(src), len(tgt)) for src, tgt in pairs], int).reshape(-1, 2)
    return Block(src, tgt, lengths)


def stored(
    path: Path, pairs: list[Pair], vocab_sizes: tuple[int, int] = (100, 100)
) -> ParallelCorpus:
    blocks = [block(pairs[:2]), block(pairs[2:])]
    assert write_store(path, iter(blocks), vocab_sizes, PRINTS) == len(pairs)
    return ParallelCorpus(path, PRINTS)
