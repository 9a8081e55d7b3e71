"""The formats that nmt reads: how a good file of each is made, and what a right result of reading it is."""
# ruff: noqa: S101 - an assert says what a right result is

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from fuzzing import firefox, foreign
from nmt.config.load import dump, load_config
from nmt.config.schema import Config
from nmt.corpus.cleaning.prepare import is_current
from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store
from nmt.corpus.reading.pairs import SentencePair, read_jsonl, read_pairs, read_tsv
from nmt.files import checksum, read_json
from nmt.jobs.output import File, Output, begin_reading
from nmt.run import checkpoint
from nmt.run.folder import META, TRAINING, WEIGHTS, RunDir
from nmt.text.normalize import normalize
from nmt.text.pieces import train_sentencepiece
from nmt.text.tokenizers import load_tokenizer
from nmt.text.vocab import Vocab, build_vocab
from nmt.train.log import _drop_records_after
from nmt.train.start.vectors import read_vectors

_SENTENCES = [
    "one two .",
    "三 二 , 一 。",
    "a b c\td",
    "I like tea, and you?",
    "我喜欢喝茶，你呢？",
]
_LINES = _SENTENCES * 12
_STEP = "step-00000001"

_CONFIG = """\
run_dir: runs/x
shared_vocab: false
data:
  corpora: [{name: a, tsv: x.tsv, weight: 2}]
src: &s {vocab_size: 200}
model:
  d_model: 64
  heads: 2
  norm: pre
  max_length: 32
train:
  updates: 20
  betas: [0.9, 0.98]
  peak_lr: 3e-3
search: {beam_size: 2}
evaluate: {metrics: [bleu, chrf]}
"""
_OVERRIDES = [
    "train.updates=3",
    "search.beam_size=10",
    "evaluate.metrics=[bleu, ter]",
    "data.path=a b",
    "src.lowercase=true",
]


@dataclass(frozen=True)
class Format:
    """One kind of file.

    `make` writes good files into a folder, and returns those that are to be damaged. `read` reads them from the
    folder; it raises UserError for what cannot be read, and AssertionError for a result that is not right.
    """

    make: Callable[[Path], list[Path]]
    read: Callable[[Path], None]


def put(path: Path, data: bytes | str) -> list[Path]:
    """Write one file."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return [path]


# --- configurations ---


def make_config(folder: Path) -> list[Path]:
    """Some of every section, and an anchor."""
    return put(folder / "config.yaml", _CONFIG)


def read_config(folder: Path) -> None:
    """What was read is what its own dump would give."""
    config = load_config(folder / "config.yaml")
    assert Config.model_validate(dump(config)) == config


def make_overrides(folder: Path) -> list[Path]:
    """One override on each line."""
    return put(folder / "overrides", "\n".join(_OVERRIDES))


def read_overrides(folder: Path) -> None:
    """Arguments of a command line: text without NUL, bytes that are not UTF-8 as Python gives them."""
    arguments = (folder / "overrides").read_bytes().replace(b"\0", b"")
    load_config(None, arguments.decode(errors="surrogateescape").split("\n"))


# --- vocabularies, pieces, vectors ---


def make_vocab(folder: Path) -> list[Path]:
    """Words and marked characters."""
    counts = Counter(" ".join(_LINES).split())
    build_vocab(counts, 40, 2, spells=True).save(folder / "vocab.tsv")
    return [folder / "vocab.tsv"]


def read_vocab(folder: Path) -> None:
    """Saved again it is the same file; every text has ids, and every id text."""
    vocab = Vocab.load(folder / "vocab.tsv")
    vocab.save(folder / "again.tsv")
    assert Vocab.load(folder / "again.tsv").tokens == vocab.tokens
    ids = vocab.encode(["tea", "茶", "<B>x", "x" * 100])
    assert all(0 <= i < len(vocab) for i in ids)
    vocab.decode(range(len(vocab)))


def make_pieces(folder: Path) -> list[Path]:
    """A sentencepiece model."""
    return put(folder / "pieces.model", train_sentencepiece(_LINES, 300))


def read_pieces(folder: Path) -> None:
    """It splits and joins; a damaged table of pieces may lose text, but not end the process."""
    tokenizer = load_tokenizer("sentencepiece", folder / "pieces.model")
    for line in (*_SENTENCES, "", "x" * 300):
        assert isinstance(tokenizer.decode(tokenizer.encode(line)), str)


def make_vectors(folder: Path) -> list[Path]:
    """Five vectors of three numbers, with a header."""
    rows = [f"{word} 0.1 -2e-3 3\n" for word in ("tea", "cup", "of", "a", ".")]
    return put(folder / "vectors.txt", "5 3\n" + "".join(rows))


def read_word_vectors(folder: Path) -> None:
    """All numbers are finite."""
    vocab = Vocab(["tea", "cup", "of", "a", "."], [1] * 5)
    embedding = torch.nn.Embedding(9, 3)
    read_vectors(folder / "vectors.txt", vocab, embedding)
    assert embedding.weight.isfinite().all()


# --- corpora ---


def _two_columns() -> str:
    return "".join(f"{line}\t{line}\n" for line in _LINES)


def make_aligned(folder: Path) -> list[Path]:
    """A file for each language."""
    text = "\n".join(_LINES)
    return [*put(folder / "x.en", text), *put(folder / "x.zh", text)]


def make_tsv(folder: Path) -> list[Path]:
    """Two columns."""
    return put(folder / "x.tsv", _two_columns())


def make_jsonl(folder: Path) -> list[Path]:
    """An object on each line."""
    rows = [json.dumps({"en": line, "zh": line}) + "\n" for line in _LINES]
    return put(folder / "x.jsonl", "".join(rows))


def make_gz(folder: Path) -> list[Path]:
    """Two columns, zipped."""
    return put(folder / "x.tsv.gz", gzip.compress(_two_columns().encode()))


def check_pairs(pairs: Iterator[SentencePair]) -> None:
    """Text that UTF-8 can write, and that is one line once it is normalised."""
    for pair in pairs:
        for text in pair:
            assert "\n" not in normalize(text, "en").encode().decode()


def make_store(folder: Path) -> list[Path]:
    """Five encoded pairs."""
    src_ids = np.array([5, 6, 8, 4, 5])
    tgt_ids = np.array([7, 9, 4, 4, 4, 6])
    lengths = np.array([(2, 1), (1, 2), (0, 1), (1, 1), (1, 1)])
    block = Block(src_ids, tgt_ids, lengths)
    write_store(folder / "store", [block], (10, 10), ("a", "b"))
    names = ("src.ids", "tgt.ids", "offsets.npy", "meta.json")
    return [folder / "store" / name for name in names]


def read_store(folder: Path) -> None:
    """Lengths are those of the pairs."""
    store = ParallelCorpus(folder / "store")
    lengths = store.lengths
    for i in range(len(store)):
        assert [len(ids) for ids in store[i]] == lengths[i].tolist()


# --- checkpoints ---


def make_checkpoint(folder: Path) -> Path:
    """A model of one layer, and the state of its optimizer."""
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    training = {"optimizers": [optimizer.state_dict()], "scaler": None}
    meta = checkpoint.Meta(1, ("a", "b"), {"bleu": 1.0})
    checkpoint.save(RunDir(folder), _STEP, checkpoint.parameters_of(model), meta, training)
    return folder / "checkpoints" / _STEP


def put_checksum(path: Path, name: str) -> None:
    """Make the checksum in a checkpoint's meta data fit a damaged file, as an attacker would."""
    meta = json.loads((path / META).read_bytes())
    meta.pop("seal", None)  # it may be missing, so an attacker leaves it out
    meta["sha256"][name] = checksum(path / name)
    (path / META).write_text(json.dumps(meta))


def make_safetensors(folder: Path) -> list[Path]:
    """The weights of a checkpoint."""
    return [make_checkpoint(folder) / WEIGHTS]


def read_safetensors(folder: Path) -> None:
    """Weights that fit the model are put into it."""
    path = folder / "checkpoints" / _STEP
    put_checksum(path, WEIGHTS)
    model = torch.nn.Linear(4, 3)
    checkpoint.put_weights(model, checkpoint.load_weights(path), path)


def make_training(folder: Path) -> list[Path]:
    """The optimizer's state of a checkpoint."""
    return [make_checkpoint(folder) / TRAINING]


def read_training(folder: Path) -> None:
    """It is loaded."""
    path = folder / "checkpoints" / _STEP
    put_checksum(path, TRAINING)
    checkpoint.load_training(path)


def make_meta(folder: Path) -> list[Path]:
    """What a checkpoint says of itself."""
    return [make_checkpoint(folder) / META]


def read_meta(folder: Path) -> None:
    """Both functions that read it."""
    path = folder / "checkpoints" / _STEP
    checkpoint.read_meta(path)
    checkpoint.load_weights(path)


# --- records of runs ---


def make_prepared(folder: Path) -> list[Path]:
    """A report of prepare, with the files that it names."""
    (folder / "data").mkdir()
    for split in ("train", "dev", "test"):
        put(folder / "data" / f"{split}.en", "x\n")
        put(folder / "data" / f"{split}.zh", "x\n")
    report = {"fingerprint": "x", "totals": {"read": 3}, "corpora": [{"name": "a"}]}
    return put(folder / "prepare.json", json.dumps(report))


def read_prepared(folder: Path) -> None:
    """A report that is not of this configuration is not current."""
    config = load_config(None, [f"data.path={folder / 'data'}"])
    assert not is_current(config, RunDir(folder))
    read_json(folder / "prepare.json")


def make_metrics(folder: Path) -> list[Path]:
    """Records of ten updates."""
    records = [{"kind": "train", "update": n, "loss": 1 / (n + 1)} for n in range(10)]
    return put(folder / "metrics.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))


def read_metrics(folder: Path) -> None:
    """Records of later updates are dropped."""
    _drop_records_after(RunDir(folder), 5)


def finished(folder: Path) -> tuple[Output, File]:
    """A file that was translated into a folder, and where that is noted."""
    return Output(folder / ".nmt", "--output-dir", overwrite=False), File(
        folder / "in.en", folder / "out.zh"
    )


def make_done(folder: Path) -> list[Path]:
    """The record of a file that was translated."""
    put(folder / "in.en", "one\n")
    output, file = finished(folder)
    with output.locked([file]):
        begin_reading(file)
        file.parts = ["000000000001-1-x"]
        output.store(file, file.parts[0], "一\n".encode())
        output.put_together(file, "a model")
    return [folder / ".nmt" / "out.zh.done"]


def read_done(folder: Path) -> None:
    """A finished file is what was noted of it."""
    output, file = finished(folder)
    assert not output.is_finished(file, "another model")
    assert not (output.is_finished(file, "a model") and not output.knows(file))


FORMATS: dict[str, Format] = {
    "config": Format(make_config, read_config),
    "overrides": Format(make_overrides, read_overrides),
    "vocabulary": Format(make_vocab, read_vocab),
    "sentencepiece": Format(make_pieces, read_pieces),
    "aligned": Format(make_aligned, lambda at: check_pairs(read_pairs(at / "x.en", at / "x.zh"))),
    "tsv": Format(make_tsv, lambda at: check_pairs(read_tsv(at / "x.tsv"))),
    "jsonl": Format(make_jsonl, lambda at: check_pairs(read_jsonl(at / "x.jsonl"))),
    "gz": Format(make_gz, lambda at: check_pairs(read_tsv(at / "x.tsv.gz", most=10**6))),
    "store": Format(make_store, read_store),
    "safetensors": Format(make_safetensors, read_safetensors),
    "training.pt": Format(make_training, read_training),
    "meta.json": Format(make_meta, read_meta),
    "prepare.json": Format(make_prepared, read_prepared),
    "metrics": Format(make_metrics, read_metrics),
    "done.json": Format(make_done, read_done),
    "vectors": Format(make_vectors, read_word_vectors),
    "marian hf": Format(foreign.make_hf_safetensors, foreign.read_foreign),
    "marian .bin": Format(foreign.make_hf_bin, foreign.read_foreign),
    "marian npz": Format(foreign.make_npz, foreign.read_foreign),
    "firefox": Format(firefox.make_firefox, firefox.read_firefox),
    "models.json": Format(firefox.make_list, firefox.read_list),
}
