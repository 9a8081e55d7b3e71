"""What training tells people: what it begins with, how fast it goes, how it ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch

from nmt.config.schema import Config, TrainConfig
from nmt.errors import ModelError, counted
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.text.side import Side
from nmt.train.advice import too_large, too_slow
from nmt.train.data.loader import BatchLoader
from nmt.train.distributed import World
from nmt.train.log import Log
from nmt.train.model_selection import ModelSelection, shown
from nmt.train.progress import Progress
from nmt.train.schedule import learning_rate
from nmt.train.update import UpdateResult

# Seconds without a word after which an update is reported out of turn.
_LONGEST_SILENCE = 60.0


def introduction(
    model: Transformer, loader: BatchLoader, src: Side, tgt: Side, precision: str, world: World
) -> str:
    """What is trained, on what and where."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    pairs = counted(len(loader.fitting), "pair")
    vocabularies = f"vocabularies {len(src.vocab):,} and {len(tgt.vocab):,}"
    where = f"{world.device} in {precision}"
    if world.size > 1:
        where += f", {world.size} processes"
    return f"{counted(parameters, 'parameter')}, {pairs}, {vocabularies}, {where}"


def doubts(
    train: TrainConfig, model: Transformer, loader: BatchLoader, selection: ModelSelection
) -> Iterator[str]:
    """What a user should know before a training goes on for hours."""
    pairs = len(loader.fitting)
    left_out = len(loader.corpus) - pairs
    if left_out:
        are = "is" if left_out == 1 else "are"
        reason = f"{are} empty or longer than model.max_length and {are} left out"
        yield f"{counted(left_out, 'pair')} {reason}"
    if not selection.can_measure:
        effect = "no validation, no early stopping; the last checkpoint counts as the best"
        yield f"dev is empty, or none of its pairs fits the model: {effect}"
    parameters = sum(parameter.numel() for parameter in model.parameters())
    advice = too_large(train, parameters, pairs)
    if advice:
        yield advice


class Reporter:
    """Reports the mean of the updates since the last report, every `log_every` updates.

    The first update of a process, and one after a long silence, are reported too, but to people only: the records
    for machines do not depend on the clock.
    """

    def __init__(self, config: Config, log: Log, begun: Progress, device: torch.device) -> None:
        self.config = config
        self.log = log
        self._begun = begun
        self._device = device
        self._advised = False
        self._unreported: list[UpdateResult] = []
        self._since = time.monotonic()
        self._last_word: float | None = None

    def updated(self, updated: UpdateResult, progress: Progress) -> None:
        """Count an update, and report if it is time."""
        self._unreported.append(updated)
        self.log.advance()
        if progress.update % self.config.train.log_every == 0 or progress.update == 1:
            self._record(progress)
        elif self._is_silent():
            self._report(progress, record=False)
        if not self._advised:
            self._advise(progress)

    def end(self, progress: Progress) -> None:
        """Report the updates since the last report, if there are any."""
        if self._unreported:
            self._record(progress)

    def _record(self, progress: Progress) -> None:
        """Report to machines and people, and begin anew."""
        self._report(progress, record=True)
        self._unreported.clear()
        self._since = time.monotonic()

    def _is_silent(self) -> bool:
        now = time.monotonic()
        return self._last_word is None or now - self._last_word > _LONGEST_SILENCE

    def _advise(self, progress: Progress) -> None:
        advice = too_slow(self.config.train, progress, self._begun, self._device)
        if advice:
            self._advised = True
            self.log.warn(advice)

    def _report(self, progress: Progress, record: bool) -> None:
        update = progress.update
        train = self.config.train
        epoch = progress.position.epoch
        tokens = sum(each.tokens for each in self._unreported)
        loss = sum(each.loss * each.tokens for each in self._unreported) / tokens
        seconds = time.monotonic() - self._since
        rate = learning_rate(train, self.config.model.d_model, update)
        norm = self._unreported[-1].gradient_norm
        if record:
            self.log.record(
                "train",
                update,
                epoch=epoch,
                loss=loss,
                tokens_per_second=tokens / seconds,
                lr=rate,
                gradient_norm=norm,
            )
        reached = f"update {update:,}/{train.updates:,}  epoch {epoch + 1}  loss {loss:.3f}"
        pace = f"{tokens / seconds:,.0f} tok/s"
        line = f"{reached}  {pace}  lr {rate:.2e}  |g| {norm:.2f}"
        if progress.update > self._begun.update + 1:  # the first of a process says little
            line += f"  ETA {time_left(train, progress, seconds / len(self._unreported))}"
        self.log.progress(line)
        self._last_word = time.monotonic()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave what happens in a block out of the pace."""
        start = time.monotonic()
        yield
        self._since += time.monotonic() - start


def time_left(train: TrainConfig, progress: Progress, seconds_per_update: float) -> str:
    """The time left at a pace, but not beyond `max_minutes`, as h:mm:ss."""
    seconds = seconds_per_update * (train.updates - progress.update)
    if train.max_minutes is not None:
        allowed = train.max_minutes * 60 - progress.seconds
        seconds = max(0.0, min(seconds, allowed))
    hours = int(seconds // 3600)
    minutes = int(seconds // 60 % 60)
    return f"{hours}:{minutes:02d}:{int(seconds % 60):02d}"


def summary(run: RunDir, progress: Progress) -> str:
    """How long a training took, and its best checkpoint with its scores."""
    best = checkpoint.best(run)
    scores: dict[str, float] = {}
    with suppress(ModelError):  # damaged meanwhile; whoever uses it gets the error
        scores = checkpoint.read_meta(best).scores if best else {}
    minutes = progress.seconds / 60
    trained = f"trained {progress.update:,} updates in {minutes:.1f} minutes"
    return f"{trained}; best: {best}  {shown(scores)}"
