"""The build-vocab stage: count tokens, rank them, write vocabularies and the encoded store.

The text is tokenised once, by `tokenized.py`; then vocabularies are made of the counts, and ids of the tokens.

Shapes: L lines, M tokens in them, K ids that stand for these tokens, V distinct tokens of a side.
"""

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from nmt.config.schema import Config
from nmt.corpus.encoding.inherited import (
    fingerprint_of,
    inherit_pieces,
    inherited_vocab,
    placeholders,
)
from nmt.corpus.encoding.store import Block, Ids, ParallelCorpus, runs, write_store
from nmt.corpus.encoding.tokenized import Counts, TokenizedText, tokenize
from nmt.corpus.reading.lines import read_lines
from nmt.errors import ConfigError, DataError, ModelError
from nmt.files import PART, read_json, replacing, write_json
from nmt.run.folder import SIDES, SPLITS, RunDir, SideName
from nmt.run.sides import load_side, reading_settings
from nmt.run.start_from import start_run
from nmt.text.pieces import SentencePiece, train_sentencepiece
from nmt.text.reading import detached
from nmt.text.side import Side
from nmt.text.vocab import UNK, Vocab, build_vocab, is_marked

Group = tuple[SideName, ...]  # the sides that have one vocabulary


def build_vocabularies(config: Config, run: RunDir) -> dict[str, Any]:
    """Build both vocabularies from the run's train text and encode every split; gives the report it wrote.

    Raises DataError if train is missing or empty.
    """
    _refuse_without_train(config, run)
    run.vocab_report.unlink(missing_ok=True)  # if this is interrupted, nothing is current
    _write_pieces(config, run)
    with TemporaryDirectory(dir=run.path, prefix=".tokens.", suffix=PART) as folder:
        text = tokenize(config, run, Path(folder))
        _save_vocabs(config, run, text)
        src, tgt = (load_side(config, run, name) for name in SIDES)
        _write_stores(run, text, src, tgt)
        report = {
            "fingerprint": _fingerprint(config, run),
            "pairs": text.pairs,
            "src": _describe(src.vocab, text.counts("dev", "src")),
            "tgt": _describe(tgt.vocab, text.counts("dev", "tgt")),
        }
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
    start = start_run(config)
    if start is not None:
        settings += [fingerprint_of(start), config.train.new_tokens]
    made_from = run.prepare_report.read_bytes() if run.prepare_report.exists() else b""
    return hashlib.sha256(json.dumps(settings).encode() + made_from).hexdigest()


def _refuse_without_train(config: Config, run: RunDir) -> None:
    for name in SIDES:
        text = run.text("train", config.side(name).language)
        if not text.exists() or text.stat().st_size == 0:
            raise DataError(f"{text}: missing or empty; run nmt prepare")


# --- vocabularies ---


def _groups(config: Config) -> list[Group]:
    """Group the sides that have one vocabulary; the settings of a group's first side make it."""
    if config.shared_vocab:
        return [SIDES]
    return [(name,) for name in SIDES]


def _write_pieces(config: Config, run: RunDir) -> None:
    """Write the sentencepiece model of each side that has one."""
    start = start_run(config)
    for group in _groups(config):
        if config.side(group[0]).tokenizer != "sentencepiece":
            continue
        if start is None:
            _train_pieces(config, run, group)
        else:
            for name in group:
                inherit_pieces(config, run, start, name, _train_lines(config, run, (name,)))


def _train_pieces(config: Config, run: RunDir, group: Group) -> None:
    size = config.side(group[0]).vocab_size
    try:
        model = train_sentencepiece(_train_lines(config, run, group), size, placeholders(config))
    except ConfigError as error:
        raise ConfigError(f"{group[0]}.{error}") from None
    for name in group:
        with replacing(run.pieces(name)) as part:
            part.write_bytes(model)


def _train_lines(config: Config, run: RunDir, group: Group) -> Iterator[str]:
    """Train text of some sides, as their tokenizer sees it, but in its own case: that takes pieces to know."""
    for name in group:
        settings = reading_settings(config, name)
        for line in read_lines(run.text("train", config.side(name).language)):
            read = line.lower() if settings.lowercase else line
            yield detached(read) if settings.detach else read


def _save_vocabs(config: Config, run: RunDir, text: TokenizedText) -> None:
    start = start_run(config)
    for group in _groups(config):
        counts: Counts = Counter()
        for name in group:
            counts.update(text.counts("train", name))
        prefix = config.src.prefix if "src" in group else ()
        counts.update(dict.fromkeys(prefix, text.pairs["train"]))
        if start is None:
            vocab = _vocab(config, run, group[0], counts, prefix)
        else:
            vocab = inherited_vocab(config, run, start, group, counts)
        for name in group:
            vocab.save(run.vocab(name))


def _vocab(
    config: Config, run: RunDir, name: SideName, counts: Counts, prefix: tuple[str, ...]
) -> Vocab:
    side = config.side(name)
    if side.tokenizer != "sentencepiece":
        spells = side.unknown == "spell"
        reserved = (*placeholders(config), *prefix)
        return build_vocab(counts, side.vocab_size, side.min_frequency, spells, reserved)
    # Every piece is listed, seen or not: bytes are there so that no text is unknown.
    pieces = SentencePiece(run.pieces(name).read_bytes()).pieces()
    ranked = sorted({*pieces, *prefix}, key=lambda piece: (-counts[piece], piece))
    return Vocab(ranked, [counts[piece] for piece in ranked])


# --- ids ---


def _write_stores(run: RunDir, text: TokenizedText, src: Side, tgt: Side) -> None:
    src_numbers, tgt_numbers = text.numbers
    src_encoder = _Encoder(src, src_numbers)
    tgt_encoder = _Encoder(tgt, tgt_numbers)
    vocab_sizes = (len(src.vocab), len(tgt.vocab))
    fingerprints = (src.fingerprint(), tgt.fingerprint())
    for split in SPLITS:
        blocks = _encoded(text.blocks(split), src_encoder, tgt_encoder)
        write_store(run.store(split), blocks, vocab_sizes, fingerprints)


class _Encoder:
    """Turns numbers of tokens into a side's ids, several for a token that is spelled."""

    def __init__(self, side: Side, tokens: Iterable[str]) -> None:
        ids = array("i")  # of all V tokens, end to end
        counts = array("i")  # [V]
        for token in tokens:
            of_token = side.vocab.encode([token])
            ids.extend(of_token)
            counts.append(len(of_token))
        self._ids = np.array(ids, np.int32)
        self._counts = np.array(counts, np.int64)  # [V]
        self._starts = np.cumsum(self._counts) - self._counts  # [V], in self._ids
        self._prefix = np.array(side.prefix, np.int32)

    def __call__(self, numbers: Ids, lengths: Ids) -> tuple[Ids, Ids]:
        """Encode lines, end to end: the numbers of their tokens [M] and how many each has [L].

        Gives their ids [K], and how many each line has [L].
        """
        counts = self._counts[numbers]  # [M]
        places = runs(self._starts[numbers], counts)  # [K], in self._ids
        # Where the ids of each token start in the result.
        bounds = np.append(0, np.cumsum(counts))  # [M+1]
        line_bounds = np.append(0, np.cumsum(lengths))  # [L+1], in tokens
        ids_of_lines = np.diff(bounds[line_bounds])  # [L]
        return self._with_prefix(self._ids[places], ids_of_lines)

    def _with_prefix(self, ids: Ids, lengths: Ids) -> tuple[Ids, Ids]:
        """Ids [K] of lines and their lengths [L], the prefix put before each line that is not blank."""
        starts = (np.cumsum(lengths) - lengths)[lengths > 0]
        repeated = np.tile(self._prefix, len(starts))
        with_prefix = np.insert(ids, np.repeat(starts, len(self._prefix)), repeated)
        return with_prefix, lengths + len(self._prefix) * (lengths > 0)


def _encoded(
    blocks: Iterable[Block], src_encoder: _Encoder, tgt_encoder: _Encoder
) -> Iterator[Block]:
    for block in blocks:
        src, src_lengths = src_encoder(block.src, block.lengths[:, 0])
        tgt, tgt_lengths = tgt_encoder(block.tgt, block.lengths[:, 1])
        yield Block(src, tgt, np.stack([src_lengths, tgt_lengths], axis=1))


# --- the report ---


def _describe(vocab: Vocab, dev: Counts) -> dict[str, Any]:
    """Size of a vocabulary, and what it covers of dev's tokens; rates in percent, None where dev is empty."""
    tokens = dev.total()
    known = 0  # tokens that the vocabulary lists
    ids = 0  # that dev is encoded in
    unknown = 0  # of these ids
    for token, count in dev.items():
        if count:
            encoded = vocab.encode([token])
            known += count * (token in vocab.ids)
            ids += count * len(encoded)
            unknown += count * encoded.count(UNK)
    return {
        "size": len(vocab),
        "spelling": sum(map(is_marked, vocab.tokens)),
        "dev_tokens": tokens,
        "dev_coverage": _percent(known, tokens),
        "dev_oov": _percent(tokens - known, tokens),
        "dev_unk": _percent(unknown, ids),
    }


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 3) if whole else None
