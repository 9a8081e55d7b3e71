"""Fixtures for the whole suite: a little world of number words, and a run trained on it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import settings
from loaded import run_loaded
from real_data import ABSENT
from shell import loaded_programs

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.stages import claim, ensure_prepared, ensure_vocabularies
from nmt.run.folder import RunDir
from nmt.train.distributed import World, world
from nmt.train.loop import Trainer
from nmt.train.validation import Validator

settings.register_profile(
    "unhurried", deadline=None
)  # a busy machine makes an example slow, not wrong
settings.load_profile("unhurried")
# A shell's background job ignores the first, nohup's the second, and so do its children: a training that a test
# interrupts would never end.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# Two tests run at once, each on a thread: more threads in their processes only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What the commands are expected to write must not depend on this machine's CPU.
os.environ["NMT_ENGINE"] = "torch"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly which tests did not run because there is no real data beside the project."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple)]
    absent = sorted({reason.partition(": ")[2] for reason in reasons if ABSENT in reason})
    count = sum(ABSENT in reason for reason in reasons)
    if count:
        terminalreporter.section("NOT TESTED ON REAL DATA", red=True, bold=True)
        terminalreporter.line(f"{count} tests did not run, because these folders are absent:")
        for folder in absent:
            terminalreporter.line(f"  {folder.removeprefix(f'{ABSENT}: ')}")


_ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
DIGITS = dict(zip(_ENGLISH, "一二三四五六七八九", strict=True))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other


NMT = [sys.executable, "-m", "nmt"]


def run_nmt(
    *arguments: object, stdin: str | bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a process of its own, which need not load torch first."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return run_loaded(list(map(str, arguments)), data, cwd, os.environ | environment)


def counting_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Sentences of one to six number words and what they say in Chinese."""
    chance = Random(seed)
    pairs = {}
    while len(pairs) < count:
        words = chance.choices(list(DIGITS), k=chance.randint(1, 6))
        pairs[" ".join(words) + "."] = "，".join(DIGITS[word] for word in words) + "。"
    return list(pairs.items())


def write_corpus(folder: Path, train: int = 400, dev: int = 40, test: int = 20) -> Path:
    """A folder with train, dev and test of the little world, no sentence in two of them."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = counting_pairs(train + dev + test, seed=7)
    start = 0
    for split, size in (("train", train), ("dev", dev), ("test", test)):
        part = pairs[start : start + size]
        start += size
        for side, language in ((0, "en"), (1, "zh")):
            text = "".join(pair[side] + "\n" for pair in part)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    return folder


TINY = [
    "tgt.tokenizer=char",
    "model.d_model=64",
    "model.heads=2",
    "model.d_ff=64",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.dropout=0",
    "model.max_length=32",
    "train.batch_tokens=200",
    "train.peak_lr=3e-3",
    "train.warmup=20",
    "train.label_smoothing=0",
    "train.precision=fp32",
    "train.device=cpu",
    "train.updates=20",
    "train.validate_every=10",
    "train.save_every=10",
    "train.log_every=5",
    "train.average=2",
    "train.keep=3",
    "search.beam_size=2",
]


def tiny_config(data: Path, run_dir: Path, *overrides: str) -> Config:
    """A model that trains in seconds."""
    return load_config(None, [f"data.path={data}", f"run_dir={run_dir}", *TINY, *overrides])


def ready(config: Config) -> RunDir:
    """A run that is prepared and encoded."""
    run = claim(config, overwrite=False)
    ensure_prepared(config, run, lambda _: None, lambda _: None)
    ensure_vocabularies(config, run, lambda _: None)
    return run


def train(config: Config) -> RunDir:
    """Train (or go on training) in this process."""
    run = ready(config)
    with world(config.train.device) as here:
        Trainer(config, run, here).train()
    return run


@pytest.fixture
def trainer(corpus: Path, tmp_path: Path) -> Trainer:
    """A training of the little world that has not begun, in the folder "run"."""
    config = tiny_config(corpus, tmp_path / "run")
    return Trainer(config, ready(config), World(0, 1, torch.device("cpu")))


def dev_losses(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> None:
    """Let the next validations find these losses, one each."""
    left = iter(losses)

    def measure(self: Validator, _model: object) -> tuple[dict[str, float], list[str]]:
        return {"loss": next(left), "bleu": 0.0, "chrf": 0.0}, self.references

    monkeypatch.setattr(Validator, "measure", measure)


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """A folder for the front of $PATH, with `nmt` and `python` that need not load torch: for `run_shell`."""
    with loaded_programs() as folder:
        yield folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """A run that has learned to count. Its best checkpoint is the last one, on every machine: no other is validated."""
    folder = tmp_path_factory.mktemp("runs") / "counting"
    # So few updates are enough with each of six seeds, in fp32 and in bf16.
    course = (
        "train.seed=4",
        "train.updates=600",
        "train.validate_every=600",
        "train.save_every=200",
        "train.average=0",
    )
    return train(tiny_config(corpus, folder, *course))


@pytest.fixture(scope="session")
def trained_20(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """What 20 updates leave, undisturbed: checkpoints after 10 and 20. Tests change copies of it."""
    return train(tiny_config(corpus, tmp_path_factory.mktemp("runs") / "straight"))
