"""The commands prepare and build-vocab as the text grows, and a large store opened and planned."""

import json
import resource
import sys
import time
from itertools import repeat
from pathlib import Path

import numpy as np

from bench.made import write_sentences
from bench.results import Figure, Settings, alone, measured
from nmt.corpus.batching import plan_epoch
from nmt.corpus.store import ParallelCorpus, write_store

_GROWTH = (1, 4, 16)


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Pairs a second and peak memory of both stages at three sizes; time and memory of a large store."""
    pairs = 100 if settings.tiny else 20_000
    figures: list[Figure] = []
    peaks: list[float] = []
    for times in _GROWTH:
        (folder / str(times)).mkdir()
        count = times * pairs
        seconds, peak = _stages(settings.data, folder / str(times), count)
        peaks.append(peak)
        what = f"prepare + build-vocab: {count:,} pairs"
        figures += [Figure(what, count / seconds, "pairs/s"), Figure(what, peak, "MB at most")]
    grown = (peaks[-1] - peaks[0]) * 2**20 / ((_GROWTH[-1] - _GROWTH[0]) * pairs)
    figures.append(Figure("prepare + build-vocab: growth of memory", grown, "bytes a pair"))
    return figures + _store(1_000 if settings.tiny else 10_000_000, folder)


def _stages(data: Path | None, folder: Path, pairs: int) -> tuple[float, float]:
    """Seconds of both commands, and the greatest memory in MB of either, its workers not counted."""
    if data is None:
        write_sentences(folder, pairs)
    else:
        _repeat(data, folder, pairs)
    corpus = {"src": str(folder / "train.en"), "tgt": str(folder / "train.zh")}
    sizes = {"dev_size": 50, "test_size": 50}
    config = folder / "config.yaml"  # JSON is YAML too
    config.write_text(
        json.dumps(
            {"run_dir": str(folder / "run"), "data": {"corpora": [corpus]}, "prepare": sizes}
        )
    )
    stages = ("prepare", "build-vocab")
    runs = [
        measured([sys.executable, "-m", "nmt", stage, "--config", str(config)]) for stage in stages
    ]
    return sum(seconds for seconds, _ in runs), max(peak for _, peak in runs)


def _repeat(data: Path, folder: Path, pairs: int) -> None:
    """The first pairs of a folder, over and over if there are too few: a number on each line keeps them apart."""
    for side in ("en", "zh"):
        lines = (data / f"train.{side}").read_text().splitlines()
        with (folder / f"train.{side}").open("w") as file:
            for number in range(pairs):
                again = f" {number // len(lines)}" if number >= len(lines) else ""
                file.write(f"{lines[number % len(lines)]}{again}\n")


def _store(pairs: int, folder: Path) -> list[Figure]:
    path = folder / "store"
    block = (np.full(1000 * 8, 5), np.full(1000 * 10, 6), np.tile((8, 10), (1000, 1)))
    write_store(path, repeat(block, pairs // 1000), (100, 100), ("a", "b"))
    opening, opened, planning = alone(_open, path)
    what = f"a store of {pairs:,} pairs"
    return [
        Figure(f"{what}: opened in", opening, "s"),
        Figure(f"{what}: memory when open", opened, "MB"),
        Figure(f"{what}: an epoch planned in", planning, "s"),
    ]


def _open(path: Path) -> tuple[float, float, float]:
    """Seconds to open, MB by which memory has grown then, seconds to plan an epoch of random lengths."""
    before = _resident()
    start = time.perf_counter()
    corpus = ParallelCorpus(path)
    opening, opened = time.perf_counter() - start, _resident() - before
    lengths = np.random.default_rng(1).integers(1, 40, (len(corpus), 2), np.int32)
    start = time.perf_counter()
    plan_epoch(lengths, 4096, 1, 0)
    return opening, opened, time.perf_counter() - start


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
