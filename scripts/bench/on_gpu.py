"""What the parts of gpu.py have in common: sizes of models, ids to train on and to translate, memory, a clock."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from bench.results import synchronize
from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.encoding.store import Block, ParallelCorpus, write_store
from nmt.model.transformer import Transformer
from nmt.train.start.initialise import initialise

Int32 = npt.NDArray[np.int32]
FINGERPRINTS = ("src", "tgt")


@dataclass(frozen=True)
class GpuSize:
    """A model's shape, its vocabulary a side, and the tokens of a batch."""

    d_model: int
    heads: int
    d_ff: int
    encoder_layers: int
    decoder_layers: int
    vocabulary: int
    batch_tokens: int

    def config(self, device: torch.device, *more: str) -> Config:
        """As a configuration: the optimizer is Muon."""
        shape = ("d_model", "heads", "d_ff", "encoder_layers", "decoder_layers")
        settings = [f"model.{key}={getattr(self, key)}" for key in shape]
        settings += [f"train.batch_tokens={self.batch_tokens}", "train.optimizer=muon"]
        return load_config(None, [*settings, f"train.device={device}", *more])


SIZES = {
    "box": GpuSize(320, 5, 1280, 9, 2, 8_000, 32_768),
    "next box": GpuSize(384, 6, 1536, 16, 2, 8_000, 32_768),
    "base": GpuSize(512, 8, 2048, 6, 6, 32_000, 25_088),
    "big": GpuSize(1024, 16, 4096, 6, 6, 32_000, 25_088),
}
TINY = GpuSize(32, 2, 64, 1, 1, 100, 512)


def lengths_like(mean: float, count: int, longest: int = 120) -> Int32:
    """Lengths [count, 2] of pairs as real ones have them: log-normal, the target a little shorter."""
    chance = np.random.default_rng(1)
    shared = chance.normal(0, 0.55, count)
    sides = []
    for scale in (1.0, 0.9):
        own = shared + chance.normal(0, 0.2, count)
        sides.append(np.clip(np.rint(scale * mean * np.exp(own - 0.17)), 1, longest))
    return np.stack(sides, axis=1).astype(np.int32)


def ids_like(lengths: Int32, vocabulary: int) -> npt.NDArray[np.uint16]:
    """Ids for sentences of these lengths [N], end to end; frequent tokens are as frequent as Zipf says."""
    chance = np.random.default_rng(2)
    ranks = np.exp(chance.random(int(lengths.sum())) * np.log(vocabulary - 5)).astype(np.uint16)
    ids: npt.NDArray[np.uint16] = ranks + np.uint16(4)
    return ids


def made_corpus(folder: Path, pairs: int, size: GpuSize) -> ParallelCorpus:
    """A store of pairs without meaning."""
    lengths = lengths_like(20, pairs)
    sides = [ids_like(lengths[:, side], size.vocabulary) for side in (0, 1)]
    block = Block(sides[0], sides[1], lengths)
    write_store(folder, [block], (size.vocabulary, size.vocabulary), FINGERPRINTS)
    return ParallelCorpus(folder)


def new_model(config: Config, size: GpuSize, device: torch.device) -> Transformer:
    """With random weights."""
    torch.manual_seed(1)
    model = Transformer(config.model, size.vocabulary + 4, size.vocabulary + 4)
    initialise(model)
    return model.to(device)


def matrix_rate(device: torch.device, size: int) -> float:
    """What the device does in large products in bf16: operations a second, the median of 20."""
    a = torch.randn(size, size, device=device).bfloat16()
    b = torch.randn(size, size, device=device).bfloat16()
    times = [seconds(lambda: a @ b, device) for _ in range(25)]
    return 2 * size**3 / float(np.median(times[5:]))


def seconds(work: Callable[[], Any], device: torch.device) -> float:
    """How long some work takes, until the device has done it."""
    synchronize(device)
    start = time.perf_counter()
    work()
    synchronize(device)
    return time.perf_counter() - start


def reset_peak(device: torch.device) -> None:
    """Begin to look for the greatest memory anew."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_gigabytes(device: torch.device) -> float:
    """The greatest memory of the GPU since then; 0 on a CPU."""
    return torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else 0.0


def tried(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What it gives, or why it gave nothing: others' code may fail here."""
    try:
        return work()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
