#!/usr/bin/env python3
"""Compare two ways of training by what they reach in the same CPU time.

    python scripts/trial.py --run runs/trial --minutes 8
    python scripts/trial.py --run runs/trial --minutes 8 model.encoder_layers=6 model.decoder_layers=2

The learning rate follows the time, and `train.updates` only divides the schedule into its parts. So a slower update is
paid for with fewer of them, and other work on the machine hardly matters. Only the text and the vocabularies are saved.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from bench.options import TATOEBA, CurveFile, Overrides, What, settings_of
from bench.trial import trial

from nmt.errors import UserError
from nmt.files import write_json


def main(
    run: Annotated[Path, typer.Option(help="The folder for the prepared text; it may be there.")],
    overrides: Overrides = None,
    config: What = TATOEBA,
    minutes: Annotated[float, typer.Option(help="CPU time, validation left out.", min=0.01)] = 8,
    threads: Annotated[int, typer.Option(help="Threads of torch.", min=1)] = 1,
    json_file: CurveFile = None,
) -> None:
    """Train, and print the loss on dev after each quarter of the time and the scores at the end."""
    try:
        outcome = trial(settings_of(config, overrides, run), minutes, threads)
    except UserError as error:
        sys.exit(f"trial: {error}")
    print("CPU minutes  updates  target tokens   loss")
    for look in outcome.looks:
        print(f"{look.minutes:11.2f}  {look.updates:7,}  {look.tokens:13,}  {look.loss:5.3f}")
    print("dev: " + "  ".join(f"{name} {value:.2f}" for name, value in outcome.scores.items()))
    if json_file is not None:
        looks = [look._asdict() for look in outcome.looks]
        write_json(json_file, {"looks": looks, "scores": outcome.scores})


if __name__ == "__main__":
    typer.run(main)
