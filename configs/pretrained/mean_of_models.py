#!/usr/bin/env python3
"""The mean of a model and of one that was trained on from it, as the best checkpoint of the second one's run.

    python configs/pretrained/mean_of_models.py runs/pretrained runs/pretrained-2 0.6   0.6 of the second one's weights

What the second training learned stays for the most part, and so does what it would have forgotten (Wortsman et al.,
2022, "Robust fine-tuning of zero-shot models").
"""

import argparse
from pathlib import Path

from nmt.errors import UserError
from nmt.run import checkpoint
from nmt.run.folder import RunDir


def best_of(folder: Path) -> Path:
    """The best checkpoint of a run. Raises UserError if it has none."""
    found = checkpoint.best(RunDir(folder))
    if found is None:
        raise UserError(f"{folder}: no checkpoint; run nmt train first")
    return found


def last_of(run: RunDir) -> Path:
    """The last checkpoint of a training; the best may be a mean already. Raises UserError if there is none."""
    steps = run.steps()
    if not steps:
        raise UserError(f"{run.path}: no checkpoint of a training; run nmt train first")
    return steps[-1]


def mean(first: Path, second: Path, share: float) -> checkpoint.Weights:
    """The mean of the weights of two checkpoints; `share` is that of the second one, from 0 to 1."""
    old, new = map(checkpoint.load_weights, (first, second))
    misfits = [key for key in old.keys() | new.keys() if key not in old or key not in new]
    misfits += [key for key in old.keys() & new.keys() if old[key].shape != new[key].shape]
    if misfits:
        raise UserError(
            f"{second}: {misfits[0]} is another than in {first}; name the run that it started from"
        )
    return {key: old[key].float().lerp(new[key].float(), share) for key in new}


def write(first: Path, run: RunDir, share: float) -> Path:
    """Write the checkpoint and mark it as the best."""
    newest = last_of(run)
    told = checkpoint.read_meta(newest)
    meta = checkpoint.Meta(told.update, told.fingerprints, provenance=told.provenance)
    weights = mean(best_of(first), newest, share)
    folder = checkpoint.save(run, checkpoint.average_name(told.update), weights, meta)
    checkpoint.mark_best(run, folder)
    return folder


def main() -> None:
    """Write one checkpoint."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("first", type=Path, help="the run that the second one started from")
    parser.add_argument("second", type=Path, help="the run that gets the checkpoint")
    parser.add_argument("share", type=float, help="of the second one's weights, from 0 to 1")
    asked = parser.parse_args()
    if not 0 <= asked.share <= 1:
        parser.error(f"share {asked.share}: must be from 0 to 1")
    try:
        print(write(asked.first, RunDir(asked.second), asked.share))
    except UserError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
