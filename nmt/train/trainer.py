"""When to update, validate, save and stop. What an update is stands in `update.py`."""

import math
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from nmt import checkpoint
from nmt.checkpoint import Meta, Weights
from nmt.config.schema import Config
from nmt.corpus.batching import Batch, Position, batches_from, fitting, load_batch
from nmt.corpus.store import ParallelCorpus
from nmt.errors import DataError, FormatError, Interrupted, ModelError, UserError
from nmt.model.device import resolve_precision
from nmt.model.transformer import Transformer
from nmt.model.vectors import put_vectors
from nmt.run_dir import RunDir
from nmt.text.side import load_side
from nmt.train.distributed import World
from nmt.train.log import Log
from nmt.train.progress import Progress
from nmt.train.provenance import origin
from nmt.train.signals import Signals
from nmt.train.update import Updated, Updater, learning_rate
from nmt.train.validation import Validator
from nmt.translate.load import check_fits


class Trainer:
    """Trains one run to its end; where checkpoints are there, from the last whole one on."""

    def __init__(self, config: Config, run: RunDir, world: World) -> None:
        """Raises ModelError or DataError where the run's files do not fit the configuration."""
        self.config, self.run, self.world = config, run, world
        self.src, self.tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
        self.fingerprints = (self.src.fingerprint(), self.tgt.fingerprint())
        self.model = self._new_model()
        precision = resolve_precision(config.train.precision, world.device)
        self.updater = Updater(config.train, self.model, precision, world)
        self.progress = Progress()
        self.origin = origin(config, run)
        warnings = self._resume()  # first of all: it notices files of the run that have changed
        self.corpus = ParallelCorpus(run.store("train"), self.fingerprints)
        self.fitting = fitting(self.corpus.lengths, config.model.max_length)
        self.lengths = self.corpus.lengths[self.fitting]
        if len(self.fitting) == 0:
            raise DataError(
                f"{run.store('train')}: no pair is shorter than model.max_length={config.model.max_length}"
            )
        self.validator = Validator(config, run, self.src, self.tgt, precision)
        self.log = Log(
            run,
            config.train.updates,
            self.progress.update,
            not world.leads,
            config.train.tensorboard,
        )
        for text in [*warnings, *self._introduction(precision)]:
            self.log.say(text)
        self.signals = Signals()
        self._since_log: list[Updated] = []
        self._log_time = time.monotonic()

    def _new_model(self) -> Transformer:
        torch.manual_seed(self.config.train.seed)
        model = Transformer(self.config.model, len(self.src.vocab), len(self.tgt.vocab))
        put_vectors(model, self.config.model, self.src.vocab, self.tgt.vocab)
        model.to(self.world.device)
        self.world.share(list(checkpoint.parameters_of(model).values()))
        return model

    def _introduction(self, precision: str) -> list[str]:
        count = sum(p.numel() for p in self.model.parameters())
        tokens = f"vocabularies {len(self.src.vocab):,} and {len(self.tgt.vocab):,}"
        computed = f"{self.world.device} in {precision}, {self.world.size} process(es)"
        lines = [f"{count:,} parameters, {len(self.fitting):,} pairs, {tokens}, {computed}"]
        if left_out := len(self.corpus) - len(self.fitting):
            lines.append(
                f"{left_out:,} pairs are empty or longer than model.max_length and are left out"
            )
        if len(self.validator) == 0:
            effect = "no validation, no early stopping; the last checkpoint counts as the best"
            lines.append(f"dev is empty, or none of its pairs fits the model: {effect}")
        if self.progress.update:
            lines.append(f"resuming after update {self.progress.update:,}")
        return lines

    def _resume(self) -> list[str]:
        """Take up the last whole checkpoint; damaged ones after it are set aside. Gives a warning for each."""
        damaged: list[tuple[Path, str]] = []
        warnings: list[str] = []
        for folder in reversed(self.run.steps()):
            try:
                read = (
                    checkpoint.read_meta(folder),
                    checkpoint.load_weights(folder),
                    checkpoint.load_training(folder),
                )
            except FormatError:
                raise
            except ModelError as error:
                damaged.append((folder, str(error)))
            else:
                warnings = self._take_up(folder, *read)
                break
        else:
            if damaged:
                raise ModelError(
                    f"{damaged[0][1]}; no other is whole; to start anew, train with --overwrite"
                )
        self.world.wait()  # until every rank has read what it takes up
        if self.world.leads:
            for folder, _ in damaged:
                checkpoint.set_aside(folder)
        return [f"{error}; trying the one before" for _, error in damaged] + warnings

    def _take_up(
        self, folder: Path, meta: Meta, weights: Weights, training: dict[str, Any]
    ) -> list[str]:
        check_fits(folder, self.src, self.tgt)
        if meta.origin.get("data", self.origin["data"]) != self.origin["data"]:
            mend = "restore it, or train with --overwrite"
            raise ModelError(
                f"{self.run.store('train')}: is not what {folder} was trained on; {mend}"
            )
        checkpoint.put_weights(self.model, weights, folder)
        self.updater.load_state(training)
        self.progress = Progress.from_json(meta.progress)
        marked, ours = checkpoint.best(self.run), self.run.checkpoints / self.progress.best
        if marked is not None and marked.name.startswith(
            "average"
        ):  # training goes on after it was averaged
            score = checkpoint.read_meta(marked).scores[self.config.train.early_stop]
            if self._better(score):
                self.progress = replace(self.progress, best=marked.name, best_score=score)
        elif self.progress.best and not ours.is_dir():
            self.progress = replace(self.progress, best="", best_score=None)
            return [
                f"{ours}: the best checkpoint has vanished; the best from now on takes its place"
            ]
        elif self.progress.best and self.world.leads:  # it may have been saved, but not yet marked
            checkpoint.mark_best(self.run, ours)
        return []

    def train(self) -> Progress:
        """Train until updates, minutes or patience are used up, then average.

        Raises Interrupted after a signal, once a checkpoint is written; UserError if the loss stays not finite.
        """
        started_at = self.progress.update
        with self.signals.caught():
            for batches, tokens, position in self._groups():
                if self._ended():
                    break
                self._update(batches, tokens, position)
            if self.progress.update and self.world.agree(not self._is_measured()):
                self._validate_and_save(validate=True)
            self._average()
        if self.progress.update == started_at:
            self.log.say(
                "nothing was left to do; raise train.updates, max_minutes or patience to go on"
            )
        self.log.say(self._summary())
        self.log.close()
        return self.progress

    def _is_measured(self) -> bool:
        """Whether the checkpoint of the newest update is there, with its scores on dev if there is a dev set."""
        folder = self.run.checkpoints / checkpoint.step_name(self.progress.update)
        return folder.is_dir() and (
            not len(self.validator) or bool(checkpoint.read_meta(folder).scores)
        )

    def _groups(self) -> Iterator[tuple[list[Batch], int, Position]]:
        """Endlessly, this rank's batches of the next update, the tokens of all ranks' batches, where it ends."""
        train, world, widest = self.config.train, self.world, self.config.model.max_length
        stream = batches_from(self.lengths, train.batch_tokens, train.seed, self.progress.position)
        while True:
            group = list(islice(stream, train.accumulate * world.size))
            tokens = sum(int(self.lengths[indices, 1].sum()) + len(indices) for indices, _ in group)
            mine = [self.fitting[indices] for indices, _ in group[world.rank :: world.size]]
            batches = [
                load_batch(self.corpus, indices, widest).to(world.device) for indices in mine
            ]
            yield batches, tokens, group[-1][1]

    def _update(self, batches: list[Batch], tokens: int, position: Position) -> None:
        start, update, room = (
            time.monotonic(),
            self.progress.update + 1,
            self.updater.room.positions,
        )
        self.model.train()
        updated = self.updater.apply(update, batches, tokens)
        if (fits := self.updater.room.positions) != room:
            self.log.say(
                f"update {update} did not fit in memory; larger batches are split at {fits} positions"
            )
        self._judge_health(updated, update)
        self._since_log.append(updated)
        seconds = self.progress.seconds + time.monotonic() - start
        self.progress = replace(self.progress, update=update, position=position, seconds=seconds)
        self._report()
        train = self.config.train
        validate, save = update % train.validate_every == 0, update % train.save_every == 0
        if validate or save:
            self._validate_and_save(validate)
        if self.world.agree(self.signals.received != 0):
            self._interrupt(saved=validate or save)

    def _judge_health(self, updated: Updated, update: int) -> None:
        """Raises UserError if going on makes no sense; later than the last good checkpoint there is then none."""
        health = self.progress.health.after(update, updated, self.updater.is_settling)
        if health.bad > self.progress.health.bad:
            self.log.say(
                f"the gradient of update {update} is not finite (loss {updated.loss}); it changes nothing"
            )
        self.progress = replace(self.progress, health=health)
        if (fault := health.fault(update)) is None:
            return
        good = self._good()
        if self.world.leads:
            self._go_back(good)
        kept = (
            f"the last good checkpoint is {good[-1]}" if good else "there is no good checkpoint yet"
        )
        raise UserError(
            self._for_all(f"{fault}; {kept}; lower train.peak_lr or set train.precision=fp32")
        )

    def _for_all(self, text: str) -> str:
        """What rank 0 says for all; the others end with nothing said."""
        return text if self.world.leads else ""

    def _good(self) -> list[Path]:
        """The checkpoints after which a sound update shows that they are good, oldest first."""
        sound = checkpoint.step_name(self.progress.health.sound)
        return [path for path in self.run.steps() if path.name < sound]

    def _go_back(self, good: list[Path]) -> None:
        """Set aside what is not good, so that training resumes from what is, and translates with it."""
        for folder in self.run.steps()[len(good) :]:
            checkpoint.set_aside(folder)
        if good and checkpoint.best(self.run) is None:
            checkpoint.mark_best(self.run, good[-1])

    def _report(self) -> None:
        update, train, epoch = self.progress.update, self.config.train, self.progress.position.epoch
        self.log.advance()
        if update % train.log_every and update > 1:
            return
        tokens = sum(u.tokens for u in self._since_log)
        loss = sum(u.loss * u.tokens for u in self._since_log) / tokens
        pace = tokens / (time.monotonic() - self._log_time)
        rate, norm = (
            learning_rate(train, self.config.model.d_model, update),
            self._since_log[-1].gradient_norm,
        )
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
        self.log.progress(
            f"{reached}  {pace:,.0f} tok/s  lr {rate:.2e}  |g| {norm:.2f}  ETA {self._eta()}"
        )
        self._since_log.clear()
        self._log_time = time.monotonic()

    def _eta(self) -> str:
        """Time left by the mean pace so far, `max_minutes` heeded, as h:mm:ss."""
        train, progress = self.config.train, self.progress
        left = progress.seconds / progress.update * (train.updates - progress.update)
        if train.max_minutes is not None:
            left = max(0.0, min(left, train.max_minutes * 60 - progress.seconds))
        return f"{int(left // 3600)}:{int(left // 60 % 60):02d}:{int(left % 60):02d}"

    def _validate_and_save(self, validate: bool) -> None:
        start = time.monotonic()
        scores: dict[str, float] = {}
        if self.world.leads:
            name = checkpoint.step_name(self.progress.update)
            if validate and len(self.validator):
                scores, translations = self._measure(name)
                self.validator.keep(name, translations)
                self._judge(name, scores)
            self.progress = replace(
                self.progress, seconds=self.progress.seconds + time.monotonic() - start
            )
            meta = Meta(
                self.progress.update, self.fingerprints, scores, asdict(self.progress), self.origin
            )
            weights, training = checkpoint.parameters_of(self.model), self.updater.state()
            folder = checkpoint.save(self.run, name, weights, meta, training)
            if self.progress.best == name or not len(self.validator):
                checkpoint.mark_best(self.run, folder)
            checkpoint.prune(self.run, self._kept())
        self.world.wait()
        self._log_time += time.monotonic() - start

    def _measure(self, name: str) -> tuple[dict[str, float], list[str]]:
        scores, translations = self.validator.measure(self.model)
        self.log.record(
            "dev" if name.startswith("step") else "average", self.progress.update, **scores
        )
        self.log.say(f"dev, {name}: {_shown(scores)}")
        for source, translation, reference in self.validator.examples(translations):
            self.log.say(f"    {source}\n      → {translation}\n      = {reference}")
        return scores, translations

    def _judge(self, name: str, scores: dict[str, float]) -> None:
        """Note whether this is the best so far."""
        score = scores[self.config.train.early_stop]
        if self._better(score):
            self.progress = replace(self.progress, best=name, best_score=score, since_best=0)
        else:
            self.progress = replace(self.progress, since_best=self.progress.since_best + 1)

    def _better(self, score: float) -> bool:
        best = self.progress.best_score
        if best is None:
            return not math.isnan(score)
        return score < best if self.config.train.early_stop == "loss" else score > best

    def _kept(self) -> list[Path]:
        newest = [*self._planned()[-self.config.train.keep :], *self.run.steps()[-1:]]
        return [*newest, *self._good()[-1:], *self._best_steps()]

    def _planned(self) -> list[Path]:
        """The checkpoints that a run without interruptions has too, oldest first."""
        train = self.config.train
        numbered = ((int(path.name.removeprefix("step-")), path) for path in self.run.steps())
        due = (train.save_every, train.validate_every)
        return [
            path
            for update, path in numbered
            if update == train.updates or any(update % n == 0 for n in due)
        ]

    def _best_steps(self) -> list[Path]:
        """The checkpoints that an average of the best is made of, best last."""
        train = self.config.train
        if train.average_of == "last" or not train.average:
            return []
        sign = -1 if train.early_stop == "loss" else 1
        scored: list[tuple[float, Path]] = []
        for path in self.run.steps():
            with suppress(
                ModelError
            ):  # a damaged one is of no use here, and named where it is needed
                if scores := checkpoint.read_meta(path).scores:
                    scored.append((sign * scores[train.early_stop], path))
        return [path for _, path in sorted(scored, key=lambda each: each[0])[-train.average :]]

    def _average(self) -> None:
        """Average the last (or best) checkpoints, once; the mean becomes the best if it scores better on dev."""
        train, name = self.config.train, checkpoint.average_name(self.progress.update)
        members = self._best_steps() or self._planned()[-train.average :]
        wanted = self.world.leads and train.average > 1 and len(members) > 1 and len(self.validator)
        if not wanted or self.validator.output(name).exists():
            return
        trained = {
            key: tensor.clone() for key, tensor in checkpoint.parameters_of(self.model).items()
        }
        try:
            mean = checkpoint.average(members)
            checkpoint.put_weights(self.model, mean, self.run.checkpoints)
            scores, translations = self._measure(name)
        except ModelError as error:
            self.log.say(f"{error}; no average is made")
            return
        finally:
            checkpoint.put_weights(self.model, trained, self.run.checkpoints)
        better = self._better(scores[train.early_stop])
        self.log.say(
            f"the average of {len(members)} checkpoints is {'' if better else 'no '}better than the best"
        )
        if better:
            meta = Meta(self.progress.update, self.fingerprints, scores, origin=self.origin)
            checkpoint.mark_best(self.run, checkpoint.save(self.run, name, mean, meta))
        self.validator.keep(name, translations)  # last of all, since it says that this is done

    def _ended(self) -> bool:
        train, progress = self.config.train, self.progress
        late = train.max_minutes is not None and progress.seconds >= train.max_minutes * 60
        tired = train.patience > 0 and progress.since_best >= train.patience
        return self.world.agree(progress.update >= train.updates or late or tired)

    def _summary(self) -> str:
        best = checkpoint.best(self.run)
        scores = checkpoint.read_meta(best).scores if best else {}
        trained = (
            f"trained {self.progress.update:,} updates in {self.progress.seconds / 60:.1f} minutes"
        )
        return f"{trained}; best: {best}  {_shown(scores)}"

    def _interrupt(self, saved: bool) -> None:
        if not saved:
            self._validate_and_save(validate=False)
        self.log.close()
        number = signal.Signals(self.signals.received or signal.SIGTERM)
        told = (
            f"{number.name}: saved after update {self.progress.update:,}; the same command resumes"
        )
        raise Interrupted(self._for_all(told), number)


def _shown(scores: dict[str, float]) -> str:
    return "  ".join(f"{metric} {value:.3f}" for metric, value in scores.items())
