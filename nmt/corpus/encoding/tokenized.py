"""The text of all splits as numbers of its tokens: tokenised once, to be counted and then encoded.

Each distinct token of a side gets a number in the order in which it first appears.

Shapes: L lines, M tokens in them, V distinct tokens of a side.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmt.config.schema import Config
from nmt.corpus.encoding.store import Block, Ids, Int32, ParallelCorpus, write_store
from nmt.corpus.reading.lines import read_lines
from nmt.errors import DataError
from nmt.machine.workers import map_chunks
from nmt.run.folder import SIDES, SPLITS, RunDir, SideName, Split
from nmt.run.sides import reading_settings
from nmt.text.reading import ReadingSettings, reading_for
from nmt.text.tokenizers import load_tokenizer

Numbers = dict[str, int]  # of a side's tokens
Counts = Counter[str]
LinePair = tuple[str, str]

_UNBOUNDED = (2**31, 2**31)  # distinct tokens of each side


@dataclass(frozen=True)
class TokenizedText:
    """All pairs of a run as numbers of tokens. It lasts as long as its folder."""

    numbers: tuple[Numbers, Numbers]  # of the tokens of both sides, in rising order
    pairs: dict[Split, int]  # how many each split has
    corpus: ParallelCorpus  # the splits one after the other

    def blocks(self, split: Split) -> Iterator[Block]:
        """The pairs of a split, some at a time."""
        first = 0
        for earlier in SPLITS[: SPLITS.index(split)]:
            first += self.pairs[earlier]
        return self.corpus.blocks(first, first + self.pairs[split])

    def counts(self, split: Split, name: SideName) -> Counts:
        """How often each token is in one side of a split; those that are not are left out."""
        side = SIDES.index(name)
        numbers = self.numbers[side]
        totals = np.zeros(len(numbers), np.int64)  # [V]
        for block in self.blocks(split):
            ids = (block.src, block.tgt)[side]
            totals += np.bincount(ids, minlength=len(totals))
        counted = zip(numbers, totals.tolist(), strict=True)
        return Counter({token: count for token, count in counted if count})


class _SideSettings(NamedTuple):
    """How the lines of one side become tokens."""

    tokenizer: str
    pieces: Path
    reading: ReadingSettings


class _Chunk(NamedTuple):
    """Some lines of one side, tokenised."""

    tokens: list[str]  # each distinct one, as it first appears
    indices: Int32  # [M] of all tokens in `tokens`
    lengths: Int32  # [L] of the lines, in tokens


@cache  # each process loads its tokenizers once
def _encoder(side: _SideSettings) -> Callable[[str], list[str]]:
    tokenizer = load_tokenizer(side.tokenizer, side.pieces)
    reading = reading_for(tokenizer, side.reading)
    return lambda line: tokenizer.encode(reading(line))


def tokenize(config: Config, run: RunDir, folder: Path) -> TokenizedText:
    """Tokenise the text of every split; what is large of the result is written to `folder`."""
    _encoder.cache_clear()  # it may hold an older sentencepiece model from the same path
    work = partial(_tokenize, [_side_settings(config, run, name) for name in SIDES])
    chunks = map_chunks(work, _line_pairs(config, run), config.prepare.workers, size=_length)
    src_numbers: Numbers = {}
    tgt_numbers: Numbers = {}
    blocks = _number_tokens(chunks, src_numbers, tgt_numbers)
    write_store(folder / "all", blocks, _UNBOUNDED, ("", ""))
    return TokenizedText(
        numbers=(src_numbers, tgt_numbers),
        pairs={split: _count_pairs(config, run, split) for split in SPLITS},
        corpus=ParallelCorpus(folder / "all"),
    )


def _side_settings(config: Config, run: RunDir, name: SideName) -> _SideSettings:
    return _SideSettings(
        config.side(name).tokenizer, run.pieces(name), reading_settings(config, name)
    )


def _line_pairs(config: Config, run: RunDir) -> Iterator[LinePair]:
    """The pairs of all splits, one split after the other. Raises DataError for files that do not pair up."""
    for split in SPLITS:
        src = run.text(split, config.src.language)
        tgt = run.text(split, config.tgt.language)
        try:
            yield from zip(read_lines(src), read_lines(tgt), strict=True)
        except ValueError:
            fix = "delete both and run nmt prepare"
            raise DataError(f"{src} and {tgt}: not of the same number of lines; {fix}") from None


def _length(pair: LinePair) -> int:
    src, tgt = pair
    return len(src) + len(tgt)


def _count_pairs(config: Config, run: RunDir, split: Split) -> int:
    return sum(1 for _ in read_lines(run.text(split, config.src.language)))


def _tokenize(sides: Sequence[_SideSettings], pairs: list[LinePair]) -> list[_Chunk]:
    """Tokenise both sides of some pairs."""
    columns = zip(*pairs, strict=True)
    return [_chunk(side, lines) for side, lines in zip(sides, columns, strict=True)]


def _chunk(side: _SideSettings, lines: Iterable[str]) -> _Chunk:
    rows = list(map(_encoder(side), lines))  # prepare has normalised them
    tokens = list(chain.from_iterable(rows))
    indices = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return _Chunk(
        tokens=list(indices),
        indices=np.fromiter(map(indices.__getitem__, tokens), np.int32),
        lengths=np.fromiter(map(len, rows), np.int32),
    )


def _number_tokens(
    chunks: Iterable[list[_Chunk]], src_numbers: Numbers, tgt_numbers: Numbers
) -> Iterator[Block]:
    """Turn tokens into their numbers; new ones are added to the tables."""
    for src, tgt in chunks:
        lengths = np.stack([src.lengths, tgt.lengths], axis=1)  # [L, 2]
        yield Block(_numbered(src, src_numbers), _numbered(tgt, tgt_numbers), lengths)


def _numbered(chunk: _Chunk, numbers: Numbers) -> Ids:
    of_tokens = [numbers.setdefault(token, len(numbers)) for token in chunk.tokens]
    return np.array(of_tokens, np.int32)[chunk.indices]  # [M]
