"""Damage the files that nmt reads, at random, and see that each gives a right result or a line that says what is wrong.

    python scripts/fuzz.py --inputs 100000                 # every format; minutes to hours
    python scripts/fuzz.py --inputs 1000 --format store    # one of them

A traceback, a hang, more than 1 GB or a process that dies is printed with the damaged file, and the exit code is 1.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np
import torch

from nmt import checkpoint
from nmt.config.load import dump, load_config, validate
from nmt.config.yaml_files import Mapping, apply_overrides
from nmt.corpus.lines import SentencePair, read_jsonl, read_pairs, read_tsv
from nmt.corpus.prepare import is_current
from nmt.corpus.store import ParallelCorpus, write_store
from nmt.errors import UserError
from nmt.files import read_json
from nmt.model.vectors import read_vectors
from nmt.run_dir import RunDir
from nmt.text.normalize import normalize
from nmt.text.tokenizers import load_tokenizer, train_sentencepiece
from nmt.text.vocab import Vocab, build_vocab
from nmt.train.log import _forget_after
from nmt.translate.resumable import _read

SECONDS = 20  # after which an input counts as a hang
MOST_MEMORY = 2**30  # bytes that a format's process may grow by

_LINES = [
    "one two .",
    "三 二 , 一 。",
    "a b c\td",
    "I like tea, and you?",
    "我喜欢喝茶，你呢？",
] * 12
_TOKENS = [
    b"",
    b"\0",
    b"\xff\xfe",
    b"\n",
    b"\r\n",
    b"\t",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xff" * 8,
]
_TOKENS += [
    b"9" * 5000,
    b"0x" + b"f" * 5000,
    b"[" * 3000,
    b"{" * 3000,
    b"\x80\x02cposix\nsystem\n",
    b"\x7f" + b"\xff" * 7,
]
_TOKENS += [
    b"!!python/object/apply:os.system ['true']",
    b"&a [x, x, x, x, x, x, x, x, x]",
    b"!!binary aaaa",
    b"<<: ",
]
_TOKENS += [
    b'"\\e[31m"',
    *b"nan -1 1e999 &a[*a] *a 2001-13-45 18446744073709551616 ../../x null true '".split(),
]


class HangError(BaseException):
    """Not an Exception, so that what reads a file does not take it for a fault of the file."""


@dataclass(frozen=True)
class Format:
    """Good files of one kind, and how they are read; `read` raises AssertionError for a result that is not right."""

    make: Callable[
        [Path], list[Path]
    ]  # writes them into a folder, and gives those that are to be damaged
    read: Callable[[Path], None]


def put(path: Path, data: bytes | str) -> list[Path]:
    """Write one file."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return [path]


def make_config(folder: Path) -> list[Path]:
    """Some of every section, and an anchor."""
    text = (
        "run_dir: runs/x\nshared_vocab: false\ndata:\n  corpora: [{name: a, tsv: x.tsv, weight: 2}]\n"
        "src: &s {vocab_size: 200}\nmodel:\n  d_model: 64\n  heads: 2\n  norm: pre\n  max_length: 32\n"
        "train:\n  updates: 20\n  betas: [0.9, 0.98]\n  peak_lr: 3e-3\nsearch: {beam_size: 2}\n"
        "evaluate: {metrics: [bleu, chrf]}\n"
    )
    return put(folder / "config.yaml", text)


def read_config(folder: Path) -> None:
    """What was read is what its own dump would give."""
    config = load_config(folder / "config.yaml")
    assert validate(Mapping(dump(config), {}, "dump")) == config


def make_overrides(folder: Path) -> list[Path]:
    """A line each."""
    lines = [
        "train.updates=3",
        "search.beam_size=10",
        "evaluate.metrics=[bleu, ter]",
        "data.path=a b",
        "src.lowercase=true",
    ]
    return put(folder / "overrides", "\n".join(lines))


def read_overrides(folder: Path) -> None:
    """Arguments of a command line: text without NUL, bytes that are not UTF-8 as Python gives them."""
    text = (folder / "overrides").read_bytes().replace(b"\0", b"").decode(errors="surrogateescape")
    settings = Mapping({}, {}, "the command line")
    apply_overrides(settings, text.split("\n"))
    validate(settings)


def make_vocab(folder: Path) -> list[Path]:
    """Words and marked characters."""
    vocab = build_vocab(Counter(" ".join(_LINES).split()), 40, 2, spells=True)
    vocab.save(folder / "vocab.tsv")
    return [folder / "vocab.tsv"]


def read_vocab(folder: Path) -> None:
    """Saved again it is the same file; every text has ids, and every id text."""
    vocab = Vocab.load(folder / "vocab.tsv")
    vocab.save(folder / "again.tsv")
    assert Vocab.load(folder / "again.tsv").tokens == vocab.tokens
    assert all(0 <= i < len(vocab) for i in vocab.encode(["tea", "茶", "<B>x", "x" * 100]))
    vocab.decode(range(len(vocab)))


def make_pieces(folder: Path) -> list[Path]:
    """A sentencepiece model."""
    return put(folder / "pieces.model", train_sentencepiece(_LINES, 300))


def read_pieces(folder: Path) -> None:
    """It splits and joins; a damaged table of pieces may lose text, but not the process."""
    tokenizer = load_tokenizer("sentencepiece", folder / "pieces.model")
    for line in (*_LINES[:5], "", "x" * 300):
        assert isinstance(tokenizer.decode(tokenizer.encode(line)), str)


def make_aligned(folder: Path) -> list[Path]:
    """Two files."""
    return put(folder / "x.en", "\n".join(_LINES)) + put(folder / "x.zh", "\n".join(_LINES))


def right_pairs(pairs: Iterator[SentencePair]) -> None:
    """Text that UTF-8 can write, and that is one line once it is normalised."""
    for pair in pairs:
        for text in pair:
            assert "\n" not in normalize(text, "en").encode().decode()


def make_gz(folder: Path) -> list[Path]:
    """Two columns, zipped."""
    return put(
        folder / "x.tsv.gz", gzip.compress("".join(f"{line}\t{line}\n" for line in _LINES).encode())
    )


def make_store(folder: Path) -> list[Path]:
    """Five pairs."""
    src, tgt, lengths = map(
        np.array, ([5, 6, 8, 4, 5], [7, 9, 4, 4, 4, 6], [(2, 1), (1, 2), (0, 1), (1, 1), (1, 1)])
    )
    write_store(folder / "store", [(src, tgt, lengths)], (10, 10), ("a", "b"))
    return [folder / "store" / name for name in ("src.ids", "tgt.ids", "offsets.npy", "meta.json")]


def read_store(folder: Path) -> None:
    """Lengths are those of the pairs."""
    store = ParallelCorpus(folder / "store")
    lengths = store.lengths
    for i in range(len(store)):
        assert [len(ids) for ids in store[i]] == lengths[i].tolist()


def make_checkpoint(folder: Path) -> list[Path]:
    """A model of one layer, and the state of its optimizer."""
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    training = {"optimizer": optimizer.state_dict(), "scaler": None}
    parameters = checkpoint.parameters_of(model)
    checkpoint.save(
        RunDir(folder),
        "step-00000001",
        parameters,
        checkpoint.Meta(1, ("a", "b"), {"bleu": 1.0}),
        training,
    )
    return [folder / "checkpoints" / "step-00000001"]


def with_checksums(folder: Path, names: tuple[str, ...]) -> None:
    """A stranger's checksums fit what the stranger has written."""
    meta = json.loads((folder / checkpoint.META).read_bytes())
    meta.pop("seal", None)  # a stranger leaves out what is not needed
    for name in names:
        meta["sha256"][name] = checkpoint.checksum(folder / name)
    (folder / checkpoint.META).write_text(json.dumps(meta))


def make_safetensors(folder: Path) -> list[Path]:
    """The weights of that."""
    return [make_checkpoint(folder)[0] / checkpoint.WEIGHTS]


def read_safetensors(folder: Path) -> None:
    """Weights that fit the model are put into it; their checksum fits."""
    at = folder / "checkpoints" / "step-00000001"
    with_checksums(at, (checkpoint.WEIGHTS,))
    model = torch.nn.Linear(4, 3)
    checkpoint.put_weights(model, checkpoint.load_weights(at), at)


def make_training(folder: Path) -> list[Path]:
    """The optimizer's state of that."""
    return [make_checkpoint(folder)[0] / checkpoint.TRAINING]


def read_training(folder: Path) -> None:
    """Its checksum fits."""
    at = folder / "checkpoints" / "step-00000001"
    with_checksums(at, (checkpoint.TRAINING,))
    checkpoint.load_training(at)


def make_meta(folder: Path) -> list[Path]:
    """What a checkpoint says of itself."""
    return [make_checkpoint(folder)[0] / checkpoint.META]


def read_meta(folder: Path) -> None:
    """Both readers of it."""
    at = folder / "checkpoints" / "step-00000001"
    checkpoint.read_meta(at)
    checkpoint.load_weights(at)


def make_prepared(folder: Path) -> list[Path]:
    """A report of prepare, with the files that it speaks of."""
    (folder / "data").mkdir()
    for split in ("train", "dev", "test"):
        for language in ("en", "zh"):
            put(folder / "data" / f"{split}.{language}", "x\n")
    return put(
        folder / "prepare.json",
        json.dumps({"fingerprint": "x", "totals": {"read": 3}, "corpora": [{"name": "a"}]}),
    )


def read_prepared(folder: Path) -> None:
    """A report that is not of this configuration is not current."""
    config = load_config(None, [f"data.path={folder / 'data'}"])
    assert not is_current(config, RunDir(folder))
    read_json(folder / "prepare.json")


def make_metrics(folder: Path) -> list[Path]:
    """Records of ten updates."""
    records = [json.dumps({"kind": "train", "update": n, "loss": 1 / (n + 1)}) for n in range(10)]
    return put(folder / "metrics.jsonl", "\n".join(records) + "\n")


def read_metrics(folder: Path) -> None:
    """What is left is of updates that are done."""
    _forget_after(RunDir(folder), 5)


def make_done(folder: Path) -> list[Path]:
    """A translation that was interrupted."""
    put(folder / "text", "x\n" * 10)
    return put(
        folder / "done.json", json.dumps({"lines": 10, "bytes": 20, "input": "x", "made_with": "y"})
    )


def read_done(folder: Path) -> None:
    """No more is done than there is."""
    done = _read(folder)
    assert 0 <= done["bytes"] <= 20


def make_vectors(folder: Path) -> list[Path]:
    """Five vectors of three numbers, with a header."""
    rows = [f"{word} 0.1 -2e-3 3" for word in ("tea", "cup", "of", "a", ".")]
    return put(folder / "vectors.txt", "5 3\n" + "\n".join(rows) + "\n")


def read_word_vectors(folder: Path) -> None:
    """All numbers are finite."""
    embedding = torch.nn.Embedding(9, 3)
    read_vectors(folder / "vectors.txt", Vocab(["tea", "cup", "of", "a", "."], [1] * 5), embedding)
    assert embedding.weight.isfinite().all()


FORMATS: dict[str, Format] = {
    "config": Format(make_config, read_config),
    "overrides": Format(make_overrides, read_overrides),
    "vocabulary": Format(make_vocab, read_vocab),
    "sentencepiece": Format(make_pieces, read_pieces),
    "aligned": Format(make_aligned, lambda at: right_pairs(read_pairs(at / "x.en", at / "x.zh"))),
    "tsv": Format(
        lambda at: put(at / "x.tsv", "".join(f"{line}\t{line}\n" for line in _LINES)),
        lambda at: right_pairs(read_tsv(at / "x.tsv")),
    ),
    "jsonl": Format(
        lambda at: put(
            at / "x.jsonl", "".join(json.dumps({"en": line, "zh": line}) + "\n" for line in _LINES)
        ),
        lambda at: right_pairs(read_jsonl(at / "x.jsonl")),
    ),
    "gz": Format(make_gz, lambda at: right_pairs(read_tsv(at / "x.tsv.gz", most=10**6))),
    "store": Format(make_store, read_store),
    "safetensors": Format(make_safetensors, read_safetensors),
    "training.pt": Format(make_training, read_training),
    "meta.json": Format(make_meta, read_meta),
    "prepare.json": Format(make_prepared, read_prepared),
    "metrics": Format(make_metrics, read_metrics),
    "done.json": Format(make_done, read_done),
    "vectors": Format(make_vectors, read_word_vectors),
}


def damaged(data: bytes, chance: Random) -> bytes:
    """One change, or a few: bytes, pieces left out, doubled, moved or put in, an end cut off, a number made large."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        start = chance.randrange(len(changed) + 1)
        end = min(len(changed), start + chance.choice((1, 1, 2, 4, 8, 40, 400)))
        kind = chance.randrange(7)
        if kind == 0:
            changed[start:end] = chance.randbytes(end - start)
        elif kind == 1:
            del changed[start:end]
        elif kind == 2:
            changed[start:start] = changed[start:end] * chance.choice((1, 2, 50))
        elif kind == 3:
            changed[start:end] = chance.choice(_TOKENS)
        elif kind == 4:
            del changed[start:]
        elif kind == 5 and start < end:
            changed[start] ^= 1 << chance.randrange(8)
        else:
            changed[start:end] = chance.choice((b"\xff", b"\0", b"\x7f", b"9")) * (end - start)
    return bytes(changed)


def too_slow(_signal: int, _frame: FrameType | None) -> None:
    """Called by the alarm."""
    raise HangError(f"more than {SECONDS} seconds")


def attack(name: str, inputs: int, seed: int, folder: Path, told: Any) -> None:
    """Damage and read, in a process of its own; `told` gets the counts, or the crash."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)  # sentencepiece writes its messages there
    signal.signal(signal.SIGALRM, too_slow)
    right, before = 0, peak_memory()
    try:
        for is_right in trials(name, inputs, seed, folder):
            right += is_right
            signal.alarm(SECONDS)
            assert peak_memory() - before < MOST_MEMORY, "more than 1 GB"
    except BaseException as error:
        told.put(("crash", f"{type(error).__name__}: {error}"[:500]))
    else:
        told.put(("done", right, inputs - right, peak_memory() // 2**20))


def trials(name: str, inputs: int, seed: int, folder: Path) -> Iterator[bool]:
    """Damage and read, so many times; gives whether a result came of it, or else a message. Other errors go through."""
    chance, form = Random(f"{seed} {name}"), FORMATS[name]
    good = {path: path.read_bytes() for path in form.make(folder)}
    others = {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path not in good
    }
    form.read(folder)  # what is whole is read
    for _ in range(inputs):
        for path, data in others.items():
            path.write_bytes(data)
        target = chance.choice(list(good))
        for path, data in good.items():
            path.write_bytes(damaged(data, chance) if path == target else data)
        said = "right"
        try:
            form.read(folder)
        except UserError as error:
            said = str(error)
        assert said, "an error that says nothing"
        yield said == "right"


def peak_memory() -> int:
    """The most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(name: str, inputs: int, seed: int) -> bool:
    """One row of the table; gives whether all went well."""
    context = multiprocessing.get_context("spawn")
    folder = Path(
        tempfile.mkdtemp(prefix="nmt-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    )  # noqa: S108
    told: Any = context.SimpleQueue()
    process = context.Process(target=attack, args=(name, inputs, seed, folder, told))
    process.start()
    process.join()
    outcome: Any = (
        ("crash", f"the process ended with {process.exitcode}") if told.empty() else told.get()
    )
    if outcome[0] == "done":
        right, refused, memory = outcome[1:]
        print(
            f"{name:<14} | {inputs:>7,} | {right:>7,} | {refused:>7,} | {memory:>5,} MB", flush=True
        )
        shutil.rmtree(folder)
        return True
    print(f"{name:<14} | CRASH: {outcome[1]}; the files as they were: {folder}", flush=True)
    return False


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=1000, help="of each format")
    parser.add_argument("--format", action="append", choices=FORMATS, help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("format         |  inputs |   right | refused | peak memory")
    outcomes = [fuzz(name, asked.inputs, asked.seed) for name in asked.format or FORMATS]
    sys.exit(0 if all(outcomes) else 1)


if __name__ == "__main__":
    main()
