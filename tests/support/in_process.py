"""Trainings in this process, and what they leave."""

import os
import signal
from collections.abc import Sequence

import pytest
import torch
from safetensors.torch import load_file

from nmt.model.batch import Batch
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.distributed import World
from nmt.train.update import PendingUpdate, Updater

CPU = World(0, 1, torch.device("cpu"))


def weights_at(run: RunDir, update: int) -> checkpoint.Weights:
    return load_file(run.checkpoints / checkpoint.step_name(update) / checkpoint.WEIGHTS)


def assert_bit_identical(one: checkpoint.Weights, other: checkpoint.Weights) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def stop_at(update: int, monkeypatch: pytest.MonkeyPatch, number: int = signal.SIGTERM) -> None:
    """Send this process a signal while it starts an update."""
    start = Updater.start

    def start_and_signal(
        self: Updater, current: int, batches: Sequence[Batch], total_tokens: int
    ) -> PendingUpdate:
        if current == update:
            os.kill(os.getpid(), number)
        return start(self, current, batches, total_tokens)

    monkeypatch.setattr(Updater, "start", start_and_signal)
