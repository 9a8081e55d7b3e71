"""The build-vocab stage: count tokens, rank them, write vocabularies and the encoded store."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmt.config import Config
from nmt.corpus.lines import read_lines
from nmt.corpus.parallel import map_chunks
from nmt.corpus.store import Block, EncodedPair, ParallelCorpus, block, write_blocks, write_store
from nmt.errors import ConfigError, DataError, ModelError
from nmt.run_dir import SIDES, SPLITS, RunDir, SideName, Split, read_json, replacing, write_json
from nmt.text.side import Side, load_side
from nmt.text.spans import PLACEHOLDERS
from nmt.text.tokenizers import SentencePiece, Tokenizer, load_tokenizer, train_sentencepiece
from nmt.text.vocab import UNK, Vocab, build_vocab, is_marked


def build_vocabularies(config: Config, run: RunDir) -> dict[str, Any]:
    """Build both vocabularies from the run's train text and encode every split; gives the report it wrote.

    Raises DataError if train is missing or empty.
    """
    for name in SIDES:
        text = run.text("train", config.side(name).language)
        if not text.exists() or text.stat().st_size == 0:
            raise DataError(f"{text}: missing or empty; run nmt prepare")
    run.vocab_report.unlink(missing_ok=True)  # what follows may be interrupted, and is then not current
    for group in _groups(config):
        if config.side(group[0]).tokenizer == "sentencepiece":
            _train_pieces(config, run, group)
    with TemporaryDirectory(dir=run.path, prefix=".tokens.") as folder:
        tokenized = {name: Path(folder) / name for name in SIDES}
        counts = {name: _count(config, run, name, tokenized[name]) for name in SIDES}
        _save_vocabs(config, run, counts)
        src, tgt = (load_side(config, run, name) for name in SIDES)
        pairs = {"train": _encode_train(config, run, tokenized, src, tgt)}
    for split in SPLITS[1:]:
        texts = [read_lines(run.text(split, side.language)) for side in (src, tgt)]
        encoded = zip(map(src.encode, texts[0]), map(tgt.encode, texts[1]), strict=True)
        pairs[split] = _write_split(run, split, encoded, src, tgt)
    report: dict[str, Any] = {"fingerprint": _fingerprint(config, run), "pairs": pairs}
    report |= {name: _describe(side, run) for name, side in zip(SIDES, (src, tgt), strict=True)}
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
        text = chain.from_iterable(_cased(config, run, name) for name in group)
        model = train_sentencepiece(text, size, _reserved(config))
    except ConfigError as error:
        raise ConfigError(f"{group[0]}.{error}") from None
    for name in group:
        with replacing(run.pieces(name)) as part:
            part.write_bytes(model)
    _tokenizer.cache_clear()  # it may hold an older model from the same path


def _cased(config: Config, run: RunDir, name: SideName) -> Iterator[str]:
    """Train text of one side, as its tokenizer sees it."""
    side = config.side(name)
    return (line.lower() if side.lowercase else line for line in read_lines(run.text("train", side.language)))


def _count(config: Config, run: RunDir, name: SideName, tokenized: Path) -> Counter[str]:
    """Tokenise train once: the tokens go to the file `tokenized`, a space between two; gives their counts."""
    side = config.side(name)
    work = partial(_tokenize_chunk, side.tokenizer, run.pieces(name), side.lowercase)
    counts: Counter[str] = Counter()
    with tokenized.open("w", encoding="utf-8", newline="\n") as file:
        lines = read_lines(run.text("train", side.language))
        for text, chunk_counts in map_chunks(work, lines, config.prepare.workers, len):
            file.write(text)
            counts.update(chunk_counts)
    return counts


_tokenizer = cache(load_tokenizer)  # each process loads its tokenizer once


def _tokenize_chunk(tokenizer: str, pieces: Path, lowercase: bool, lines: list[str]) -> tuple[str, Counter[str]]:
    loaded: Tokenizer = _tokenizer(tokenizer, pieces)
    rows = [loaded.encode(line.lower() if lowercase else line) for line in lines]  # prepare has normalised them
    return "".join(" ".join(row) + "\n" for row in rows), Counter(chain.from_iterable(rows))


def _save_vocabs(config: Config, run: RunDir, counts: dict[SideName, Counter[str]]) -> None:
    for group in _groups(config):
        vocab = _vocab(config, run, group[0], sum((counts[name] for name in group), Counter()))
        for name in group:
            vocab.save(run.vocab(name))


def _vocab(config: Config, run: RunDir, name: SideName, counts: Counter[str]) -> Vocab:
    side = config.side(name)
    if side.tokenizer != "sentencepiece":
        return build_vocab(counts, side.vocab_size, side.min_frequency, side.unknown == "spell", _reserved(config))
    # Every piece is listed, seen or not: bytes are there so that no text is unknown.
    pieces = SentencePiece(run.pieces(name).read_bytes()).pieces()
    ranked = sorted(pieces, key=lambda piece: (-counts[piece], piece))
    return Vocab(ranked, [counts[piece] for piece in ranked])


def _reserved(config: Config) -> tuple[str, ...]:
    return PLACEHOLDERS if config.prepare.augment.protects else ()


def _encode_train(config: Config, run: RunDir, tokenized: dict[SideName, Path], src: Side, tgt: Side) -> int:
    """Encode what `_count` has tokenised, with all cores."""
    sizes, prints = (len(src.vocab), len(tgt.vocab)), (src.fingerprint(), tgt.fingerprint())
    work = partial(_encode_chunk, (run.vocab("src"), run.vocab("tgt")), prints)
    lines = zip(read_lines(tokenized["src"]), read_lines(tokenized["tgt"]), strict=True)
    blocks = map_chunks(work, lines, config.prepare.workers, lambda pair: len(pair[0]) + len(pair[1]))
    return write_blocks(run.store("train"), blocks, sizes, prints)


@cache
def _vocabs(paths: tuple[Path, Path], _prints: tuple[str, str]) -> tuple[Vocab, Vocab]:
    return Vocab.load(paths[0]), Vocab.load(paths[1])


def _encode_chunk(paths: tuple[Path, Path], prints: tuple[str, str], lines: list[tuple[str, str]]) -> Block:
    src, tgt = _vocabs(paths, prints)  # each process loads them once
    pairs = [
        (src.encode(ours.split(" ") if ours else []), tgt.encode(theirs.split(" ") if theirs else []))
        for ours, theirs in lines
    ]
    return block(pairs, (len(src), len(tgt)))


def _write_split(run: RunDir, split: Split, pairs: Iterable[EncodedPair], src: Side, tgt: Side) -> int:
    sizes = (len(src.vocab), len(tgt.vocab))
    return write_store(run.store(split), pairs, sizes, (src.fingerprint(), tgt.fingerprint()))


def _describe(side: Side, run: RunDir) -> dict[str, Any]:
    """Size of a vocabulary, and what it covers of dev's tokens; rates in percent, None where dev is empty."""
    vocab = side.vocab
    tokens = known = units = unknown = 0
    for line in read_lines(run.text("dev", side.language)):
        words = side.tokens(line)
        ids = vocab.encode(words)
        tokens += len(words)
        known += sum(word in vocab.ids for word in words)
        units += len(ids)
        unknown += ids.count(UNK)
    return {
        "size": len(vocab),
        "spelling": sum(map(is_marked, vocab.tokens)),
        "dev_tokens": tokens,
        "dev_coverage": _percent(known, tokens),
        "dev_oov": _percent(tokens - known, tokens),
        "dev_unk": _percent(unknown, units),
    }


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 3) if whole else None
