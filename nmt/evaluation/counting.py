"""Sufficient statistics of BLEU and chrF for many lines at once: what sacrebleu counts, a tenth of the time.

Shapes: N lines, M tokens (or characters) in all of them, orders of n-grams. An n-gram is represented by a sum of random
64-bit numbers, one for each token at each place (tabulation hashing: Zobrist, 1970), and one for its line. With
10,000 lines of 100 tokens, two different n-grams of a line are taken for one with a probability of 10^-7.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from nmt.evaluation.metrics import Lines, prepared
from nmt.evaluation.resampling import Ints, Statistics

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

_BLEU_ORDERS = 4
_CHRF_ORDERS = 6
_RULES = TokenizerRegexp()._re  # type: ignore[no-untyped-call]
_APART = _RULES[0][0]  # characters that always are tokens of their own
# To the rules after that, which set these apart: one between spaces is apart already.
_MAY_MATTER = re.compile(r"[.,-]\S | \S[.,-]", re.VERBOSE)


# --- tokens ---


class _Spacing(dict[int, str]):
    """What `str.translate` puts for a character: itself, or itself between spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_apart = TokenizerZh._is_chinese_char(character) or _APART.fullmatch(character)
        self[code] = f" {character} " if is_apart else character
        return self[code]


_SPACING = _Spacing()


def zh_tokens(line: str) -> list[str]:
    """The tokens of sacrebleu's tokenizer zh."""
    spaced = line.strip().translate(_SPACING)
    if _MAY_MATTER.search(spaced):
        for rule, replacement in _RULES[1:]:
            spaced = rule.sub(replacement, spaced)
    return spaced.split()


# --- n-grams ---


class _Text:
    """Lines as numbers: tokens [M], each with its line and how many tokens follow in it."""

    def __init__(self, tokens: Ints, lengths: Sequence[int]) -> None:
        self.tokens = tokens
        self.lengths = np.array(lengths, dtype=np.int64)  # [N]
        self.lines = np.repeat(np.arange(len(lengths)), self.lengths)  # [M]
        ends = np.cumsum(self.lengths)
        self.left = ends[self.lines] - np.arange(len(self.tokens))  # [M], itself among them

    def totals(self, order: int) -> Statistics:
        """The n-grams of an order in each line [N]."""
        return np.maximum(self.lengths - order + 1, 0).astype(np.float64)


class _Counted:
    """The different n-grams of a text: `keys` in order, how often each is there, and in which line."""

    def __init__(self, text: _Text, order: int) -> None:
        lines, sums = _sums(text, order)
        self.keys, first, counts = np.unique(sums, return_index=True, return_counts=True)
        self.counts = counts.astype(np.float64)
        self.lines = lines[first]

    def matches(self, text: _Text, order: int) -> Statistics:
        """How many n-grams of each line another text has too, each as often as the text that has fewer [N]."""
        lines = len(text.lengths)
        if not len(self.keys):
            return np.zeros(lines)
        keys, counts = np.unique(_sums(text, order)[1], return_counts=True)
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        is_there = self.keys[places] == keys
        places, counts = places[is_there], counts[is_there]
        shared = np.minimum(counts, self.counts[places])
        found = np.bincount(self.lines[places], weights=shared, minlength=lines)
        return found.astype(np.float64)


def _sums(text: _Text, order: int) -> tuple[Ints, Hashes]:
    """The line and the number of each n-gram."""
    starts = np.flatnonzero(text.left >= order)
    lines = text.lines[starts]
    sums = _numbers_of_lines(len(text.lengths))[lines]
    for place in range(order):
        tokens = text.tokens[starts + place]
        sums = sums + _table(place, _size(tokens))[tokens]
    return lines, sums


_SMALLEST = (
    17  # bits: Chinese characters of one plane, which are their own numbers, and most vocabularies
)


def _size(tokens: Ints) -> int:
    """How large a table of numbers of tokens has to be, a power of two."""
    return 1 << max(_SMALLEST, int(tokens.max(initial=0)).bit_length())


@cache
def _table(place: int, size: int) -> Hashes:
    """A random number for each token; a larger table begins with the same numbers as a smaller one."""
    chance = np.random.default_rng(place)
    return chance.integers(2**64, size=size, dtype=np.uint64)


@cache
def _numbers_of_lines(count: int) -> Hashes:
    chance = np.random.default_rng(_CHRF_ORDERS)
    return chance.integers(2**64, size=count, dtype=np.uint64)


# --- metrics ---


def bleu_statistics(metric: str, systems: Sequence[Lines], reference: Lines) -> Statistics:
    """Lengths, matches and totals of 1- to 4-grams: [S, N, 2 + 4 + 4], as sacrebleu's BLEU with tokenizer zh."""
    ids: dict[str, int] = defaultdict(count().__next__)  # a new token gets the next number
    text, *texts = [_words(prepared(metric, lines), ids) for lines in (reference, *systems)]
    orders = range(1, _BLEU_ORDERS + 1)
    counted = [_Counted(text, order) for order in orders]
    statistics = []
    for own in texts:
        columns = [own.lengths.astype(np.float64), text.lengths.astype(np.float64)]
        for order, theirs in zip(orders, counted, strict=True):
            columns.append(theirs.matches(own, order))
        columns += [own.totals(order) for order in orders]
        statistics.append(np.stack(columns, axis=1))
    return np.stack(statistics)


def _words(lines: Lines, ids: dict[str, int]) -> _Text:
    numbers: list[int] = []
    lengths = []
    for line in lines:
        tokens = zh_tokens(line)
        lengths.append(len(tokens))
        numbers += map(ids.__getitem__, tokens)
    return _Text(np.array(numbers, dtype=np.int64), lengths)


def chrf_statistics(systems: Sequence[Lines], reference: Lines) -> Statistics:
    """N-grams of the hypothesis, of the reference, and matches, by order: [S, N, 3 × 6], as sacrebleu's chrF."""
    text = _characters(reference)
    orders = range(1, _CHRF_ORDERS + 1)
    counted = [_Counted(text, order) for order in orders]
    statistics = []
    for lines in systems:
        own = _characters(lines)
        columns = []
        for order, theirs in zip(orders, counted, strict=True):
            totals = text.totals(order)
            # sacrebleu counts nothing where the reference has no n-gram of an order
            columns.append(np.where(totals > 0, own.totals(order), 0.0))
            columns.append(totals)
            columns.append(theirs.matches(own, order))
        statistics.append(np.stack(columns, axis=1))
    return np.stack(statistics)


def _characters(lines: Lines) -> _Text:
    joined = ["".join(line.split()) for line in lines]
    codes = np.frombuffer("".join(joined).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return _Text(codes.astype(np.int64), [len(line) for line in joined])
