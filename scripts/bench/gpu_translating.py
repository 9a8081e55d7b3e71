"""Translating on a GPU: ids in, ids out, of nmt, CTranslate2 and transformers with random weights of one size.

Such weights write no EOS, so every translation goes on to the limit, in all systems alike.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from bench import ct2
from bench.on_gpu import (
    SIZES,
    TINY,
    GpuSize,
    ids_like,
    lengths_like,
    new_model,
    peak_gigabytes,
    reset_peak,
    seconds,
    tried,
)
from nmt.config.schema import SearchConfig
from nmt.model.batch import pad
from nmt.model.loading import in_precision
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.search.batches import batch_tokens_of, batches_of
from nmt.search.search import SEARCHES

Sources = list[list[int]]
Work = Callable[[], object]
_LIMIT = 30  # tokens of a translation
_CT2_BATCHES = (256, 1024)  # sentences
_GENERATE_BATCH = 256


def measure(name: str, device: torch.device, tiny: bool) -> dict[str, Any]:
    """Sentences a second, greedy and with beam 5, of as many as a window has."""
    size = TINY if tiny else SIZES[name]
    sources = _sources(20 if tiny else 2000, 27, size)
    config = size.config(device)
    model = in_precision(new_model(config, size, device), "bf16").eval()
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for method in ("greedy", "beam"):
            reset_peak(device)
            found[f"nmt, {method}"] = _rate(partial(_ours, model, sources, method), sources, device)
            found[f"nmt, {method}"]["peak GB"] = peak_gigabytes(device)
            for batch in _CT2_BATCHES:
                build = partial(_ct2, size, sources, method, batch, Path(folder), device)
                what = f"CTranslate2 {_ct2_kind(device)}, {method}, {batch}"
                found[what] = tried(partial(_rate_of, build, sources, device))
            build = partial(_generate, size, sources, method, device)
            what = f"transformers generate, {method}"
            found[what] = tried(partial(_rate_of, build, sources, device, rounds=1))
    return found


def _sources(count: int, mean: float, size: GpuSize) -> Sources:
    lengths = lengths_like(mean, count)[:, 0]
    ids = ids_like(lengths, size.vocabulary).astype(np.int64)
    return [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]


def _rate(work: Work, sources: Sources, device: torch.device, rounds: int = 3) -> dict[str, Any]:
    took = [seconds(work, device) for _ in range(rounds + 1)]
    return {
        "sentences/s": len(sources) / median(took[1:]),
        "first round, sentences/s": len(sources) / took[0],
    }


def _rate_of(
    build: Callable[[], Work], sources: Sources, device: torch.device, rounds: int = 3
) -> dict[str, Any]:
    return _rate(build(), sources, device, rounds)


@torch.inference_mode()
def _ours(model: Transformer, sources: Sources, method: str) -> object:
    """As nmt/engines/decoder.py searches, without its vocabularies."""
    search = SearchConfig(method=method, max_length=_LIMIT)  # type: ignore[arg-type]
    device = next(model.parameters()).device
    positions = batch_tokens_of(search, device.type)
    found = []
    for batch in batches_of([len(ids) for ids in sources], positions, threads=1):
        cache = model.encode(pad([sources[i] for i in batch]).to(device))
        cache.reserve(search.beams)
        limits = torch.full((len(batch),), _LIMIT, device=device)
        found += SEARCHES[search.effective_method](ModelStepper(model, cache), limits, search)
    return found


def _ct2(
    size: GpuSize, sources: Sources, method: str, batch: int, folder: Path, device: torch.device
) -> Work:
    exported = folder / "ct2"
    if not exported.exists():
        ct2.export(new_model(size.config(device), size, torch.device("cpu")), exported)
    run = ct2.translate(exported, _ct2_kind(device), method, batch, 0, _LIMIT, device.type)
    return partial(run, sources)


def _ct2_kind(device: torch.device) -> str:
    return "float16" if device.type == "cuda" else "float32"


def _generate(size: GpuSize, sources: Sources, method: str, device: torch.device) -> Work:
    from bench.marian import random_model  # loads transformers

    model = random_model(size, device)
    beams = 5 if method == "beam" else 1
    longest_first = sorted(sources, key=len, reverse=True)

    def work() -> None:
        for start in range(0, len(sources), _GENERATE_BATCH):
            src = pad(longest_first[start : start + _GENERATE_BATCH]).to(device)
            model.generate(
                src,
                attention_mask=(src != 0).long(),
                num_beams=beams,
                do_sample=False,
                max_new_tokens=_LIMIT,
                min_new_tokens=_LIMIT,
            )

    return work
