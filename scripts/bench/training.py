"""Training: whole updates on the same batches, nmt and a plain loop in turns."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import torch

from bench.made import configure, encoded_run
from bench.plain import PlainLoop
from bench.results import Figure, Settings, alone, in_turns, peak_memory, ratio
from nmt.config.schema import Config
from nmt.corpus.batching import Batch, Position, batches_from, load_batch
from nmt.corpus.store import ParallelCorpus
from nmt.model.device import Precision, resolve_precision
from nmt.model.transformer import Transformer
from nmt.run_dir import SIDES, RunDir
from nmt.text.side import load_side
from nmt.train.distributed import World
from nmt.train.update import Updater

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Size:
    """A model's shape, and how much of it to measure."""

    overrides: tuple[str, ...]
    types: int  # words a language
    pairs: int
    batches: int


_S = ("d_model=256", "heads=4", "d_ff=1024", "encoder_layers=4", "decoder_layers=4")
_B = ("d_model=512", "heads=8", "d_ff=2048", "encoder_layers=6", "decoder_layers=6")
SIZES = {"S": Size(_S, 8_000, 30_000, 12), "B": Size(_B, 32_000, 30_000, 3)}
TINY = {
    "S": Size(
        ("d_model=16", "heads=2", "d_ff=32", "encoder_layers=1", "decoder_layers=1"), 100, 200, 2
    )
}


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Tokens a second, their ratio to the plain loop's, use of the hardware, padding, memory: of each size."""
    matrix = _rates(settings)
    figures = [
        Figure(f"matrix products, {name}", rate / 1e12, "TFLOP/s") for name, rate in matrix.items()
    ]
    for name, size in (TINY if settings.tiny else SIZES).items():
        (folder / name).mkdir()
        figures += _of_size(name, size, settings, folder / name, matrix)
    return figures


def _of_size(
    name: str, size: Size, settings: Settings, folder: Path, matrix: dict[str, float]
) -> list[Figure]:
    shape = [f"model.{override}" for override in size.overrides]
    config = configure(
        settings.data, folder, [*shape, "train.batch_tokens=4096"], size.pairs, size.types
    )
    run = encoded_run(config, folder)
    corpus = ParallelCorpus(run.store("train"))
    lengths = corpus.lengths
    planned = batches_from(lengths, config.train.batch_tokens, config.train.seed, Position())
    batches = [indices for indices, _ in islice(planned, size.batches)]
    best = resolve_precision("auto", settings.device)
    systems = {"plain": _plain(config, run, corpus, batches, settings.device)}
    for precision in dict.fromkeys((best, "fp32")):
        systems[precision] = _ours(config, run, corpus, batches, settings.device, precision)
    rates = in_turns(systems, settings.rounds, settings.device)
    every = np.concatenate([lengths[indices] for indices in batches])
    work = flops(config, len(load_side(config, run, "tgt").vocab), every) / (every[:, 1] + 1).sum()
    share = 100 * median(rates[best]) * work / matrix[best]
    return [
        Figure(
            f"train {name}: plain torch.nn.Transformer, fp32",
            median(rates["plain"]),
            "target tokens/s",
        ),
        *(
            Figure(
                f"train {name}: nmt, {kind}",
                median(rates[kind]),
                "target tokens/s",
                ratio(rates, kind, "plain"),
                "plain",
            )
            for kind in systems
            if kind != "plain"
        ),
        Figure(f"train {name}: nmt, {best}, share of the matrix rate", share, "%"),
        Figure(f"train {name}: padding", 100 * _padding(lengths, batches), "% of positions"),
        Figure(
            f"train {name}: nmt, {best}, peak memory",
            _memory(config, run, batches, settings.device, best),
            "MB",
        ),
    ]


def _ours(
    config: Config,
    run: RunDir,
    corpus: ParallelCorpus,
    batches: list[Indices],
    device: torch.device,
    precision: Precision,
) -> Callable[[], float]:
    model = Transformer(config.model, *_sizes(config, run)).to(device).train()
    updater = Updater(config.train, model, precision, World(0, 1, device))

    def epoch() -> float:
        tokens = 0
        for number, indices in enumerate(batches, 1):
            batch = load_batch(corpus, indices, config.model.max_length).to(device)
            updater.apply(number, [batch], batch.tokens)
            tokens += batch.tokens
        return tokens

    return epoch


def _plain(
    config: Config,
    run: RunDir,
    corpus: ParallelCorpus,
    batches: list[Indices],
    device: torch.device,
) -> Callable[[], float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of nested tensors
        loop = PlainLoop(config, *_sizes(config, run), device)

    def epoch() -> float:
        tokens = 0
        for indices in batches:
            batch: Batch = load_batch(corpus, indices, config.model.max_length).to(device)
            loop.update(batch)
            tokens += batch.tokens
        return tokens

    return epoch


def _sizes(config: Config, run: RunDir) -> tuple[int, int]:
    src, tgt = (len(load_side(config, run, name).vocab) for name in SIDES)
    return src, tgt


def flops(config: Config, vocabulary: int, lengths: npt.NDArray[np.int32]) -> float:
    """Floating-point operations of training on pairs of these lengths [N,2], EOS not counted in: no padding.

    Two for each parameter and token forward, four backward; attention's products as much for each pair of positions;
    embeddings are looked up and cost nothing.
    """
    shape = config.model
    src, tgt = (lengths.astype(np.float64) + 1).T
    square, feed = shape.d_model**2, 2 * shape.d_model * shape.d_ff
    encoder = shape.encoder_layers * ((4 * square + feed) * src + 2 * shape.d_model * src**2)
    decoder = shape.decoder_layers * ((6 * square + feed) * tgt + 2 * square * src)
    looks = shape.decoder_layers * 2 * shape.d_model * (tgt**2 / 2 + src * tgt)
    return float(6 * (encoder + decoder + looks + vocabulary * shape.d_model * tgt).sum())


def _padding(lengths: npt.NDArray[np.int32], batches: list[Indices]) -> float:
    """The share of a batch's positions, on both sides, that hold no token."""
    tokens = sum(int((lengths[indices] + 1).sum()) for indices in batches)
    positions = sum(
        len(indices) * int((lengths[indices].max(axis=0) + 1).sum()) for indices in batches
    )
    return 1 - tokens / positions


def _rates(settings: Settings) -> dict[str, float]:
    """What the hardware does in large matrix products, operations a second, by precision."""
    size = 128 if settings.tiny else 2048 if settings.device.type == "cpu" else 8192
    found = {}
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        a, b = (torch.randn(size, size, device=settings.device).to(dtype) for _ in range(2))
        times = []
        for _ in range(2 * settings.rounds + 1):
            start = time.perf_counter()
            a @ b
            if settings.device.type == "cuda":
                torch.cuda.synchronize(settings.device)
            times.append(time.perf_counter() - start)
        found[name] = 2 * size**3 / median(times[1:])
    return found


def _memory(
    config: Config, run: RunDir, batches: list[Indices], device: torch.device, precision: Precision
) -> float:
    """Peak memory in MB of a process that only trains; on a GPU, of its memory."""
    peak: float = alone(_peak, config, run, batches, device, precision)
    return peak


def _peak(
    config: Config, run: RunDir, batches: list[Indices], device: torch.device, precision: Precision
) -> float:
    epoch = _ours(config, run, ParallelCorpus(run.store("train")), batches, device, precision)
    epoch()
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return peak_memory()
