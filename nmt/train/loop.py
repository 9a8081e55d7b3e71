"""The course of a training: when to update, validate, save and stop."""

import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import torch

from nmt.config.schema import Config
from nmt.corpus.encoding.store import ParallelCorpus
from nmt.errors import Interrupted, UserError
from nmt.machine.device import resolve_precision
from nmt.machine.oom import within_memory
from nmt.machine.signals import Signals
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.provenance import provenance_of
from nmt.run.sides import load_side
from nmt.text.side import Side
from nmt.train.averaging import average
from nmt.train.checkpoints import CheckpointManager
from nmt.train.data.loader import BatchLoader, Group
from nmt.train.distributed import World
from nmt.train.log import Log
from nmt.train.model_selection import ModelSelection
from nmt.train.packed_update import PackedUpdater, trains_packed
from nmt.train.padded_update import PaddedUpdater
from nmt.train.progress import Progress
from nmt.train.reporting import Reporter, doubts, introduction, summary
from nmt.train.resuming import resume
from nmt.train.start.initialise import initialise
from nmt.train.start.lexical import put_word_pairs
from nmt.train.start.vectors import freeze_vectors, put_vectors
from nmt.train.start.warm_start import WarmStart, freeze, load_warm_start
from nmt.train.start.word_pairs import word_pairs
from nmt.train.update import PendingUpdate, Updater
from nmt.train.validation import Validator


class Trainer:
    """Trains one run to its end; it begins at the last intact checkpoint, if there is one."""

    def __init__(self, config: Config, run: RunDir, world: World, quiet: bool = False) -> None:
        """Raises ModelError or DataError if the files of the run do not fit the configuration."""
        self.config = config
        self.run = run
        self.world = world
        self.src = load_side(config, run, "src")
        self.tgt = load_side(config, run, "tgt")
        fingerprints = (self.src.fingerprint(), self.tgt.fingerprint())
        start = load_warm_start(config, run, self.src, self.tgt)
        self.model = new_model(config, run, self.src, self.tgt, world, start)
        precision = resolve_precision(config.train.precision, world.device)
        packs = trains_packed(config, precision, world)
        kind = PackedUpdater if packs else PaddedUpdater
        self.updater: Updater[Any] = kind(config.train, self.model, precision, world)
        provenance = provenance_of(config, run, start.ancestor)
        self.checkpoints = CheckpointManager(config.train, run, fingerprints, provenance)
        # Resume before the data is read: this notices if files have changed.
        self.progress, warnings = resume(self.updater, self.checkpoints, self.src, self.tgt, world)
        self.loader = BatchLoader(config, run, world, fingerprints, packs)
        self.log = Log(
            run,
            total=config.train.updates,
            start=self.progress.update,
            silent=not world.leads,
            quiet=quiet,
            tensorboard=config.train.tensorboard,
        )
        validator = Validator(config, run, self.src, self.tgt, precision, self.log.warn)
        self.selection = ModelSelection(validator, self.log, config.train.early_stop)
        self.reporter = Reporter(config, self.log, self.progress, world.device)
        self._started: PendingUpdate | None = (
            None  # the newest update, until its result is looked at
        )
        self.signals = Signals()
        self._looked_at = time.monotonic()  # when the time was last added up
        self._introduce(precision, warnings, start)

    def train(self) -> Progress:
        """Train until updates, minutes or patience are used up, then average.

        Raises Interrupted after a signal, once a checkpoint is written; UserError if the loss
        diverges or stays not finite.
        """
        begun_at = self.progress.update
        self._looked_at = time.monotonic()
        with self.signals.caught():
            for group in self._groups():
                if self._is_over():
                    break
                self._update(group)
                self._checkpoint_if_due()
                self._obey_signals()
            self._checkpoint_the_end()
            self.reporter.end(self.progress)
            if self.world.leads:
                average(self.model, self.checkpoints, self.selection, self.progress)
        if self.progress.update == begun_at:
            fix = "raise train.updates, max_minutes or patience to go on"
            self.log.say(f"nothing was left to do; {fix}")
        self.log.say(summary(self.run, self.progress))
        self.log.close()
        return self.progress

    def _introduce(self, precision: str, warnings: list[str], start: WarmStart) -> None:
        about = introduction(self.model, self.loader, self.src, self.tgt, precision, self.world)
        self.log.say(about)
        if start.weights:
            self.log.say(start.describe())
        for text in warnings:
            self.log.warn(text)
        is_new = self.progress.update == 0
        say_or_warn = self.log.warn if is_new else self.log.say
        for text in doubts(self.config.train, self.model, self.loader, self.selection):
            say_or_warn(text)
        if not is_new:
            self.log.say(f"resuming after update {self.progress.update:,}")
        self._warn_of_other_batches()

    def _warn_of_other_batches(self) -> None:
        before = self.progress.position
        position = self.loader.starting_at(before, self.progress.update + 1)
        if before.batch and position.packed != before.packed:
            reason = "this device makes other batches than the one before"
            self.log.warn(f"{reason}; training goes on with epoch {position.epoch + 1}")

    # --- an update ---

    def _groups(self) -> Iterator[Group]:
        """The data of the updates that are left; a cooldown with pairs of its own begins an epoch of these."""
        while True:
            start = self.loader.starting_at(self.progress.position, self.progress.update + 1)
            self.progress = replace(self.progress, position=start)
            for group in self.loader.groups(start):
                yield group
                position = self.progress.position
                if self.loader.starting_at(position, self.progress.update + 1) != position:
                    break

    def _update(self, group: Group) -> None:
        """Start an update; while a GPU computes it, look at the result of the one before."""
        update = self.progress.update + 1
        started = self.updater.start(update, group.batches, group.tokens)
        for warning in started.warnings:
            self.log.warn(f"update {update}: {warning}")
        for note in started.notes:
            self.log.say(note)
        self._review()
        self._started = started
        self.progress = replace(
            self.progress, update=update, position=group.end, seconds=self._seconds()
        )

    def _seconds(self) -> float:
        """How long the training has taken by now, reading and saving included."""
        since, self._looked_at = self._looked_at, time.monotonic()
        return self.progress.seconds + self._looked_at - since

    def _review(self) -> None:
        """Look at the result of the newest update, unless that is done. Raises as `train` does."""
        if self._started is None:
            return
        updated = self._started.result()
        self._started = None
        update = self.progress.update
        is_settling = not updated.applied and self.updater.is_settling
        health = self.progress.health.after(update, updated, is_settling)
        if health.nonfinite_streak > self.progress.health.nonfinite_streak:
            gradient = f"the gradient of update {update} is not finite (loss {updated.loss})"
            self.log.warn(f"{gradient}; it changes nothing")
        self.progress = replace(self.progress, health=health)
        self._end_if_unhealthy()
        self.reporter.updated(updated, self.progress)

    def _end_if_unhealthy(self) -> None:
        """Raise UserError if going on makes no sense; the last checkpoint left is a good one."""
        fault = self.progress.health.fault(self.progress.update)
        if fault is None:
            return
        good = self.checkpoints.good(self.progress.health)
        if self.world.leads:
            self.checkpoints.go_back_to(good)
        found = "there is no good checkpoint yet"
        if good:
            found = f"the last good checkpoint is {good[-1]}"
        fix = "lower train.peak_lr or set train.precision=fp32"
        raise UserError(self._said_once(f"{fault}; {found}; {fix}"))

    # --- checkpoints ---

    def _obey_signals(self) -> None:
        """Stop, or save and go on, if any rank was asked to. Raises Interrupted."""
        if self.world.agree(self.signals.received != 0):
            self._interrupt()
        if self.world.agree(self.signals.asked_to_save):
            self.signals.asked_to_save = False
            self._checkpoint_unless_saved()
            self.log.say(f"SIGUSR1: saved after update {self.progress.update:,}; training goes on")

    def _checkpoint_if_due(self) -> None:
        if self._is_due(self.config.train.validate_every):
            self._checkpoint(validate=True)
        elif self._is_due(self.config.train.save_every):
            self._checkpoint(validate=False)

    def _checkpoint_unless_saved(self) -> None:
        train = self.config.train
        if not (self._is_due(train.validate_every) or self._is_due(train.save_every)):
            self._checkpoint(validate=False)

    def _is_due(self, every: int) -> bool:
        return self.progress.update % every == 0

    def _checkpoint(self, validate: bool) -> None:
        """Rank 0 validates, if asked, and saves; the others wait for it."""
        self._review()
        with self.reporter.paused():
            if self.world.leads:
                self._save(self._validate() if validate else {})
            self.world.wait()

    def _validate(self) -> dict[str, float]:
        """The scores of the model on dev, none if there is no dev. The progress notes the best."""
        if not self.selection.can_measure:
            return {}
        name = checkpoint.step_name(self.progress.update)
        scores, translations = self.selection.measure(self.model, name, self.progress.update)
        self.selection.validator.write(name, translations)
        progress = self.selection.judged(self.progress, name, scores)
        self.progress = replace(progress, seconds=self._seconds())
        return scores

    def _save(self, scores: dict[str, float]) -> None:
        folder = self.checkpoints.save(self.updater, self.progress, scores)
        if self.progress.best == folder.name or not self.selection.can_measure:
            checkpoint.mark_best(self.run, folder)
        self.checkpoints.prune(self.progress.health)

    # --- the end ---

    def _is_over(self) -> bool:
        train = self.config.train
        done = self.progress.update >= train.updates
        late = train.max_minutes is not None and self.progress.seconds >= train.max_minutes * 60
        impatient = 0 < train.patience <= self.progress.since_best
        return self.world.agree(done or late or impatient)

    def _checkpoint_the_end(self) -> None:
        """Validate and save the last update, unless that is done."""
        if self.progress.update and self.world.agree(not self._is_measured()):
            self._checkpoint(validate=True)

    def _is_measured(self) -> bool:
        """Whether the newest update has a checkpoint, with scores if there is a dev split."""
        folder = self.run.checkpoints / checkpoint.step_name(self.progress.update)
        if not folder.is_dir():
            return False
        return not self.selection.can_measure or bool(checkpoint.read_meta(folder).scores)

    def _interrupt(self) -> NoReturn:
        """Save, unless that is done, and raise Interrupted."""
        self._checkpoint_unless_saved()
        self.log.close()
        received = signal.Signals(self.signals.received or signal.SIGTERM)  # or another rank did
        reached = f"saved after update {self.progress.update:,}"
        message = f"{received.name}: {reached}; the same command resumes"
        raise Interrupted(self._said_once(message), received)

    def _said_once(self, message: str) -> str:
        """The message on rank 0; the other ranks end without one."""
        return message if self.world.leads else ""


def new_model(
    config: Config, run: RunDir, src: Side, tgt: Side, world: World, start: WarmStart
) -> Transformer:
    """The model before its first update, the same on every rank: rank 0 makes it."""
    torch.manual_seed(config.train.seed)
    with within_memory("the model", "make it smaller"):
        model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    initialise(model)
    is_new = world.leads and not run.steps()  # else rank 0 or a checkpoint brings all weights
    if config.model.init == "lexical" and start.folder is None and is_new:
        corpus = ParallelCorpus(run.store("train"), (src.fingerprint(), tgt.fingerprint()))
        put_word_pairs(model, word_pairs(corpus), config.train.seed)
    if is_new:
        put_vectors(model, config.model, src.vocab, tgt.vocab)
    freeze_vectors(model, config.model)
    if start.folder is not None:
        checkpoint.put_weights(model, start.weights, start.folder)
    freeze(model, config.train.freeze)
    with within_memory("the model", "make it smaller"):
        model.to(world.device)
    world.wait()  # for what rank 0 makes of the pairs, which takes it a while
    world.share(list(checkpoint.parameters_of(model).values()))
    return model
