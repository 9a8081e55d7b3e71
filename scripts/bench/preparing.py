"""The commands prepare and build-vocab as the text grows, and a large store opened and planned."""

import json
import resource
import shutil
import sys
import time
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.made import text_file, write_sentences
from bench.results import Figure, Settings, in_own_process, run_measured
from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store
from nmt.corpus.reading.lines import read_lines
from nmt.train.data.batching import plan_epoch

_STAGES = ("prepare", "build-vocab")


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Pairs a second and peak memory of both stages as the text grows; time and memory of a large store."""
    sizes = sorted(settings.pairs) or [20_000, 80_000, 320_000]
    if settings.tiny:
        sizes = [100, 400]
    figures: list[Figure] = []
    peaks: dict[str, list[float]] = {stage: [] for stage in _STAGES}  # MB
    for pairs in sizes:
        subfolder = folder / str(pairs)
        subfolder.mkdir()
        for stage, (seconds, peak) in _stages(settings.data, subfolder, pairs).items():
            what = f"{stage}: {pairs:,} pairs"
            figures.append(Figure(what, pairs / seconds, "pairs/s"))
            figures.append(Figure(what, peak, "MB at most"))
            peaks[stage].append(peak)
        shutil.rmtree(subfolder)
    if len(sizes) > 1:
        for stage in _STAGES:
            growth = (peaks[stage][-1] - peaks[stage][0]) * 2**20 / (sizes[-1] - sizes[0])
            figures.append(Figure(f"{stage}: growth of memory", growth, "bytes a pair"))
    return figures + _store(1_000 if settings.tiny else 10_000_000, folder)


def _stages(data: Path | None, folder: Path, pairs: int) -> dict[str, tuple[float, float]]:
    """Seconds of each command, and its greatest memory in MB, its workers not counted."""
    if data is None:
        write_sentences(folder, pairs)
    else:
        _repeat(data, folder, pairs)
    corpus = {"src": str(folder / "train.en"), "tgt": str(folder / "train.zh")}
    settings = {
        "run_dir": str(folder / "run"),
        "data": {"corpora": [corpus]},
        "prepare": {"dev_size": 50, "test_size": 50},
    }
    config = folder / "config.yaml"
    config.write_text(json.dumps(settings))  # JSON is YAML too
    measured: dict[str, tuple[float, float]] = {}
    for stage in _STAGES:
        command = [sys.executable, "-m", "nmt", stage, "--config", str(config)]
        measured[stage] = run_measured(command)
    return measured


def _repeat(data: Path, folder: Path, pairs: int) -> None:
    """The first pairs of a folder, over and over if there are too few: a number on each line keeps them apart."""
    for side in ("en", "zh"):
        lines = list(read_lines(text_file(data, "train", side)))
        with (folder / f"train.{side}").open("w") as file:
            for number in range(pairs):
                turn, place = divmod(number, len(lines))
                mark = f" {turn}" if turn > 0 else ""
                file.write(f"{lines[place]}{mark}\n")


def _store(pairs: int, folder: Path) -> list[Figure]:
    path = folder / "store"
    src_ids = np.full(1000 * 8, 5)
    tgt_ids = np.full(1000 * 10, 6)
    lengths = np.tile((8, 10), (1000, 1))
    blocks = repeat(Block(src_ids, tgt_ids, lengths), pairs // 1000)
    write_store(path, blocks, (100, 100), ("a", "b"))
    opened: _Opened = in_own_process(_open, path)
    what = f"a store of {pairs:,} pairs"
    return [
        Figure(f"{what}: opened in", opened.seconds, "s"),
        Figure(f"{what}: memory when open", opened.megabytes, "MB"),
        Figure(f"{what}: an epoch planned in", opened.planning_seconds, "s"),
    ]


class _Opened(NamedTuple):
    """What opening a store took, and planning an epoch of pairs of random lengths."""

    seconds: float
    megabytes: float  # by which memory has grown
    planning_seconds: float


def _open(path: Path) -> _Opened:
    before = _resident()
    start = time.perf_counter()
    corpus = ParallelCorpus(path)
    seconds = time.perf_counter() - start
    megabytes = _resident() - before
    lengths = np.random.default_rng(1).integers(1, 40, (len(corpus), 2), np.int32)
    start = time.perf_counter()
    plan_epoch(lengths, 4096, 1, 0)
    return _Opened(seconds, megabytes, time.perf_counter() - start)


def _resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20
