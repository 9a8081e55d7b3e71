"""What training tells people about its course: how fast it goes, how it ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nmt import checkpoint
from nmt.config.schema import Config, TrainConfig
from nmt.run_dir import RunDir
from nmt.train.judging import shown
from nmt.train.log import Log
from nmt.train.progress import Progress
from nmt.train.update import Updated, learning_rate


class Reporter:
    """Reports the mean of the updates since the last report, every `log_every` updates."""

    def __init__(self, config: Config, log: Log) -> None:
        self.config = config
        self.log = log
        self._unreported: list[Updated] = []
        self._since = time.monotonic()

    def updated(self, updated: Updated, progress: Progress) -> None:
        """Count an update, and report if it is time."""
        self._unreported.append(updated)
        self.log.advance()
        if progress.update % self.config.train.log_every == 0 or progress.update == 1:
            self._report(progress)
            self._unreported.clear()
            self._since = time.monotonic()

    def _report(self, progress: Progress) -> None:
        update = progress.update
        train = self.config.train
        epoch = progress.position.epoch
        tokens = sum(each.tokens for each in self._unreported)
        loss = sum(each.loss * each.tokens for each in self._unreported) / tokens
        pace = tokens / (time.monotonic() - self._since)
        rate = learning_rate(train, self.config.model.d_model, update)
        norm = self._unreported[-1].gradient_norm
        self.log.record(
            "train",
            update,
            epoch=epoch,
            loss=loss,
            tokens_per_second=pace,
            lr=rate,
            gradient_norm=norm,
        )
        reached = f"update {update:,}/{train.updates:,}  epoch {epoch + 1}  loss {loss:.3f}"
        left = time_left(train, progress)
        self.log.progress(
            f"{reached}  {pace:,.0f} tok/s  lr {rate:.2e}  |g| {norm:.2f}  ETA {left}"
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave what happens in a block out of the pace."""
        start = time.monotonic()
        yield
        self._since += time.monotonic() - start


def time_left(train: TrainConfig, progress: Progress) -> str:
    """The time left at the mean pace so far, but not beyond `max_minutes`, as h:mm:ss."""
    seconds = progress.seconds / progress.update * (train.updates - progress.update)
    if train.max_minutes is not None:
        allowed = train.max_minutes * 60 - progress.seconds
        seconds = max(0.0, min(seconds, allowed))
    hours = int(seconds // 3600)
    minutes = int(seconds // 60 % 60)
    return f"{hours}:{minutes:02d}:{int(seconds % 60):02d}"


def summary(run: RunDir, progress: Progress) -> str:
    """How long a training took, and its best checkpoint with its scores."""
    best = checkpoint.best(run)
    scores = checkpoint.read_meta(best).scores if best else {}
    minutes = progress.seconds / 60
    trained = f"trained {progress.update:,} updates in {minutes:.1f} minutes"
    return f"{trained}; best: {best}  {shown(scores)}"
