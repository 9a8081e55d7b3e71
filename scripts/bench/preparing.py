"""prepare and build-vocab as the text grows, and a large store opened and planned."""

import resource
import time
from itertools import repeat
from pathlib import Path

import numpy as np

from bench.made import write_sentences
from bench.results import Figure, Settings, alone
from nmt.config import Config, load_config
from nmt.corpus.batching import plan_epoch
from nmt.corpus.encode import build_vocabularies
from nmt.corpus.prepare import prepare
from nmt.corpus.store import ParallelCorpus, write_store
from nmt.run_dir import RunDir

_GROWTH = (1, 4, 16)


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Pairs a second and peak memory of both stages at three sizes; time and memory of a large store."""
    pairs = 100 if settings.tiny else 20_000
    figures: list[Figure] = []
    peaks: list[float] = []
    for times in _GROWTH:
        (folder / str(times)).mkdir()
        count, seconds, peak = alone(_stages, settings.data, folder / str(times), times * pairs)
        peaks.append(peak)
        what = f"prepare + build-vocab: {count:,} pairs"
        figures += [Figure(what, count / seconds, "pairs/s"), Figure(what, peak, "MB at most")]
    grown = (peaks[-1] - peaks[0]) * 2**20 / ((_GROWTH[-1] - _GROWTH[0]) * pairs)
    figures.append(Figure("prepare + build-vocab: growth of memory", grown, "bytes a pair"))
    return figures + _store(1_000 if settings.tiny else 10_000_000, folder)


def _stages(data: Path | None, folder: Path, pairs: int) -> tuple[int, float, float]:
    """Pairs, seconds, and the greatest memory in MB of this process, its workers not counted."""
    if data is None:
        write_sentences(folder, pairs)
    else:
        _repeat(data, folder, pairs)
    config, run = _config(folder), RunDir(folder / "run")
    run.path.mkdir()
    start = time.perf_counter()
    prepare(config, run)
    build_vocabularies(config, run)
    seconds = time.perf_counter() - start
    return pairs, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def _config(folder: Path) -> Config:
    corpora = f"data.corpora=[{{src: '{folder / 'train.en'}', tgt: '{folder / 'train.zh'}'}}]"
    return load_config(None, [corpora, "prepare.dev_size=50", "prepare.test_size=50"])


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
    write_store(path, repeat(([5] * 8, [6] * 10), pairs), (100, 100), ("a", "b"))
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
