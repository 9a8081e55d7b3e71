#!/usr/bin/env python3
"""How fast nmt is here, beside yardsticks that anyone can run: see docs/lab/performance.md for what to make of it.

    python scripts/benchmark.py all                                   a quarter of an hour on two cores
    python scripts/benchmark.py train --data data/tatoeba          on train.en and train.zh of a folder
    python scripts/benchmark.py translate --model runs/tatoeba        with a trained model, on its test set
    python scripts/benchmark.py prepare --pairs 1000000 --pairs 5000000   memory and time as the text grows
    python scripts/benchmark.py all --tiny                            only to see that it works

What is compared takes turns, several rounds of it, so that a busy machine slows both; figures are medians, ratios are
medians of the rounds' ratios. CTranslate2 is compared with if it is installed (pip install ctranslate2).
"""

import json
import os
import platform
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer
from bench import preparing, training, translating
from bench.results import Figure, Settings, table

from nmt.errors import UserError
from nmt.machine.cpu import has_amx
from nmt.machine.device import open_device

PARTS: dict[str, Callable[[Settings, Path], list[Figure]]] = {
    "train": training.measure,
    "translate": translating.measure,
    "prepare": preparing.measure,
}


def main(
    part: Annotated[str, typer.Argument(help="train, translate, prepare, or all.")],
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:N or mps.")] = "cpu",
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder with train.en and train.zh, or test.en with --model; else text is made."
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A run to translate with; without it weights are random.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often what is compared takes its turn.")] = 3,
    pairs: Annotated[
        list[int] | None, typer.Option(help="Pairs of text to prepare; may be given several times.")
    ] = None,
    tiny: Annotated[bool, typer.Option(help="Tiny sizes: only to see that it works.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures here as JSON.")
    ] = None,
) -> None:
    """Measure, and print one table."""
    if part not in (*PARTS, "all"):
        sys.exit(f"benchmark: no part {part!r}; choose from {', '.join(PARTS)}, all")
    try:
        settings = Settings(open_device(device), data, model, rounds, tiny, pairs or [])
        figures = measure(list(PARTS) if part == "all" else [part], settings)
    except UserError as error:
        sys.exit(f"benchmark: {error}")
    machine = describe(settings.device)
    print("  ".join(f"{key}: {value}" for key, value in machine.items()))
    print(table(figures))
    if json_file is not None:
        record = {"machine": machine, "figures": [figure.as_json() for figure in figures]}
        json_file.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def measure(parts: list[str], settings: Settings) -> list[Figure]:
    """The figures of each part."""
    figures: list[Figure] = []
    for part in parts:
        with TemporaryDirectory(prefix="nmt-benchmark-") as folder:
            figures += PARTS[part](settings, Path(folder))
    return figures


def describe(device: torch.device) -> dict[str, Any]:
    """The date, the hardware and the versions that the figures belong to."""
    described = {
        "date": date.today().isoformat(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "amx": has_amx(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if device.type == "cuda":
        described["gpu"] = torch.cuda.get_device_name(device)
    return described


def processor() -> str:
    """The name of the processor, as Linux or else as Python knows it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                _, _, name = line.partition(":")
                return name.strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    # Whatever is measured shall find all of its kernels: oneDNN's cache holds too few by default.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")
    typer.run(main)
