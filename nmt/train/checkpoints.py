"""Saves the checkpoints of a run, and decides which of them stay and which are averaged."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nmt.config.schema import TrainConfig
from nmt.errors import ModelError
from nmt.run import checkpoint
from nmt.run.checkpoint import Meta, Weights
from nmt.run.folder import RunDir
from nmt.run.provenance import Provenance
from nmt.train.health import Health
from nmt.train.progress import Progress
from nmt.train.update import Updater


class CheckpointManager:
    """The checkpoints of one run. All have the same provenance and belong to the same two sides."""

    def __init__(
        self,
        train: TrainConfig,
        run: RunDir,
        fingerprints: tuple[str, str],
        provenance: Provenance,
    ) -> None:
        self.train = train
        self.run = run
        self.fingerprints = fingerprints
        self.provenance = provenance

    def save(self, updater: Updater[Any], progress: Progress, scores: dict[str, float]) -> Path:
        """Write the checkpoint of the newest update."""
        name = checkpoint.step_name(progress.update)
        meta = Meta(progress.update, self.fingerprints, scores, asdict(progress), self.provenance)
        weights = checkpoint.parameters_of(updater.model)
        return checkpoint.save(self.run, name, weights, meta, updater.state())

    def save_average(self, mean: Weights, update: int, scores: dict[str, float]) -> Path:
        """Write an average whose last member is `update`."""
        name = checkpoint.average_name(update)
        meta = Meta(update, self.fingerprints, scores, provenance=self.provenance)
        return checkpoint.save(self.run, name, mean, meta)

    def prune(self, health: Health) -> None:
        """Delete the checkpoints that nobody needs any more.

        What stays: the last `keep` planned ones, the newest, the last good one, those that an
        average may be made of, and the best.
        """
        keep = [
            *self._planned()[-self.train.keep :],
            *self.run.steps()[-1:],
            *self.good(health)[-1:],
            *self._best_steps(),
        ]
        checkpoint.prune(self.run, keep)

    def members_of_average(self) -> list[Path]:
        """The best or the last checkpoints, as configured. Empty if no average is wanted."""
        if self.train.average < 2:
            return []
        return self._best_steps() or self._planned()[-self.train.average :]

    def good(self, health: Health) -> list[Path]:
        """The checkpoints that a later sound update has shown to be good, oldest first."""
        sound = checkpoint.step_name(health.last_sound_update)
        return [folder for folder in self.run.steps() if folder.name < sound]

    def go_back_to(self, good: list[Path]) -> None:
        """Set aside all later checkpoints, so that training resumes from the last good one."""
        for folder in self.run.steps()[len(good) :]:
            checkpoint.set_aside(folder)
        if good and checkpoint.best(self.run) is None:
            checkpoint.mark_best(self.run, good[-1])

    def _planned(self) -> list[Path]:
        """The checkpoints that a run without interruptions has too, oldest first."""
        planned = []
        for folder in self.run.steps():
            update = int(folder.name.removeprefix("step-"))
            saved = update % self.train.save_every == 0
            validated = update % self.train.validate_every == 0
            if saved or validated or update == self.train.updates:
                planned.append(folder)
        return planned

    def _best_steps(self) -> list[Path]:
        """The checkpoints that an average of the best is made of, best last."""
        metric = self.train.early_stop
        if self.train.average_of == "last" or not self.train.average:
            return []
        scored: list[tuple[float, Path]] = []
        for folder in self.run.steps():
            with suppress(ModelError):  # a damaged one is reported where it is needed
                scores = checkpoint.read_meta(folder).scores
                if scores:
                    scored.append((scores[metric], folder))
        lower_is_better = metric == "loss"
        scored.sort(key=lambda each: -each[0] if lower_is_better else each[0])
        return [folder for _, folder in scored[-self.train.average :]]
