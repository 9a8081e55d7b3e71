#!/usr/bin/env python3
"""How many minutes of training it takes until the test set has a certain BLEU.

    python scripts/speedrun.py --run runs/speed                        configs/tatoeba.yaml as it is
    python scripts/speedrun.py --run runs/shallow train.updates=3000 model.decoder_layers=2
    python scripts/speedrun.py --run runs/plain --plain --minutes 40   a plain PyTorch loop on the same batches

The minutes are those of the whole loop, from the making of the model on, with checkpoints, without validation. Each
checkpoint translates the test sentences with beam search, by itself and averaged with those before it. Both kinds of
training are measured alike: the plain loop's weights become checkpoints of nmt.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from bench.options import TATOEBA, CurveFile, Overrides, What, settings_of
from bench.race import Point, first_over, nmt_race, plain_race, points

from nmt.errors import UserError
from nmt.files import write_json


def main(
    run: Annotated[Path, typer.Option(help="A new folder for the training.")],
    overrides: Overrides = None,
    config: What = TATOEBA,
    goal: Annotated[list[float] | None, typer.Option(help="A BLEU to reach; repeatable.")] = None,
    checkpoints: Annotated[int, typer.Option(help="How often to look at the BLEU.")] = 12,
    plain: Annotated[bool, typer.Option("--plain", help="Train with a plain loop.")] = False,
    minutes: Annotated[float, typer.Option(help="How long the plain loop trains.")] = 40,
    json_file: CurveFile = None,
) -> None:
    """Train, score every checkpoint, and print the curve."""
    try:
        settings = settings_of(config, overrides, run)
        if plain:
            plain_race(settings, minutes, checkpoints)
        else:
            nmt_race(settings, checkpoints)
    except UserError as error:
        sys.exit(f"speedrun: {error}")
    curve = []
    print("minutes  updates   BLEU  averaged")
    for point in points(settings):
        curve.append(point)
        print(_row(point), flush=True)
    for bleu in goal or [33.2, 38.1, 41.0]:
        print(f"BLEU {bleu}: {_reached(first_over(bleu, curve))}")
    if json_file is not None:
        write_json(json_file, [point._asdict() for point in curve])


def _row(point: Point) -> str:
    return f"{point.minutes:7.1f}  {point.update:7,}  {point.bleu:5.2f}  {point.averaged:8.2f}"


def _reached(point: Point | None) -> str:
    return f"after {point.minutes:.1f} minutes" if point else "not reached"


if __name__ == "__main__":
    typer.run(main)
