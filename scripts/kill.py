"""Kill a training again and again, with SIGKILL at random moments, and see whether anything is lost.

Trains a small model twice: once undisturbed, and once killed N times (100 unless told): while it starts, between
updates, and above all while it writes a checkpoint. Then compares parameters, optimizer state, the best checkpoint and
the course of the scores. Prints `N of N` and exits with 0 if they are equal bit for bit, else with 1.

    python scripts/kill.py [--kills N] [--seed SEED] [--folder DIR]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from nmt import checkpoint
from nmt.run_dir import RunDir

ROOT = Path(__file__).resolve().parent.parent
SAVE_EVERY = 4
UPDATES_A_LIFE = (
    10  # so many at the most between two kills, and so many updates there are for each kill
)
SETTINGS = [
    f"data.path={ROOT / 'data' / 'toy'}",
    *(
        "prepare.workers=1",
        "src.vocab_size=500",
        "tgt.vocab_size=500",
        "tgt.tokenizer=char",
        "src.lowercase=true",
    ),
    *(
        "model.d_model=32",
        "model.heads=2",
        "model.d_ff=64",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
    ),
    *("model.max_length=32", "train.batch_tokens=200", "train.peak_lr=2e-3", "train.warmup=50"),
    *(
        "train.device=cpu",
        "train.precision=fp32",
        f"train.save_every={SAVE_EVERY}",
        "train.validate_every=40",
    ),
    *(
        "train.keep=3",
        "train.average=3",
        "train.log_every=1",
        "train.patience=1000",
        "search.beam_size=1",
    ),
    *("prepare.dev_size=20", "prepare.test_size=20"),
]
Moment = Callable[[subprocess.Popen[bytes], RunDir, Random], None]


def start(run: RunDir, updates: int) -> subprocess.Popen[bytes]:
    """A training of its own process, in the folder of the run's parent."""
    command = [
        sys.executable,
        "-m",
        "nmt",
        "train",
        *SETTINGS,
        f"train.updates={updates}",
        f"run_dir={run.path}",
    ]
    log = (run.path.parent / f"{run.path.name}.stderr").open("ab")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with log:
        return subprocess.Popen(
            command, cwd=run.path.parent, env=environment, stdout=log, stderr=log
        )


def reached(run: RunDir) -> int:
    """The newest update that metrics.jsonl tells of."""
    try:
        lines = run.metrics.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return max((json.loads(line)["update"] for line in lines[-3:] if line.endswith("}")), default=0)


def wait_until(
    condition: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float, pause: float
) -> None:
    """Sleep until the condition holds, the process ends or the time is up."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end and not condition():
        time.sleep(pause)


def while_starting(process: subprocess.Popen[bytes], _run: RunDir, chance: Random) -> None:
    """Some moment of the first seconds: imports, the stages, reading a checkpoint."""
    wait_until(lambda: False, process, chance.uniform(0, 4), 0.02)


def between_updates(process: subprocess.Popen[bytes], run: RunDir, chance: Random) -> None:
    """After some updates."""
    wanted = reached(run) + chance.randint(1, UPDATES_A_LIFE - 2)
    wait_until(lambda: reached(run) >= wanted, process, 60, 0.005)


def while_writing(process: subprocess.Popen[bytes], run: RunDir, chance: Random) -> None:
    """Some moment after a checkpoint was begun: its files, their syncing, the renaming, what is pruned then."""
    before = set(run.checkpoints.glob(".step-*"))  # that an earlier kill left
    seen: set[Path] = set()

    def begun() -> int:
        seen.update(set(run.checkpoints.glob(".step-*")) - before)
        return len(seen)

    wanted = chance.randint(1, 2)
    wait_until(lambda: begun() >= wanted, process, 60, 0.001)
    time.sleep(chance.expovariate(1 / chance.choice([0.002, 0.02])))


MOMENTS: dict[str, Moment] = {
    "while starting": while_starting,
    "between updates": between_updates,
    "while writing a checkpoint": while_writing,
}
SHARES = (0.2, 0.2, 0.6)


def kill_often(run: RunDir, kills: int, updates: int, chance: Random) -> None:
    """Kill the training so many times, and tell how many times at which moment."""
    done: Counter[str] = Counter()
    half_written = 0
    while done.total() < kills:
        moment = chance.choices(list(MOMENTS), SHARES)[0]
        process = start(run, updates)
        MOMENTS[moment](process, run, chance)
        if process.poll() is not None:
            raise SystemExit(
                f"kill: the training ended by itself, with {process.returncode}; see {run.path}.stderr"
            )
        process.kill()
        process.wait()
        done[moment] += 1
        half_written += any(run.checkpoints.glob(".step-*"))
        print(
            f"{done.total()}: killed {moment}, at update {reached(run)}",
            file=sys.stderr,
            flush=True,
        )
    told = ", ".join(f"{count} {moment}" for moment, count in done.items())
    print(f"killed {told}; {half_written} left a checkpoint half written", file=sys.stderr)


def outcome(run: RunDir) -> dict[str, Any]:
    """All that a training leaves for its user, as bytes and values, without times."""
    last = run.steps()[-1]
    progress = dict(checkpoint.read_meta(last).progress)
    del progress["seconds"]
    files = [
        last / checkpoint.WEIGHTS,
        last / checkpoint.TRAINING,
        run.best,
        *sorted(run.validation.iterdir()),
    ]
    marked = checkpoint.best(run)
    scores = None if marked is None else checkpoint.read_meta(marked).scores
    return {"progress": progress, "scores": scores} | {
        str(f.relative_to(run.path)): f.read_bytes() for f in files
    }


def finish(run: RunDir, updates: int) -> float:
    """Train to the end undisturbed; gives the seconds it took."""
    begun = time.monotonic()
    if start(run, updates).wait():
        raise SystemExit(f"kill: the training failed; see {run.path}.stderr")
    return time.monotonic() - begun


def main() -> None:
    """Train twice, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder unless told")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        straight, killed = RunDir(folder / "straight"), RunDir(folder / "killed")
        updates = options.kills * UPDATES_A_LIFE + SAVE_EVERY
        print(
            f"undisturbed: {updates} updates in {finish(straight, updates):.0f} s",
            file=sys.stderr,
            flush=True,
        )
        begun = time.monotonic()
        kill_often(killed, options.kills, updates, Random(options.seed))
        finish(killed, updates)
        print(f"killed and resumed: {time.monotonic() - begun:.0f} s", file=sys.stderr)
        compare(straight, killed)
    print(f"{options.kills} of {options.kills}")


def compare(straight: RunDir, killed: RunDir) -> None:
    """Exit with 1, telling what differs or was left over, if anything was."""
    one, other = outcome(straight), outcome(killed)
    differing = [name for name in sorted(one | other) if one.get(name) != other.get(name)]
    left = [path.name for path in killed.path.rglob(".*") if path.name != ".lock"]
    if differing or left:
        raise SystemExit(
            f"kill: differs: {', '.join(differing) or 'nothing'}; left over: {', '.join(left) or 'nothing'}"
        )


if __name__ == "__main__":
    main()
