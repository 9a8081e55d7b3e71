"""The build-vocab stage: count tokens, rank them, write vocabularies and the encoded store."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from nmt.config.schema import Config
from nmt.corpus.lines import read_lines
from nmt.corpus.store import Block, Ids, Int32, ParallelCorpus, write_store
from nmt.corpus.workers import map_chunks
from nmt.errors import ConfigError, DataError, ModelError
from nmt.files import read_json, replacing, write_json
from nmt.run_dir import SIDES, SPLITS, RunDir, SideName
from nmt.text.side import load_side
from nmt.text.spans import PLACEHOLDERS
from nmt.text.tokenizers import SentencePiece, load_tokenizer, train_sentencepiece
from nmt.text.vocab import UNK, Vocab, build_vocab, is_marked

Numbers = dict[str, int]  # of a side's tokens, in the order in which they appear
Made = tuple[
    list[str], Int32, Int32
]  # of some lines: the tokens, each once; all by their places there; a line's count
_UNBOUNDED = (2**31, 2**31)  # tokens of each side


def build_vocabularies(config: Config, run: RunDir) -> dict[str, Any]:
    """Build both vocabularies from the run's train text and encode every split; gives the report it wrote.

    Raises DataError if train is missing or empty.
    """
    for name in SIDES:
        text = run.text("train", config.side(name).language)
        if not text.exists() or text.stat().st_size == 0:
            raise DataError(f"{text}: missing or empty; run nmt prepare")
    run.vocab_report.unlink(
        missing_ok=True
    )  # what follows may be interrupted, and is then not current
    for group in _groups(config):
        if config.side(group[0]).tokenizer == "sentencepiece":
            _train_pieces(config, run, group)
    _tokenizer.cache_clear()  # it may hold an older sentencepiece model from the same path
    with TemporaryDirectory(dir=run.path, prefix=".tokens.") as folder:
        numbers: tuple[Numbers, Numbers] = {}, {}
        write_store(Path(folder) / "all", _numbered(config, run, numbers), _UNBOUNDED, ("", ""))
        numbered = ParallelCorpus(Path(folder) / "all")
        pairs = {
            split: sum(1 for _ in read_lines(run.text(split, config.src.language)))
            for split in SPLITS
        }
        spans = dict(zip(SPLITS, pairwise(accumulate(pairs.values(), initial=0)), strict=True))
        train, dev = (_counts(numbers, numbered.blocks(*spans[split])) for split in SPLITS[:2])
        _save_vocabs(config, run, train)
        src, tgt = (load_side(config, run, name) for name in SIDES)
        sizes, prints = (len(src.vocab), len(tgt.vocab)), (src.fingerprint(), tgt.fingerprint())
        encoders = _Encoder(src.vocab, numbers[0]), _Encoder(tgt.vocab, numbers[1])
        for split in SPLITS:
            write_store(
                run.store(split), _encoded(encoders, numbered.blocks(*spans[split])), sizes, prints
            )
    report: dict[str, Any] = {"fingerprint": _fingerprint(config, run), "pairs": pairs}
    report |= {"src": _describe(src.vocab, dev[0]), "tgt": _describe(tgt.vocab, dev[1])}
    write_json(run.vocab_report, report)
    return report


def vocabularies_are_current(config: Config, run: RunDir) -> bool:
    """Whether build-vocab's results are whole, of this configuration, and of what `prepare` last wrote."""
    try:
        report = read_json(run.vocab_report)
        src, tgt = (load_side(config, run, name).fingerprint() for name in SIDES)
        for split in SPLITS:
            ParallelCorpus(run.store(split), (src, tgt))
    except (ModelError, OSError):
        return False
    return isinstance(report, dict) and report.get("fingerprint") == _fingerprint(config, run)


def _fingerprint(config: Config, run: RunDir) -> str:
    settings = [config.src.model_dump(), config.tgt.model_dump(), config.shared_vocab]
    made_from = run.prepare_report.read_bytes() if run.prepare_report.exists() else b""
    return hashlib.sha256(json.dumps(settings).encode() + made_from).hexdigest()


def _groups(config: Config) -> list[tuple[SideName, ...]]:
    """Group the sides that have one vocabulary; the settings of a group's first side make it."""
    return [SIDES] if config.shared_vocab else [(name,) for name in SIDES]


def _train_pieces(config: Config, run: RunDir, group: tuple[SideName, ...]) -> None:
    size = config.side(group[0]).vocab_size
    try:
        model = train_sentencepiece(_cased(config, run, group), size, _reserved(config))
    except ConfigError as error:
        raise ConfigError(f"{group[0]}.{error}") from None
    for name in group:
        with replacing(run.pieces(name)) as part:
            part.write_bytes(model)


_tokenizer = cache(load_tokenizer)  # each process loads its tokenizers once


def _cased(config: Config, run: RunDir, group: tuple[SideName, ...]) -> Iterator[str]:
    """Train text of some sides, as their tokenizer sees it."""
    for side in map(config.side, group):
        yield from (
            line.lower() if side.lowercase else line
            for line in read_lines(run.text("train", side.language))
        )


def _numbered(config: Config, run: RunDir, numbers: tuple[Numbers, Numbers]) -> Iterator[Block]:
    """Tokenise every split, one after the other: each token once in `numbers`, and the pairs as numbers."""
    sides = [
        (config.side(name).tokenizer, run.pieces(name), config.side(name).lowercase)
        for name in SIDES
    ]
    files = ([run.text(split, config.side(name).language) for name in SIDES] for split in SPLITS)
    lines = chain.from_iterable(zip(*map(read_lines, pair), strict=True) for pair in files)
    work = partial(_tokenize, sides)
    for made in map_chunks(
        work, lines, config.prepare.workers, lambda pair: len(pair[0]) + len(pair[1])
    ):
        src, tgt = map(_renumbered, numbers, made)
        yield src, tgt, np.stack([lengths for _, _, lengths in made], axis=1)


def _renumbered(numbers: Numbers, made: Made) -> Ids:
    return np.array([numbers.setdefault(token, len(numbers)) for token in made[0]], np.int32)[
        made[1]
    ]


def _tokenize(sides: Sequence[tuple[str, Path, bool]], lines: list[tuple[str, str]]) -> list[Made]:
    return [
        _made(*side, texts) for side, texts in zip(sides, zip(*lines, strict=True), strict=True)
    ]


def _made(tokenizer: str, pieces: Path, lowercase: bool, lines: Iterable[str]) -> Made:
    encode = _tokenizer(tokenizer, pieces).encode
    rows = [
        encode(line.lower() if lowercase else line) for line in lines
    ]  # prepare has normalised them
    tokens = list(chain.from_iterable(rows))
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return (
        list(numbers),
        np.fromiter(map(numbers.__getitem__, tokens), np.int32),
        np.fromiter(map(len, rows), np.int32),
    )


def _counts(numbers: tuple[Numbers, Numbers], blocks: Iterable[Block]) -> list[Counter[str]]:
    """How often each token stands in some pairs, by sides."""
    totals = [np.zeros(len(tokens), np.int64) for tokens in numbers]
    for *sides, _ in blocks:
        for total, ids in zip(totals, sides, strict=True):
            total += np.bincount(ids, minlength=len(total))
    return [
        Counter(dict(zip(side, total.tolist(), strict=True)))
        for side, total in zip(numbers, totals, strict=True)
    ]


def _save_vocabs(config: Config, run: RunDir, counts: list[Counter[str]]) -> None:
    for group in _groups(config):
        vocab = _vocab(
            config, run, group[0], sum((counts[SIDES.index(name)] for name in group), Counter())
        )
        for name in group:
            vocab.save(run.vocab(name))


def _vocab(config: Config, run: RunDir, name: SideName, counts: Counter[str]) -> Vocab:
    side = config.side(name)
    if side.tokenizer != "sentencepiece":
        return build_vocab(
            counts, side.vocab_size, side.min_frequency, side.unknown == "spell", _reserved(config)
        )
    # Every piece is listed, seen or not: bytes are there so that no text is unknown.
    pieces = SentencePiece(run.pieces(name).read_bytes()).pieces()
    ranked = sorted(pieces, key=lambda piece: (-counts[piece], piece))
    return Vocab(ranked, [counts[piece] for piece in ranked])


def _reserved(config: Config) -> tuple[str, ...]:
    return PLACEHOLDERS if config.prepare.augment.protects else ()


class _Encoder:
    """Numbers of tokens to ids of a vocabulary, where a token may be several: it is spelled."""

    def __init__(self, vocab: Vocab, tokens: Iterable[str]) -> None:
        ids = [vocab.encode([token]) for token in tokens]
        self._counts = np.fromiter(map(len, ids), np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._ids = np.fromiter(chain.from_iterable(ids), np.int32)

    def __call__(self, numbers: Ids, lengths: Ids) -> tuple[Ids, Ids]:
        """The ids of lines with `lengths` tokens, end to end, and how many each line has."""
        counts = self._counts[numbers]
        ends = np.append(0, np.cumsum(counts))
        places = np.repeat(self._starts[numbers] - ends[:-1], counts) + np.arange(ends[-1])
        return self._ids[places], np.diff(ends[np.append(0, np.cumsum(lengths))])


def _encoded(encoders: tuple[_Encoder, _Encoder], blocks: Iterable[Block]) -> Iterator[Block]:
    for *sides, lengths in blocks:
        (src, ours), (tgt, theirs) = (encoders[i](sides[i], lengths[:, i]) for i in range(2))
        yield src, tgt, np.stack([ours, theirs], axis=1)


def _describe(vocab: Vocab, dev: Counter[str]) -> dict[str, Any]:
    """Size of a vocabulary, and what it covers of dev's tokens; rates in percent, None where dev is empty."""
    tokens = dev.total()
    known = sum(count for word, count in dev.items() if word in vocab.ids)
    encoded = [(vocab.encode([word]), count) for word, count in dev.items() if count]
    units = sum(count * len(ids) for ids, count in encoded)
    unknown = sum(count * ids.count(UNK) for ids, count in encoded)
    rates = {
        "dev_coverage": (known, tokens),
        "dev_oov": (tokens - known, tokens),
        "dev_unk": (unknown, units),
    }
    sizes = {
        "size": len(vocab),
        "spelling": sum(map(is_marked, vocab.tokens)),
        "dev_tokens": tokens,
    }
    return sizes | {
        name: round(100 * part / whole, 3) if whole else None
        for name, (part, whole) in rates.items()
    }
