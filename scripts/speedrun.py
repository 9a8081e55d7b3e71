#!/usr/bin/env python3
"""How many minutes of training it takes until the test set has a certain BLEU.

    python scripts/speedrun.py --run runs/speed                        configs/tatoeba.yaml as it is
    python scripts/speedrun.py --run runs/shallow train.updates=3000 model.decoder_layers=2
    python scripts/speedrun.py --run runs/plain --plain --minutes 40   a plain PyTorch loop on the same batches
    python scripts/speedrun.py --run runs/four --models 4              an ensemble, trained one model after the other
    python scripts/speedrun.py --run runs/remembering search.memory=runs/remembering     with its train pairs as memory

The minutes are those of the whole loop, from the making of the model on, with checkpoints, without validation. Each
checkpoint translates the test sentences with beam search, by itself and averaged with those before it. Both kinds of
training are measured alike: the plain loop's weights become checkpoints of nmt. Of an ensemble, each model is scored
when it is trained, alone and with those before it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from bench.options import TATOEBA, CurveFile, Overrides, What, settings_of
from bench.race import EnsemblePoint, Point, ensemble_race, first_over, nmt_race, plain_race, points

from nmt.config.schema import Config
from nmt.errors import UserError
from nmt.files import write_json

_HEADINGS = {
    Point: "minutes  updates   BLEU  averaged",
    EnsemblePoint: "minutes   models   BLEU  ensemble",
}


def main(
    run: Annotated[Path, typer.Option(help="A new folder for the training.")],
    overrides: Overrides = None,
    config: What = TATOEBA,
    goal: Annotated[list[float] | None, typer.Option(help="A BLEU to reach; repeatable.")] = None,
    checkpoints: Annotated[
        int, typer.Option(help="Evenly spaced checkpoints of each training.")
    ] = 12,
    plain: Annotated[bool, typer.Option("--plain", help="Train with a plain loop.")] = False,
    minutes: Annotated[float, typer.Option(help="How long the plain loop trains.")] = 40,
    models: Annotated[int, typer.Option(help="How many models of an ensemble.", min=1)] = 1,
    json_file: CurveFile = None,
) -> None:
    """Train, score every checkpoint, or every model of an ensemble, and print the curve."""
    if plain and models > 1:
        sys.exit("speedrun: --plain trains one model; leave out --models")
    curve: list[Point | EnsemblePoint] = []
    try:
        settings = settings_of(config, overrides, run)
        for point in _race(settings, checkpoints, minutes if plain else None, models):
            if not curve:
                print(_HEADINGS[type(point)])
            curve.append(point)
            print(_row(point), flush=True)
    except UserError as error:
        sys.exit(f"speedrun: {error}")
    for bleu in goal or [33.2, 38.1, 41.0]:
        print(f"BLEU {bleu}: {_reached(first_over(bleu, curve))}")
    if json_file is not None:
        write_json(json_file, [point._asdict() for point in curve])


def _race(
    settings: Config, checkpoints: int, plain_minutes: float | None, models: int
) -> Iterator[Point | EnsemblePoint]:
    """Train, and give the points of the curve."""
    if models > 1:
        return ensemble_race(settings, checkpoints, models)
    if plain_minutes is None:
        nmt_race(settings, checkpoints)
    else:
        plain_race(settings, plain_minutes, checkpoints)
    return points(settings)


def _row(point: Point | EnsemblePoint) -> str:
    minutes, count, bleu, together = point
    return f"{minutes:7.1f}  {count:7,}  {bleu:5.2f}  {together:8.2f}"


def _reached(point: Point | EnsemblePoint | None) -> str:
    return f"after {point.minutes:.1f} minutes" if point else "not reached"


if __name__ == "__main__":
    typer.run(main)
