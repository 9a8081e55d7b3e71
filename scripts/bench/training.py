"""Training: whole updates on the same batches, nmt and a plain loop in turns."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import torch

from bench.made import configure, encoded_run
from bench.plain import PlainLoop
from bench.results import (
    Figure,
    Rates,
    Settings,
    in_own_process,
    in_turns,
    peak_memory,
    synchronize,
)
from nmt.config.schema import Config
from nmt.corpus.encoding.store import ParallelCorpus
from nmt.machine.device import Precision, resolve_precision
from nmt.model.batch import rounded
from nmt.model.transformer import Transformer
from nmt.run.folder import SIDES, RunDir
from nmt.run.sides import load_side
from nmt.train.data.batching import Position, batches_from, load_batch, plan_epoch
from nmt.train.distributed import World
from nmt.train.padded_update import PaddedUpdater
from nmt.train.start.initialise import initialise

Indices = npt.NDArray[np.int64]


_BATCH_TOKENS = {"cpu": 4096, "mps": 4096, "cuda": 25_000}


@dataclass(frozen=True)
class Size:
    """A model's shape, and how much of it to measure."""

    d_model: int
    heads: int
    d_ff: int
    layers: int  # of the encoder, and of the decoder
    types: int  # words a language
    pairs: int
    batches: int

    def overrides(self) -> list[str]:
        """The shape as settings."""
        return [
            f"model.d_model={self.d_model}",
            f"model.heads={self.heads}",
            f"model.d_ff={self.d_ff}",
            f"model.encoder_layers={self.layers}",
            f"model.decoder_layers={self.layers}",
        ]


SIZES = {
    "S": Size(d_model=256, heads=4, d_ff=1024, layers=4, types=8_000, pairs=30_000, batches=12),
    "B": Size(d_model=512, heads=8, d_ff=2048, layers=6, types=32_000, pairs=30_000, batches=3),
}
TINY = {"S": Size(d_model=16, heads=2, d_ff=32, layers=1, types=100, pairs=200, batches=2)}


@dataclass(frozen=True)
class Course:
    """What is trained: the same batches of the same run, again and again."""

    config: Config
    run: RunDir
    batches: list[Indices]
    device: torch.device

    def corpus(self) -> ParallelCorpus:
        """The encoded pairs."""
        return ParallelCorpus(self.run.store("train"))

    def vocabulary_sizes(self) -> tuple[int, int]:
        """Tokens of the source and of the target."""
        src, tgt = (len(load_side(self.config, self.run, name).vocab) for name in SIDES)
        return src, tgt


def measure(settings: Settings, folder: Path) -> list[Figure]:
    """Tokens a second, their ratio to the plain loop's, use of the hardware, padding, memory: of each size."""
    matrix_rates = _matrix_rates(settings)
    figures: list[Figure] = []
    for precision, rate in matrix_rates.items():
        figures.append(Figure(f"matrix products, {precision}", rate / 1e12, "TFLOP/s"))
    sizes = TINY if settings.tiny else SIZES
    for name, size in sizes.items():
        (folder / name).mkdir()
        course = _course(size, settings, folder / name)
        figures += _of_size(name, course, settings.rounds, matrix_rates)
    return figures


def _course(size: Size, settings: Settings, folder: Path) -> Course:
    batch_tokens = f"train.batch_tokens={_BATCH_TOKENS[settings.device.type]}"
    overrides = [*size.overrides(), batch_tokens]
    config = configure(settings.data, folder, overrides, size.pairs, size.types)
    run = encoded_run(config, folder)
    lengths = ParallelCorpus(run.store("train")).lengths
    plan = partial(plan_epoch, lengths, config.train.batch_tokens, config.train.seed)
    planned = batches_from(plan, Position())
    batches = [indices for indices, _ in islice(planned, size.batches)]
    return Course(config, run, batches, settings.device)


def _of_size(
    name: str, course: Course, rounds: int, matrix_rates: dict[str, float]
) -> list[Figure]:
    best = resolve_precision("auto", course.device)
    systems = {"plain": _plain(course)}
    for precision in dict.fromkeys((best, "fp32")):
        systems[precision] = _ours(course, precision)
    rates = in_turns(systems, rounds, course.device)
    share = median(rates[best]) * _flops_a_token(course) / matrix_rates[best]
    padding = _padding(course.corpus().lengths, course.batches, course.config.model.max_length)
    memory: float = in_own_process(_peak, course, best)
    return [
        *_token_rates(name, rates),
        Figure(f"train {name}: nmt, {best}, share of the matrix rate", 100 * share, "%"),
        Figure(f"train {name}: padding", 100 * padding, "% of positions"),
        Figure(f"train {name}: nmt, {best}, peak memory", memory, "MB"),
    ]


def _token_rates(name: str, rates: Rates) -> list[Figure]:
    unit = "target tokens/s"
    plain = f"train {name}: plain torch.nn.Transformer, fp32"
    figures = [Figure(plain, median(rates["plain"]), unit)]
    for system in rates:
        if system != "plain":
            what = f"train {name}: nmt, {system}"
            by = rates.ratio(system, "plain")
            figures.append(Figure(what, median(rates[system]), unit, by, "plain"))
    return figures


def _ours(course: Course, precision: Precision) -> Callable[[], float]:
    """A function that trains nmt on all batches, and gives their target tokens."""
    config = course.config
    corpus = course.corpus()
    model = Transformer(config.model, *course.vocabulary_sizes()).to(course.device).train()
    initialise(model)
    updater = PaddedUpdater(config.train, model, precision, World(0, 1, course.device))

    def epoch() -> float:
        tokens = 0
        for number, indices in enumerate(course.batches, 1):
            batch = load_batch(corpus, indices, config.model.max_length).to(course.device)
            started = updater.start(number, [batch], batch.tokens)
            tokens += batch.tokens
        started.result()
        return tokens

    return epoch


def _plain(course: Course) -> Callable[[], float]:
    """A function that trains the plain loop on all batches, and gives their target tokens."""
    corpus = course.corpus()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of nested tensors
        loop = PlainLoop(course.config, *course.vocabulary_sizes(), course.device)

    def epoch() -> float:
        tokens = 0
        for indices in course.batches:
            batch = load_batch(corpus, indices, course.config.model.max_length).to(course.device)
            loop.update(batch)
            tokens += batch.tokens
        return tokens

    return epoch


def _peak(course: Course, precision: Precision) -> float:
    """Peak memory in MB of a process that only trains; on a GPU, of the GPU's memory."""
    epoch = _ours(course, precision)
    epoch()
    if course.device.type == "cuda":
        return torch.cuda.max_memory_allocated(course.device) / 2**20
    return peak_memory()


def _flops_a_token(course: Course) -> float:
    """Floating-point operations of training for each target token, EOS counted."""
    lengths = course.corpus().lengths
    trained = np.concatenate([lengths[indices] for indices in course.batches])
    _, vocabulary = course.vocabulary_sizes()
    tokens = (trained[:, 1] + 1).sum()
    return float(flops(course.config, vocabulary, trained) / tokens)


def flops(config: Config, vocabulary: int, lengths: npt.NDArray[np.int32]) -> float:
    """Floating-point operations of training on pairs of these lengths [N,2], EOS not counted in: no padding.

    Two for each parameter and token forward, four backward; attention's products as much for each pair of positions;
    embeddings are looked up and cost nothing.
    """
    shape = config.model
    src, tgt = (lengths.astype(np.float64) + 1).T
    square = shape.d_model**2
    feed_forward = 2 * shape.d_model * shape.d_ff
    encoder_layer = (4 * square + feed_forward) * src + 2 * shape.d_model * src**2
    decoder_layer = (6 * square + feed_forward) * tgt + 2 * square * src
    decoder_attention = 2 * shape.d_model * (tgt**2 / 2 + src * tgt)
    output = vocabulary * shape.d_model * tgt
    products = (
        shape.encoder_layers * encoder_layer
        + shape.decoder_layers * (decoder_layer + decoder_attention)
        + output
    )
    return float(6 * products.sum())


def _padding(lengths: npt.NDArray[np.int32], batches: list[Indices], widest: int) -> float:
    """The share of a batch's positions, on both sides, that hold no token."""
    tokens = 0
    positions = 0
    for indices in batches:
        with_eos = lengths[indices] + 1
        tokens += int(with_eos.sum())
        widths = np.minimum(rounded(with_eos.max(axis=0)), widest)
        positions += len(indices) * int(widths.sum())
    return 1 - tokens / positions


def _matrix_rates(settings: Settings) -> dict[str, float]:
    """What the hardware does in large matrix products, operations a second, by precision."""
    size = 2048 if settings.device.type == "cpu" else 8192
    if settings.tiny:
        size = 128
    rates = {}
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        a = torch.randn(size, size, device=settings.device).to(dtype)
        b = torch.randn(size, size, device=settings.device).to(dtype)
        times = []
        for _ in range(2 * settings.rounds + 1):
            start = time.perf_counter()
            a @ b
            synchronize(settings.device)
            times.append(time.perf_counter() - start)
        rates[name] = 2 * size**3 / median(times[1:])
    return rates
