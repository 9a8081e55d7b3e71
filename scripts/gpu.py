#!/usr/bin/env python3
"""nmt on a GPU, measured within minutes: training, translating, its commands, and other programs beside it.

    python scripts/gpu.py --json figures.json                     everything; some six minutes on an H100
    python scripts/gpu.py --part train-box --part commands        some of it
    python scripts/gpu.py --device cpu --tiny                     a dry run: that every part works

Each part runs in a process of its own, so that one that fails leaves the others alone, and the file is written after
each. transformers and CTranslate2 are compared with if they are installed. docs/lab/performance.md has the figures.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer
from benchmark import describe

from nmt.errors import UserError
from nmt.machine.device import open_device

Part = Callable[[torch.device, bool], dict[str, Any]]
_LAST = 2000  # characters of what a part that failed said


def train(size: str, device: torch.device, tiny: bool) -> dict[str, Any]:
    """Whole updates of a size."""
    from bench import gpu_training

    return gpu_training.measure(size, device, tiny)


def marian(device: torch.device, tiny: bool) -> dict[str, Any]:
    """transformers' Trainer."""
    from bench import marian

    return marian.measure(device, tiny)


def translate(size: str, device: torch.device, tiny: bool) -> dict[str, Any]:
    """Searches with a size."""
    from bench import gpu_translating

    return gpu_translating.measure(size, device, tiny)


def commands(device: torch.device, tiny: bool) -> dict[str, Any]:
    """What people type."""
    from bench import gpu_commands

    return gpu_commands.measure(device, tiny)


PARTS: dict[str, Part] = {
    "train-box": partial(train, "box"),
    "train-next-box": partial(train, "next box"),
    "train-base": partial(train, "base"),
    "train-big": partial(train, "big"),
    "translate-box": partial(translate, "box"),
    "translate-base": partial(translate, "base"),
    "commands": commands,
    "train-marian": marian,
}


def main(
    part: Annotated[list[str] | None, typer.Option(help=f"Some of {', '.join(PARTS)}.")] = None,
    device: Annotated[str, typer.Option(help="cuda, or cpu for a dry run.")] = "cuda",
    tiny: Annotated[bool, typer.Option(help="Tiny sizes: only to see that it works.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures here as JSON.")
    ] = None,
    alone: Annotated[bool, typer.Option(help="One part, in this process.")] = False,
) -> None:
    """Measure each part."""
    chosen = part or list(PARTS)
    unknown = set(chosen) - set(PARTS)
    if unknown:
        sys.exit(f"gpu: no part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    try:
        chosen_device = open_device(device)
    except UserError as error:
        sys.exit(f"gpu: {error}")
    if alone:
        figures = PARTS[chosen[0]](chosen_device, tiny)
        print(json.dumps(figures, ensure_ascii=False))
        return
    record: dict[str, Any] = {"machine": describe(chosen_device)}
    for name in chosen:
        record[name] = _in_own_process(name, device, tiny)
        text = json.dumps(record, ensure_ascii=False, indent=1)
        if json_file is not None:
            json_file.write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {json.dumps(record[name], ensure_ascii=False)}", flush=True)


def _in_own_process(name: str, device: str, tiny: bool) -> dict[str, Any]:
    """The figures of one part, or what it said when it failed; with its seconds."""
    with TemporaryDirectory() as libraries:
        command = [sys.executable, __file__, "--alone", "--part", name, "--device", device]
        start = time.perf_counter()
        done = subprocess.run(
            [*command, *(["--tiny"] if tiny else [])],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | _cublas_for_ctranslate2(Path(libraries)),
        )
    took = {"seconds": time.perf_counter() - start}
    if done.returncode:
        return took | {"error": done.stderr[-_LAST:]}
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return took | figures


def _cublas_for_ctranslate2(folder: Path) -> dict[str, str]:
    """Where torch brings cuBLAS 13, an environment in which CTranslate2 finds it under the name of cuBLAS 12.

    It calls functions that have not changed since.
    """
    found = list(Path(torch.__file__).parents[1].glob("nvidia/**/libcublas*.so.13"))
    for library in found:
        (folder / library.name.replace(".so.13", ".so.12")).symlink_to(library)
    if not found:
        return {}
    return {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


if __name__ == "__main__":
    typer.run(main)
