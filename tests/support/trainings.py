"""Trainings to break: as processes of their own, and what they leave."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from threading import Timer
from typing import Any

from conftest import TINY
from loaded import Loaded

from nmt.run import checkpoint
from nmt.run.folder import RunDir

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def settings(corpus: Path, run: Path, *more: str) -> list[str]:
    """What `nmt train` is to be called with for the little world."""
    return [f"data.path={corpus}", f"run_dir={run}", *TINY, *more]


@contextmanager
def training(folder: Path, arguments: list[str], **environment: str) -> Iterator[Loaded]:
    """`nmt train` at work, its stderr a pipe; it does not outlive the test."""
    variables = ENVIRONMENT | environment
    process = Loaded(["train", *arguments], cwd=folder, stderr=PIPE, text=True, env=variables)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.close()


def wait_for(process: Loaded, text: str) -> None:
    """Read the process's stderr up to a line with this text."""
    assert process.stderr is not None
    told = ""
    for line in process.stderr:
        told += line
        if text in line:
            return
    raise AssertionError(f"it ended without '{text}':\n{told}")


def the_rest(process: Loaded) -> str:
    """What the process says until it ends; it is killed if it does not."""
    assert process.stderr is not None
    patience = Timer(100, process.kill)
    patience.start()
    try:
        return process.stderr.read()
    finally:
        patience.cancel()


def outcome(run: RunDir) -> dict[str, Any]:
    """All that a training leaves for its user, as bytes and values, without times."""
    last = run.steps()[-1]
    progress = dict(checkpoint.read_meta(last).progress)
    del progress["seconds"]
    best = checkpoint.best(run)
    scores = None if best is None else checkpoint.read_meta(best).scores
    files = [
        last / checkpoint.WEIGHTS,
        last / checkpoint.TRAINING,
        run.best,
        *run.validation.iterdir(),
    ]
    return {"progress": progress, "scores": scores} | {
        str(f.relative_to(run.path)): f.read_bytes() for f in files
    }
