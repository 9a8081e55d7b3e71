"""Translate with a run, again and again, while it is trained and saves after every update; see whether a call fails.

Calls `nmt translate`, and every tenth time `nmt evaluate`, in this process, so that they are many; every fiftieth call
is a process of its own. Prints the counts; exits with 0 if no call failed, else with 1.

    python scripts/beside.py [--seconds 150]
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kill import SETTINGS

from nmt.cli import app
from nmt.run import checkpoint
from nmt.run.folder import RunDir

_OFTEN = [
    "train.save_every=1",
    "train.validate_every=2",
    "train.keep=1",
    "train.average=0",
    "train.patience=1000000",
    "train.updates=1000000",
]
_OF_ITS_OWN = 7  # each so many-th call is a process
_EVALUATE = 10  # and each so many-th call scores


def start_training(run: RunDir) -> subprocess.Popen[bytes]:
    """Start a training; gives it when it has a best checkpoint."""
    command = [sys.executable, "-m", "nmt", "train", *SETTINGS, *_OFTEN, f"run_dir={run.path}"]
    process = subprocess.Popen(
        command,
        cwd=run.path.parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while checkpoint.best(run) is None:
        if process.poll() is not None:
            raise SystemExit(f"beside: the training ended by itself, with {process.returncode}")
        time.sleep(0.1)
    return process


def call(arguments: list[str], own_process: bool) -> tuple[int, str]:
    """The exit code of `nmt` with these arguments, and what it said on stderr."""
    if own_process:
        command = [sys.executable, "-m", "nmt", *arguments]
        done = subprocess.run(command, stdin=sys.stdin, capture_output=True, check=False)
        return done.returncode, done.stderr.decode()
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            app(arguments)
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
    return 0, said.getvalue()


def hammer(run: RunDir, text: Path, seconds: float) -> Counter[str]:
    """Call until the time is up; gives how many calls of each kind there were, and what the failed ones said."""
    translate = ["translate", "-m", str(run.path), "--precision", "fp32", "--device", "cpu"]
    evaluate = ["evaluate", *translate[1:], "--src", str(text), "--ref", str(text)]
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        number = counts.total()
        with text.open("rb") as source:
            os.dup2(source.fileno(), sys.stdin.fileno())
        arguments = evaluate if number % _EVALUATE == 0 else translate
        code, said = call(arguments, number % _OF_ITS_OWN == 0)
        warned = [line for line in said.splitlines() if "checkpoint" in line and "warning" in line]
        if code or warned:
            print(f"{arguments[0]}: {code}: {said}", file=sys.stderr)
        counts[f"{arguments[0]} {'failed' if code else 'warned' if warned else 'passed'}"] += 1
    return counts


def main() -> None:
    """Train in the background, call, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = RunDir(Path(folder) / "run")
        text = Path(folder) / "text"
        text.write_text("two cats.\n", encoding="utf-8")
        process = start_training(run)
        try:
            counts = hammer(run, text, options.seconds)
            is_at_work = process.poll() is None
        finally:
            process.kill()
            process.wait()
        updates = checkpoint.read_meta(run.steps()[-1]).update
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    print(f"{counts.total():,} calls: {kinds}; {updates:,} checkpoints saved meanwhile")
    is_good = is_at_work and all(kind.endswith("passed") for kind in counts)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
