"""Training on a GPU: whole updates of nmt, packed and padded, beside what others would write."""

import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from bench.on_gpu import (
    SIZES,
    TINY,
    GpuSize,
    made_corpus,
    matrix_rate,
    new_model,
    peak_gigabytes,
    reset_peak,
    seconds,
    tried,
)
from bench.plain import PlainLoop
from bench.training import flops
from nmt.config.schema import Config
from nmt.corpus.encoding.store import ParallelCorpus
from nmt.model.batch import Batch
from nmt.model.packed_batch import packed_shape
from nmt.text.vocab import PAD
from nmt.train.data.batching import (
    Position,
    batches_from,
    load_batch,
    load_packed_batch,
    plan_epoch,
    plan_packed_epoch,
)
from nmt.train.distributed import World
from nmt.train.packed_update import PackedUpdater
from nmt.train.padded_update import PaddedUpdater
from nmt.train.update import Updater

Step = Callable[[Any], object]  # an update on a batch
Batches = list[Any]
_BATCHES = 12  # in memory: what is measured is the update, not the reading


def measure(name: str, device: torch.device, tiny: bool) -> dict[str, Any]:
    """The figures of a size: each system's target tokens a second, and what they come to."""
    size = TINY if tiny else SIZES[name]
    config = size.config(device)
    found: dict[str, Any] = {"matrix TFLOP/s": matrix_rate(device, 128 if tiny else 8192) / 1e12}
    with TemporaryDirectory() as folder:
        corpus = made_corpus(Path(folder) / "store", 300 if tiny else 60_000, size)
        batches = _padded(config, corpus, device)
        found |= _ours_packed(config, size, corpus, device)
        rate = found["nmt, packed"]["target tokens/s"]
        cost = _flops_a_token(config, size, corpus)
        found["share of the matrix rate"] = rate * cost / 1e12 / found["matrix TFLOP/s"]
        ours: Updater[Any] = PaddedUpdater(
            config.train, new_model(config, size, device), "bf16", World(0, 1, device)
        )
        found["nmt, padded"] = _rate(partial(_update, ours, iter(range(1, 10**6))), batches, device)
        if name in ("box", "base"):
            for is_compiled in (False,) if tiny else (False, True):
                loop = _plain(config, size, device, is_compiled)
                what = "plain loop, bf16" + (", torch.compile" if is_compiled else "")
                found[what] = tried(partial(_rate, loop, batches, device))
    return found


def _flops_a_token(config: Config, size: GpuSize, corpus: ParallelCorpus) -> float:
    tokens = int((corpus.lengths[:, 1] + 1).sum())
    return flops(config, size.vocabulary + 4, corpus.lengths) / tokens


# --- nmt ---


def _ours_packed(
    config: Config, size: GpuSize, corpus: ParallelCorpus, device: torch.device
) -> dict[str, Any]:
    """Packed, compiled, recorded: also how long that takes, and which kernels the time goes into."""
    shape = packed_shape(corpus.lengths, config.train.batch_tokens)
    plan = partial(plan_packed_epoch, corpus.lengths, shape, 1)
    indices = [each for each, _ in islice(batches_from(plan, Position(packed=True)), _BATCHES)]
    batches = [load_packed_batch(corpus, each, shape).to(device) for each in indices]
    reset_peak(device)
    model = new_model(config, size, device)
    updater = PackedUpdater(config.train, model, "bf16", World(0, 1, device))
    step = partial(_update, updater, iter(range(1, 10**6)))
    ready = seconds(lambda: [step(batch) for batch in batches[:3]], device)
    rate = _rate(step, batches, device)
    rate |= {"seconds until recorded": ready, "peak GB": peak_gigabytes(device)}
    return {"nmt, packed": rate, "kernels": _kernels(step, batches, device), "shape": list(shape)}


def _update(updater: Updater[Any], numbers: Iterator[int], batch: Any) -> object:
    return updater.start(next(numbers), [batch], batch.tokens)


def _padded(config: Config, corpus: ParallelCorpus, device: torch.device) -> list[Batch]:
    plan = partial(plan_epoch, corpus.lengths, config.train.batch_tokens, 1)
    indices = [each for each, _ in islice(batches_from(plan, Position()), _BATCHES)]
    return [load_batch(corpus, each, config.model.max_length).to(device) for each in indices]


def _rate(step: Step, batches: Batches, device: torch.device) -> dict[str, Any]:
    """Target tokens a second over all batches: the median of five rounds, after one to warm up."""
    tokens = sum(batch.tokens for batch in batches)
    took = [seconds(lambda: [step(batch) for batch in batches], device) for _ in range(6)]
    a_round = median(took[1:])
    return {
        "target tokens/s": tokens / a_round,
        "ms an update": a_round / len(batches) * 1000,
        "first round, tokens/s": tokens / took[0],
    }


def _kernels(step: Step, batches: Batches, device: torch.device) -> list[dict[str, Any]]:
    """The kernels that take most of the GPU's time in an update, in microseconds."""
    if device.type != "cuda":
        return []
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        seconds(lambda: [step(batch) for batch in batches], device)
    rows = sorted(profile.key_averages(), key=lambda row: -row.self_device_time_total)
    return [
        {
            "kernel": row.key[:120],
            "calls": row.count / len(batches),
            "µs": row.self_device_time_total / len(batches),
        }
        for row in rows[:40]
    ]


# --- others ---


def _plain(config: Config, size: GpuSize, device: torch.device, is_compiled: bool) -> Step:
    """A loop as tutorials write it around torch.nn.Transformer, in bf16 by autocast, AdamW fused."""
    warnings.simplefilter("ignore")  # torch's, of nested tensors
    loop = PlainLoop(config, size.vocabulary + 4, size.vocabulary + 4, device)
    optimizer = torch.optim.AdamW(loop.model.parameters(), lr=1e-4, fused=True)
    model = torch.compile(loop.model, dynamic=True) if is_compiled else loop.model

    def step(batch: Batch) -> None:
        with torch.autocast(device.type, torch.bfloat16):
            logits = model(batch.src, batch.tgt_in)
            loss = F.cross_entropy(
                logits.flatten(0, 1).float(),
                batch.tgt_out.flatten(),
                ignore_index=PAD,
                label_smoothing=config.train.label_smoothing,
            )
        loss.backward()
        nn.utils.clip_grad_norm_(loop.model.parameters(), config.train.clip_norm or math.inf)
        optimizer.step()
        optimizer.zero_grad()

    return step
