"""nmt's commands on a GPU, as people type them: each once, with its seconds."""

import json
import os
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from nmt.corpus.reading.lines import read_lines

ROOT = Path(__file__).resolve().parents[2]
_LAST = 300  # characters of what a command that failed said


def measure(device: torch.device, tiny: bool) -> dict[str, Any]:
    """Train a small model, translate with it, evaluate, score."""
    with TemporaryDirectory() as name:
        commands = _Commands(Path(name), device.type, tiny)
        commands.train()
        commands.translate()
        commands.others()
        return commands.found


class _Commands:
    def __init__(self, folder: Path, device: str, tiny: bool) -> None:
        self.found: dict[str, Any] = {}
        self._folder = folder
        self._device = device
        self._tiny = tiny
        self._run = folder / "run"
        (folder / "data").symlink_to(ROOT / "data")  # configurations name their corpora from here
        search_path = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
        self._environment = os.environ | {"PYTHONPATH": search_path}
        english = ROOT / ("data/toy/test.en" if tiny else "data/tatoeba/train.en.gz")
        lines = list(read_lines(english))
        short = list(islice(cycle(lines), 60 if tiny else 100_000))
        long = [" ".join(lines[i : i + 3]) for i in range(0, 60 if tiny else 6000, 3)]
        self._short = self._written("short.en", short)
        self._long = self._written("long.en", long)

    def _written(self, name: str, lines: list[str]) -> Path:
        path = self._folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def train(self) -> None:
        """The first updates beside the later ones, as metrics.jsonl has them."""
        config = ROOT / "configs" / ("toy.yaml" if self._tiny else "tatoeba.yaml")
        settings = [f"run_dir={self._run}", f"train.device={self._device}"]
        settings += ["train.log_every=5", "train.updates=10"] if self._tiny else _COURSE
        self._command("train", "train", "--config", config, *settings)
        metrics = (self._run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in metrics]
        rates = [each["tokens_per_second"] for each in records if each["kind"] == "train"]
        self.found["train"]["target tokens/s, by 20 updates"] = [round(rate) for rate in rates]

    def translate(self) -> None:
        """One line, short lines, lines as long as FLORES'; fp32 beside the CPU's."""
        one = self._written("one.en", ["Where is the nearest train station?"])
        for name, path, lines in (
            ("one line", one, 1),
            ("short lines", self._short, 60 if self._tiny else 100_000),
            ("long lines", self._long, 20 if self._tiny else 2000),
        ):
            for beams in (1, 5):
                what = f"translate {name}, beam {beams}"
                self._command(what, *self._translating(path, "--beam-size", beams))
                self.found[what]["lines/s"] = lines / self.found[what]["seconds"]
        self._compare_with_the_cpu()

    def _compare_with_the_cpu(self) -> None:
        texts = []
        for device in ("cpu", self._device):
            out = self._folder / f"out.{device}.zh"
            words = ["translate", "-m", self._run, "--input", self._long, "--engine", "torch"]
            options = ["--device", device, "--precision", "fp32", "--output", out, "--overwrite"]
            self._command(f"translate in fp32 on {device}", *words, *options)
            texts.append(list(read_lines(out)))
        equal = sum(one == other for one, other in zip(*texts, strict=True))
        self.found["lines equal to the CPU's in fp32"] = equal / len(texts[0])

    def others(self) -> None:
        """Each way of searching once, and the other commands that compute."""
        searches: dict[str, list[object]] = {
            "--memory": ["--memory", self._run],
            "--ensemble": ["--ensemble", self._run],
            "sampling": ["search.method=sample", "search.seed=1", "search.n_best=1"],
        }
        for name, options in searches.items():
            self._command(f"translate {name}", *self._translating(self._long, *options))
        on = ["--device", self._device]
        self._command("evaluate", "evaluate", "-m", self._run, *on)
        pairs = self._written("pairs.tsv", ["Good morning.\t早上好。"] * 200)
        self._command("score", "score", "-m", self._run, "--input", pairs, *on)

    def _translating(self, path: Path, *options: object) -> list[object]:
        words: list[object] = ["translate", "-m", self._run, "--input", path, "--engine", "torch"]
        out = ["--output", self._folder / "out.zh", "--overwrite"]
        return [*words, *out, "--device", self._device, *options]

    def _command(self, what: str, *words: object) -> None:
        command = [sys.executable, "-m", "nmt", *map(str, words)]
        start = time.perf_counter()
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            env=self._environment,
        )
        self.found[what] = {"seconds": time.perf_counter() - start, "exit": done.returncode}
        if done.returncode:
            self.found[what]["said"] = done.stderr[-_LAST:]


_COURSE = [
    *("train.log_every=20", "train.updates=400", "train.batch_tokens=16384"),
    *("train.validate_every=400", "train.save_every=400", "train.average=0"),
]
