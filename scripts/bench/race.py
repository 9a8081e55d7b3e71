"""Training against the clock: minutes, and the BLEU of the test sentences after them."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from bench.plain import PlainLoop, as_weights
from nmt.config.schema import Config
from nmt.corpus.reading.lines import read_lines
from nmt.corpus.stages import claim, ensure_prepared, ensure_vocabularies
from nmt.engines.decoder import Decoder
from nmt.errors import ConfigError, UserError
from nmt.evaluation.metrics import values
from nmt.files import append_text
from nmt.machine.device import resolve_precision
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import SIDES, RunDir
from nmt.run.sides import load_side
from nmt.run.trained import TrainedRun
from nmt.train.data.batching import Position
from nmt.train.data.loader import BatchLoader
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.train.schedule import learning_rate
from nmt.translate.opening import load_translator
from nmt.translate.translator import Translator

ALONE = World(0, 1, torch.device("cpu"))
_CLOCK = "race.jsonl"  # when the race began and, for the plain loop, its updates; those of nmt are in its metrics


class Point(NamedTuple):
    """The test BLEU after so many minutes: of the checkpoint, and of the mean of the last few."""

    minutes: float
    update: int
    bleu: float
    averaged: float


class EnsemblePoint(NamedTuple):
    """The test BLEU after so many minutes, in which so many models were trained: of the last, and of all together."""

    minutes: float
    models: int
    bleu: float
    ensemble: float


def nmt_race(config: Config, checkpoints: int) -> None:
    """Train as `nmt train` does, with evenly spaced checkpoints, all of them kept.

    Raises UserError if the updates cannot be divided into so many equal parts: the log would not tell when the last
    checkpoint was made.
    """
    every, left = divmod(config.train.updates, checkpoints)
    if left:
        raise UserError(
            f"train.updates={config.train.updates} is not a multiple of --checkpoints {checkpoints}"
        )
    often = {
        "validate_every": config.train.updates + 1,  # only at the end
        "save_every": every,
        "log_every": every,
        "keep": checkpoints + 1,
    }
    config = config.model_copy(update={"train": config.train.model_copy(update=often)})
    run = prepared(config)
    _note(run, "begin", 0)
    Trainer(config, run, ALONE).train()


def ensemble_race(config: Config, checkpoints: int, models: int) -> Iterator[EnsemblePoint]:
    """Train models one after the other, each with its own seed, and score the ensemble each time that it grows.

    Each has a folder in the run folder: 1, 2, 3 … As in `nmt translate`, its checkpoint is the one that dev has chosen.
    """
    configs = [_member(config, number) for number in range(1, models + 1)]
    # A folder that is in the way is an error before any training.
    members = [TrainedRun(own, prepared(own)) for own in configs]
    minutes = 0.0
    for count, member in enumerate(members, 1):
        own, run = member
        nmt_race(own, checkpoints)
        minutes += max(_seconds(run).values()) / 60
        bleu = _bleu_of_models([member])
        together = bleu if count == 1 else _bleu_of_models(members[:count])
        yield EnsemblePoint(minutes, count, bleu, together)


def _member(config: Config, number: int) -> Config:
    """The configuration of a model of an ensemble: it has its own seed and its own folder."""
    seed = config.train.seed + number - 1
    changes = {
        "train": config.train.model_copy(update={"seed": seed}),
        "run_dir": str(Path(config.run_dir) / str(number)),
    }
    return config.model_copy(update=changes)


def plain_race(config: Config, minutes: float, checkpoints: int) -> None:
    """Train with a plain loop, on the same batches and with the same rates.

    Raises ConfigError for updates of several batches, which the loop does not have.
    """
    if config.train.accumulate > 1:
        raise ConfigError("the plain loop has one batch an update; set train.accumulate=1")
    run = prepared(config)
    src, tgt = (load_side(config, run, name) for name in SIDES)
    fingerprints = (src.fingerprint(), tgt.fingerprint())
    between = minutes * 60 / checkpoints  # seconds
    saved = 0
    begun = time.monotonic()
    _note(run, "begin", 0)
    reader = BatchLoader(config, run, ALONE, fingerprints)
    torch.manual_seed(config.train.seed)
    loop = PlainLoop(config, len(src.vocab), len(tgt.vocab), ALONE.device)
    for update, group in enumerate(reader.groups(Position()), start=1):
        loop.set_rate(learning_rate(config.train, config.model.d_model, update))
        loop.update(group.batches[0])
        if time.monotonic() - begun < between * (saved + 1):
            continue
        saved += 1
        meta = checkpoint.Meta(update, fingerprints)
        checkpoint.save(run, checkpoint.step_name(update), as_weights(loop.model), meta)
        _note(run, "train", update)
        if saved == checkpoints:
            return


def _note(run: RunDir, kind: str, update: int) -> None:
    """Write the time of day into the race's log, as nmt's metrics have it."""
    record = {"kind": kind, "update": update, "time": time.time()}
    append_text(run.path / _CLOCK, json.dumps(record) + "\n")


def prepared(config: Config) -> RunDir:
    """The run folder of a configuration, with its text and its vocabularies."""
    run = claim(config, overwrite=False)
    say = partial(print, file=sys.stderr)
    ensure_prepared(config, run, say, say)
    ensure_vocabularies(config, run, say)
    return run


def points(config: Config) -> Iterator[Point]:
    """Score all checkpoints of a race, the earliest first."""
    run = RunDir(Path(config.run_dir))
    seconds = _seconds(run)
    steps = run.steps()
    for place, folder in enumerate(steps):
        update = checkpoint.read_meta(folder).update
        recent = steps[max(0, place + 1 - config.train.average) : place + 1]
        own = _bleu_of_weights(config, run, checkpoint.load_weights(folder))
        mean = own if len(recent) < 2 else _bleu_of_weights(config, run, checkpoint.average(recent))
        yield Point(seconds[update] / 60, update, own, mean)


def _seconds(run: RunDir) -> dict[int, float]:
    """Seconds of training until each update that the logs tell of."""
    lines = list(read_lines(run.path / _CLOCK))
    if run.metrics.exists():
        lines += read_lines(run.metrics)
    records = [json.loads(line) for line in lines]
    begun = next(each["time"] for each in records if each["kind"] == "begin")
    return {each["update"]: each["time"] - begun for each in records if each["kind"] == "train"}


def _bleu_of_weights(config: Config, run: RunDir, weights: checkpoint.Weights) -> float:
    """BLEU of the test sentences by these weights."""
    src, tgt = (load_side(config, run, name) for name in SIDES)
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    checkpoint.copy_weights(model, weights)
    decoder = Decoder(model, src, tgt, resolve_precision("auto", ALONE.device))
    return _score(Translator(decoder, config.search, config.prepare.augment), run)


def _bleu_of_models(trained: list[TrainedRun]) -> float:
    """BLEU of the test sentences by these models together."""
    (config, run), *others = trained
    return _score(load_translator(config, run, "cpu", others=others), run)


def _score(translator: Translator, run: RunDir) -> float:
    """BLEU of a run's test sentences."""
    sources, references = (list(read_lines(run.text("test", name))) for name in ("en", "zh"))
    texts = [translation.text for translation in translator.translate(sources)]
    return values(texts, [references], ["bleu"])["bleu"]


def first_over(bleu: float, curve: Sequence[Point | EnsemblePoint]) -> Point | EnsemblePoint | None:
    """The first point that is at least that good."""
    return next((point for point in curve if _best_bleu(point) >= bleu), None)


def _best_bleu(point: Point | EnsemblePoint) -> float:
    """The better of a point's two."""
    _minutes, _count, bleu, together = point
    return max(bleu, together)
