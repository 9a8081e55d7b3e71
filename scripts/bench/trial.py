"""A short training whose length and learning rate follow the CPU time, so that a slower update is paid for."""

import time
from typing import NamedTuple

import torch
from torch import Tensor

from bench.race import ALONE, prepared
from nmt.config.schema import Config
from nmt.machine.device import resolve_precision
from nmt.run.folder import SIDES
from nmt.run.sides import load_side
from nmt.train.data.batching import Position
from nmt.train.data.loader import BatchLoader, Group
from nmt.train.loop import new_model
from nmt.train.padded_update import PaddedUpdater
from nmt.train.schedule import learning_rate
from nmt.train.start.warm_start import load_warm_start
from nmt.train.validation import Validator

_LOOKS = 4  # how often dev is looked at; the last time at the end


class Look(NamedTuple):
    """How good a model is on dev after a share of the time."""

    minutes: float  # of CPU time, validation left out
    updates: int
    tokens: int  # target tokens seen so far
    loss: float


class Outcome(NamedTuple):
    """What a trial comes to."""

    looks: list[Look]
    scores: dict[str, float]  # on dev at the end: loss, and BLEU and chrF of greedy search


class TimedUpdater(PaddedUpdater):
    """Applies updates at the learning rate of a share of the time.

    `train.updates` only divides the schedule: with warmup=70 and updates=1400 the rate rises in the first twentieth.
    """

    share = 0.0

    def _clip_and_step(self, loss: Tensor, rate: float) -> Tensor:
        update = max(1, round(self.share * self.config.updates))
        return super()._clip_and_step(
            loss, learning_rate(self.config, self.model.config.d_model, update)
        )


class Trial:
    """A training of `minutes` of CPU time, on as many threads as torch has."""

    def __init__(self, config: Config, minutes: float) -> None:
        self.run = prepared(config)
        self.minutes = minutes
        src, tgt = (load_side(config, self.run, name) for name in SIDES)
        precision = resolve_precision(config.train.precision, ALONE.device)
        self.validator = Validator(config, self.run, src, tgt, precision)
        self.loader = BatchLoader(config, self.run, ALONE, (src.fingerprint(), tgt.fingerprint()))
        self._begun = time.process_time()
        self._paused = 0.0
        start = load_warm_start(config, self.run, src, tgt)
        self.model = new_model(config, self.run, src, tgt, ALONE, start)
        self.updater = TimedUpdater(config.train, self.model, precision, ALONE)
        self.updates = 0
        self.tokens = 0
        self.looks: list[Look] = []

    def train(self) -> Outcome:
        """Train until the time is over. Each trial makes its model anew and writes no checkpoint."""
        for group in self.loader.groups(Position()):
            share = self._spent() / self.minutes
            if share >= 1:
                break
            if share >= (len(self.looks) + 1) / _LOOKS:
                self._look()
            self._update(group, share)
        minutes = self._spent()
        scores, _translations = self.validator.measure(self.model)
        self._note(minutes, scores["loss"])
        return Outcome(self.looks, scores)

    def _update(self, group: Group, share: float) -> None:
        self.updates += 1
        self.tokens += group.tokens
        self.updater.share = share
        self.updater.apply(self.updates, group.batches, group.tokens)

    def _look(self) -> None:
        minutes = self._spent()
        begun = time.process_time()
        loss = self.validator.loss(self.model)
        self._paused += time.process_time() - begun
        self._note(minutes, loss)

    def _note(self, minutes: float, loss: float) -> None:
        self.looks.append(Look(minutes, self.updates, self.tokens, loss))

    def _spent(self) -> float:
        return (time.process_time() - self._begun - self._paused) / 60


def trial(config: Config, minutes: float, threads: int) -> Outcome:
    """What a training of so many minutes of CPU time comes to."""
    torch.set_num_threads(threads)
    return Trial(config, minutes).train()
