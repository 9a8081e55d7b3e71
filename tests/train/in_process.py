"""Trainings in this process, and what they leave."""

import os
import signal
from collections.abc import Sequence

import pytest
import torch
from safetensors.torch import load_file

from nmt import checkpoint
from nmt.corpus.batching import Batch
from nmt.run_dir import RunDir
from nmt.train.distributed import World
from nmt.train.update import Updated, Updater

CPU = World(0, 1, torch.device("cpu"))


def weights_at(run: RunDir, update: int) -> checkpoint.Weights:
    return load_file(run.checkpoints / checkpoint.step_name(update) / checkpoint.WEIGHTS)


def assert_bit_identical(one: checkpoint.Weights, other: checkpoint.Weights) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def stop_at(update: int, monkeypatch: pytest.MonkeyPatch, number: int = signal.SIGTERM) -> None:
    """Send this process a signal while it applies an update."""
    apply = Updater.apply

    def apply_and_signal(
        self: Updater, current: int, batches: Sequence[Batch], total_tokens: int
    ) -> Updated:
        if current == update:
            os.kill(os.getpid(), number)
        return apply(self, current, batches, total_tokens)

    monkeypatch.setattr(Updater, "apply", apply_and_signal)
