"""A clean pair, and the line of text as which it travels between processes and waits between prepare's two passes.

Strings are what processes pass on fastest, and what a file holds. The columns of a line, with tabs between them, are
those of CleanPair: the number of the corpus, three keys, three texts; then kind, source and target of each variant.
No sentence holds a tab or a line end: normalising makes spaces of them.
"""

from typing import NamedTuple

from nmt.corpus.cleaning.augment import Variant
from nmt.corpus.reading.pairs import SentencePair


class CleanPair(NamedTuple):
    """A pair that passed the filters, with all that the rest of prepare needs to know about it."""

    corpus: int  # its number
    key: int  # equal for equal pairs
    src_key: int  # equal for sentences that differ in case, width, punctuation or spaces only
    tgt_key: int
    src: str
    tgt: str
    given: str  # the target before its typography was repaired
    variants: list[Variant]


class Head(NamedTuple):
    """The first columns of a line: what decides whether a pair stays."""

    corpus: int
    key: int
    src_key: int
    tgt_key: int


def to_line(pair: CleanPair) -> str:
    """Write a pair as a line, without a line end."""
    head = f"{pair.corpus}\t{pair.key}\t{pair.src_key}\t{pair.tgt_key}"
    columns = [head, pair.src, pair.tgt, pair.given]
    for variant in pair.variants:
        columns += variant
    return "\t".join(columns)


def from_line(line: str) -> CleanPair:
    """Read what `to_line` wrote."""
    corpus, key, src_key, tgt_key, src, tgt, given, *varied = line.split("\t")
    variants: list[Variant] = []
    for start in range(0, len(varied), 3):
        kind, varied_src, varied_tgt = varied[start : start + 3]
        variants.append(Variant(kind, varied_src, varied_tgt))
    return CleanPair(int(corpus), int(key), int(src_key), int(tgt_key), src, tgt, given, variants)


def head_of(line: str) -> Head:
    """Read the first columns of what `to_line` wrote."""
    corpus, key, src_key, tgt_key, _ = line.split("\t", 4)
    return Head(int(corpus), int(key), int(src_key), int(tgt_key))


def sides_of(line: str) -> SentencePair:
    """Read the sentences of what `to_line` wrote."""
    columns = line.split("\t", 6)
    return SentencePair(*columns[4:6])
