"""The name of every file that a run writes."""

import re
from pathlib import Path
from typing import Literal, Self

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
SideName = Literal["src", "tgt"]
SIDES: tuple[SideName, SideName] = ("src", "tgt")
LATEST = Path("runs") / "latest"  # its last line: the folder of the run that was trained last
PRETRAINED = "pretrained"  # the name of the model that comes with nmt
_PACKAGE = Path(__file__).parent.parent
CHECKPOINT = re.compile(r"(step|average)-(\d{8})")  # the name of a checkpoint's folder
# The files of a checkpoint.
WEIGHTS = "model.safetensors"
TRAINING = "training.pt"
META = "meta.json"
EXPORT = "export.json"  # in an exported folder: what it holds, and where that comes from


class RunDir:
    """One run's folder. It is self-contained: copied elsewhere, it translates there."""

    def __init__(self, path: Path, checkpoint: Path | None = None, why: str = "") -> None:
        """`checkpoint` is the one that is meant, if not the best; `why` says why this run is taken."""
        self.path = path
        self.checkpoint = checkpoint
        self.why = why
        # For messages, after the name of the run.
        self.note = f" ({why})" if why else ""
        # The effective configuration.
        self.config = path / "config.yaml"
        # Pairs that `prepare` kept and dropped, by rule.
        self.prepare_report = path / "prepare.json"
        # The hash of each file that nmt wrote here: what may be replaced.
        self.written = path / "written.json"
        # Sizes and coverage of the vocabularies, and what they were built from.
        self.vocab_report = path / "vocab.json"
        # The folder of all checkpoints.
        self.checkpoints = path / "checkpoints"
        # A one-line file: the name of the checkpoint that scored best on dev.
        self.best = path / "best"
        # A model of Firefox Translations as it was imported, for its own engine.
        self.firefox = path / "firefox.bin"
        # One JSON line for each logged update and each validation.
        self.metrics = path / "metrics.jsonl"
        # The log of the training, in words.
        self.log = path / "train.log"
        # Translations of dev, one file for each validation.
        self.validation = path / "validation"
        # TensorBoard's event files.
        self.tensorboard = path / "tensorboard"
        # Clean text, and the same as ids.
        self.data = path / "data"
        self.stores = path / "store"
        # The keys of the sentences of train, by which an evaluation knows them.
        self.train_keys = self.data / "train.keys"

    @classmethod
    def at(cls, path: Path, why: str = "") -> Self:
        """The run in a folder, or the run of a checkpoint's folder, which is then the one that is meant.

        `pretrained` is the run that comes with nmt, unless there is a folder of that name.
        """
        if path == Path(PRETRAINED) and not path.exists():
            return cls.pretrained(why)
        if CHECKPOINT.fullmatch(path.name) and path.absolute().parent.name == "checkpoints":
            path = path if path.parent.name else path.absolute()
            return cls(path.parent.parent, path, why)
        return cls(path, why=why)

    @classmethod
    def pretrained(cls, why: str = "") -> Self:
        """The run that comes with nmt."""
        return cls(_PACKAGE / PRETRAINED, why=why)

    def absolute(self) -> Self:
        """The same run, as it is named from any folder."""
        checkpoint = None if self.checkpoint is None else self.checkpoint.absolute()
        return type(self)(self.path.absolute(), checkpoint)

    def places(self) -> list[Path]:
        """All that nmt writes in the folder; a folder of these may hold other things too."""
        files = [self.config, self.prepare_report, self.vocab_report, self.written]
        files += [self.best, self.firefox, self.metrics, self.log]
        files += [name(side) for side in SIDES for name in (self.vocab, self.pieces)]
        return [*files, *self.folders()]

    def folders(self) -> list[Path]:
        """The folders in it in which nmt writes."""
        return [self.data, self.stores, self.checkpoints, self.validation, self.tensorboard]

    def text(self, split: Split, language: str) -> Path:
        """Clean sentences of one split in one language."""
        return self.data / f"{split}.{language}"

    def vocab(self, side: SideName) -> Path:
        """One side's vocabulary."""
        return self.path / f"vocab.{side}.tsv"

    def pieces(self, side: SideName) -> Path:
        """One side's sentencepiece model."""
        return self.path / f"pieces.{side}.model"

    def store(self, split: Split) -> Path:
        """Encoded pairs of one split."""
        return self.stores / split

    def steps(self, kind: str = "step") -> list[Path]:
        """Every `step-…` checkpoint (or of another kind: `average-…`), oldest first."""
        found = self.checkpoints.glob(f"{kind}-*")
        return sorted(path for path in found if CHECKPOINT.fullmatch(path.name))

    def steps_and_averages(self) -> list[Path]:
        """Every checkpoint; an exported run may hold nothing but an average."""
        return [*self.steps(), *self.steps("average")]
