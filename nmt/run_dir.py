"""The name of every file that a run writes, and how files are written: whole or not at all."""

import fcntl
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from nmt.errors import ModelError, UserError

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
SideName = Literal["src", "tgt"]
SIDES: tuple[SideName, SideName] = ("src", "tgt")
LATEST = Path("runs") / "latest"
CHECKPOINT = re.compile(r"(step|average)-(\d{8})")  # the name of one's folder
_PART = ".part"  # ends the names of folders that hold what is not whole
_LEFT_OVER = (f".*{_PART}", ".prepare.*", ".tokens.*")
_LARGEST = (
    2**28
)  # bytes of a file that is read at once; a small archive may hold an endless one, as a hole


class RunDir:
    """One run's folder. It is self-contained: copied elsewhere, it translates there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"  # the effective configuration
        self.prepare_report = path / "prepare.json"  # what `prepare` kept and dropped, by rule
        self.vocab_report = (
            path / "vocab.json"
        )  # sizes, coverage, and what the vocabularies were built from
        self.checkpoints = path / "checkpoints"  # the folder of all checkpoints
        self.best = (
            path / "best"
        )  # a one-line file: the name of the checkpoint that scored best on dev
        self.metrics = (
            path / "metrics.jsonl"
        )  # one JSON line for each logged update and each validation
        self.log = path / "train.log"  # what training said, in words
        self.validation = path / "validation"  # translations of dev, one file for each validation
        self.tensorboard = path / "tensorboard"  # TensorBoard's event files

    def text(self, split: Split, language: str) -> Path:
        """Clean sentences of one split in one language."""
        return self.path / "data" / f"{split}.{language}"

    def vocab(self, side: SideName) -> Path:
        """One side's vocabulary."""
        return self.path / f"vocab.{side}.tsv"

    def pieces(self, side: SideName) -> Path:
        """One side's sentencepiece model."""
        return self.path / f"pieces.{side}.model"

    def store(self, split: Split) -> Path:
        """Encoded pairs of one split."""
        return self.path / "store" / split

    def steps(self, kind: str = "step") -> list[Path]:
        """Every `step-…` checkpoint (or of another kind: `average-…`), oldest first."""
        return sorted(
            path for path in self.checkpoints.glob(f"{kind}-*") if CHECKPOINT.fullmatch(path.name)
        )


@contextmanager
def locked(run: RunDir) -> Iterator[None]:
    """Keep a second process from training in the same run. The system frees the lock of a process that dies.

    What such a process left half written is cleared away. Raises UserError if another process holds the lock, or if
    what would be written might land outside the folder.
    """
    run.path.mkdir(parents=True, exist_ok=True)
    if link := next((path for path in run.path.rglob("*") if path.is_symlink()), None):
        raise UserError(
            f"{link}: a link, through which files elsewhere would be written; put a file or folder there"
        )
    refuse_strange(run)
    with (run.path / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{run.path}: another process is at work in this run; wait for it, or stop it"
            ) from None
        _clear_left_overs(run)
        yield


def _clear_left_overs(run: RunDir) -> None:
    for work in [path for pattern in _LEFT_OVER for path in run.path.rglob(pattern)]:
        path = work.with_name(work.name[1:].rsplit(".", 2)[0])
        if (
            (work / "old").exists() and not path.exists()
        ):  # killed between two renames; the new one is whole already
            (work / path.name).rename(path)
        shutil.rmtree(work, ignore_errors=True)


def refuse_strange(run: RunDir) -> None:
    """Raise ModelError for a pipe or a device among a run's files, which might be read for ever."""
    if strange := next(
        (path for path in run.path.rglob("*") if not (path.is_file() or path.is_dir())), None
    ):
        raise ModelError(
            f"{strange}: neither a file nor a folder; a run holds nothing else: take it out"
        )
