"""Train a run that is prepared and encoded for so many minutes, and export what comes of it.

    python configs/pretrained/train_for.py runs/box 10 out

Four fifths of the time go into updates at the full learning rate, one fifth into the cooldown: so the schedule fits
the machine, whatever it can do. The run needs no corpora any more: `store`, vocabularies, sentencepiece models, its
reports, `config.yaml` and the text of dev are enough. The model is exported in int8 into `out/model`, and into parts of
15 MB beside it, which `cat out/model.tar.*` joins. Started again, it goes on from the last checkpoint for as many
minutes more.
"""

import argparse
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.errors import UserError, print_nothing
from nmt.exchange.exporters.exports import TARGETS, export_run
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.distributed import world
from nmt.train.loop import Trainer
from nmt.train.progress import Progress

_STABLE = 0.8  # of the time
_NEVER = 10**9  # updates
_PART = 15 * 2**20  # bytes


def train_for(folder: Path, minutes: float) -> Progress:
    """Train at the full rate, then as many updates again as make a fifth of all."""
    run = RunDir(folder)
    config = load_config(run.config, [f"run_dir={folder}"])
    stable = _minutes_trained(run) + _STABLE * minutes
    reached = _trained(config, run, updates=_NEVER, cooldown=None, max_minutes=stable)
    updates = round(reached.update / _STABLE)
    return _trained(config, run, updates=updates, cooldown=updates - reached.update)


def _minutes_trained(run: RunDir) -> float:
    """How long the run has been trained before."""
    if not run.steps():
        return 0.0
    return Progress.from_json(checkpoint.read_meta(run.steps()[-1]).progress).seconds / 60


def _trained(config: Config, run: RunDir, **course: object) -> Progress:
    given = {"max_minutes": None, "validate_every": _NEVER, **course}
    train = config.train.model_copy(update=given)
    with world(train.device) as here:
        return Trainer(config.model_copy(update={"train": train}), run, here).train()


def export(folder: Path, out: Path) -> None:
    """The model in int8, whole and in parts."""
    run = RunDir(folder)
    config = load_config(run.config, [])
    export_run(TARGETS["nmt"], config, run, out / "model", "int8", True, print, print_nothing)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(out / "model", "model")
    content = packed.getvalue()
    for number, start in enumerate(range(0, len(content), _PART)):
        (out / f"model.tar.{number}").write_bytes(content[start : start + _PART])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the run")
    parser.add_argument("minutes", type=float, help="how long to train")
    parser.add_argument("out", type=Path, help="where the model goes")
    asked = parser.parse_args()
    try:
        train_for(asked.run, asked.minutes)
        export(asked.run, asked.out)
    except UserError as error:
        sys.exit(f"train_for: {error}")


if __name__ == "__main__":
    main()
