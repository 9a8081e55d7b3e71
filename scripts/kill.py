"""Kill a training again and again, with SIGKILL at random moments, and see whether anything is lost.

Trains a small model twice: once undisturbed, and once killed N times (by default 100): while it starts, between
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

from nmt.run import checkpoint
from nmt.run.folder import TRAINING, WEIGHTS, RunDir

ROOT = Path(__file__).resolve().parent.parent
SAVE_EVERY = 4  # updates
UPDATES_A_LIFE = (
    10  # the most updates between two kills, and the updates that there are for each kill
)
SETTINGS = [
    f"data.path={ROOT / 'data' / 'toy'}",
    "prepare.dev_size=20",
    "prepare.test_size=20",
    "prepare.workers=1",
    "src.lowercase=true",
    "src.vocab_size=500",
    "tgt.tokenizer=char",
    "tgt.vocab_size=500",
    "model.d_model=32",
    "model.heads=2",
    "model.d_ff=64",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.max_length=32",
    "train.device=cpu",
    "train.precision=fp32",
    "train.batch_tokens=200",
    "train.peak_lr=2e-3",
    "train.warmup=50",
    f"train.save_every={SAVE_EVERY}",
    "train.validate_every=40",
    "train.keep=3",
    "train.average=3",
    "train.log_every=1",
    "train.patience=1000",
    "search.beam_size=1",
]
UNFINISHED = ".step-*"  # the names of checkpoints that are being written
Moment = Callable[[subprocess.Popen[bytes], RunDir, Random], None]


def start(run: RunDir, updates: int) -> subprocess.Popen[bytes]:
    """Start a training in a process of its own, which writes to a log beside the run's folder."""
    command = [
        *(sys.executable, "-m", "nmt", "train"),
        *SETTINGS,
        f"train.updates={updates}",
        f"run_dir={run.path}",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log_of(run).open("ab") as log:
        return subprocess.Popen(
            command, cwd=run.path.parent, env=environment, stdout=log, stderr=log
        )


def log_of(run: RunDir) -> Path:
    """The file that a training writes its messages to."""
    return run.path.with_name(f"{run.path.name}.stderr")


def newest_update(run: RunDir) -> int:
    """The newest update that metrics.jsonl has a whole record of."""
    try:
        lines = run.metrics.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    updates = [json.loads(line)["update"] for line in lines[-3:] if line.endswith("}")]
    return max(updates, default=0)


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
    wanted = newest_update(run) + chance.randint(1, UPDATES_A_LIFE - 2)
    wait_until(lambda: newest_update(run) >= wanted, process, 60, 0.005)


def while_writing(process: subprocess.Popen[bytes], run: RunDir, chance: Random) -> None:
    """Some moment after a checkpoint was begun: its files, their syncing, the renaming, what is pruned then."""
    left_by_earlier_kills = set(run.checkpoints.glob(UNFINISHED))
    seen: set[Path] = set()
    wanted = chance.randint(1, 2)

    def has_begun() -> bool:
        seen.update(run.checkpoints.glob(UNFINISHED))
        return len(seen - left_by_earlier_kills) >= wanted

    wait_until(has_begun, process, 60, 0.001)
    time.sleep(chance.expovariate(1 / chance.choice([0.002, 0.02])))


MOMENTS: dict[str, Moment] = {
    "while starting": while_starting,
    "between updates": between_updates,
    "while writing a checkpoint": while_writing,
}
SHARES = (0.2, 0.2, 0.6)  # of the kills, for each moment


def kill_often(run: RunDir, kills: int, updates: int, chance: Random) -> None:
    """Kill the training `kills` times, and print how many times at which moment."""
    count_by_moment: Counter[str] = Counter()
    half_written = 0
    for number in range(1, kills + 1):
        moment = chance.choices(list(MOMENTS), SHARES)[0]
        process = start(run, updates)
        MOMENTS[moment](process, run, chance)
        if process.poll() is not None:
            raise SystemExit(
                f"kill: the training ended by itself, with {process.returncode}; see {log_of(run)}"
            )
        process.kill()
        process.wait()
        count_by_moment[moment] += 1
        half_written += any(run.checkpoints.glob(UNFINISHED))
        say(f"{number}: killed {moment}, at update {newest_update(run)}")
    counts = ", ".join(f"{count} {moment}" for moment, count in count_by_moment.items())
    say(f"killed {counts}; {half_written} left a checkpoint half written")


def outcome(run: RunDir) -> dict[str, Any]:
    """All that a training leaves for its user, as bytes and values, without times."""
    last = run.steps()[-1]
    progress = dict(checkpoint.read_meta(last).progress)
    del progress["seconds"]
    best = checkpoint.best(run)
    left: dict[str, Any] = {
        "progress": progress,
        "scores": None if best is None else checkpoint.read_meta(best).scores,
    }
    files = [
        last / WEIGHTS,
        last / TRAINING,
        run.best,
        *sorted(run.validation.iterdir()),
    ]
    for file in files:
        left[str(file.relative_to(run.path))] = file.read_bytes()
    return left


def compare(straight: RunDir, killed: RunDir) -> None:
    """Exit with 1 and say what differs or was left over, if anything was."""
    expected = outcome(straight)
    found = outcome(killed)
    names = sorted(expected | found)
    differing = [name for name in names if expected.get(name) != found.get(name)]
    left_over = [path.name for path in killed.path.rglob(".*") if path.name != ".lock"]
    if differing or left_over:
        raise SystemExit(
            f"kill: differs: {', '.join(differing) or 'nothing'}; "
            f"left over: {', '.join(left_over) or 'nothing'}"
        )


def finish(run: RunDir, updates: int) -> None:
    """Train to the end undisturbed."""
    if start(run, updates).wait():
        raise SystemExit(f"kill: the training failed; see {log_of(run)}")


def say(text: str) -> None:
    """Print a line to stderr at once: stdout holds only the result."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Train twice, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        train_twice(folder, options.kills, Random(options.seed))
    print(f"{options.kills} of {options.kills}")


def train_twice(folder: Path, kills: int, chance: Random) -> None:
    """Train undisturbed and killed; exit with 1 if the two differ."""
    straight = RunDir(folder / "straight")
    killed = RunDir(folder / "killed")
    updates = kills * UPDATES_A_LIFE + SAVE_EVERY
    begun = time.monotonic()
    finish(straight, updates)
    say(f"undisturbed: {updates} updates in {time.monotonic() - begun:.0f} s")
    begun = time.monotonic()
    kill_often(killed, kills, updates, chance)
    finish(killed, updates)
    say(f"killed and resumed: {time.monotonic() - begun:.0f} s")
    compare(straight, killed)


if __name__ == "__main__":
    main()
