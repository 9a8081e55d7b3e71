"""Damage the files that nmt reads, at random, and see that each gives a right result or a line that says what is wrong.

    python scripts/fuzz.py --inputs 100000                 # every format; minutes to hours
    python scripts/fuzz.py --inputs 1000 --format store    # one of them

A traceback, a hang, more than 1 GB or a process that dies is printed with the damaged file, and the exit code is 1.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from random import Random
from types import FrameType

import torch
from fuzzing.damage import damaged
from fuzzing.formats import FORMATS

from nmt.errors import UserError

SECONDS = 20  # after which an input counts as a hang
MOST_MEMORY = 2**30  # bytes that a format's process may grow by
MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a folder there that only we can enter


class HangError(BaseException):
    """Not an Exception, so that what reads a file does not take it for a fault of the file."""


@dataclass(frozen=True)
class Outcome:
    """What became of all inputs of a format: a `crash` says why it ended early, and is "" if it did not."""

    crash: str = ""
    right: int = 0
    refused: int = 0
    peak_memory: int = 0  # bytes


def trials(name: str, inputs: int, seed: int, folder: Path) -> Iterator[bool]:
    """Damage one file and read, `inputs` times: yields True for a right result, False for a message.

    Every other error goes through to the caller.
    """
    chance = Random(f"{seed} {name}")
    form = FORMATS[name]
    targets = form.make(folder)
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    form.read(folder)  # undamaged files are read
    for _ in range(inputs):
        for path, data in whole.items():
            path.write_bytes(data)
        target = chance.choice(targets)
        target.write_bytes(damaged(whole[target], chance))
        message = None
        try:
            form.read(folder)
        except UserError as error:
            message = str(error)
        assert message != "", "an error that says nothing"
        yield message is None


def attack(name: str, inputs: int, seed: int, folder: Path, outcomes: SimpleQueue[Outcome]) -> None:
    """Run the trials of a format, in a process of its own; puts their outcome into the queue."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # sentencepiece writes its messages to stderr
    signal.signal(signal.SIGALRM, raise_hang)
    right = 0
    before = peak_memory()
    try:
        for is_right in trials(name, inputs, seed, folder):
            right += is_right
            signal.alarm(SECONDS)
            assert peak_memory() - before < MOST_MEMORY, "more than 1 GB"
    except BaseException as error:
        outcomes.put(Outcome(crash=f"{type(error).__name__}: {error}"[:500]))
    else:
        outcomes.put(Outcome("", right, inputs - right, peak_memory()))


def raise_hang(_signal: int, _frame: FrameType | None) -> None:
    """Called by the alarm."""
    raise HangError(f"more than {SECONDS} seconds")


def peak_memory() -> int:
    """The most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(name: str, inputs: int, seed: int) -> bool:
    """Print one row of the table; returns whether all went well."""
    parent = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="nmt-fuzz-", dir=parent))
    outcome = attack_alone(name, inputs, seed, folder)
    if outcome.crash:
        print(f"{name:<14} | CRASH: {outcome.crash}; the files as they were: {folder}", flush=True)
        return False
    shutil.rmtree(folder)
    megabytes = outcome.peak_memory // 2**20
    print(
        f"{name:<14} | {inputs:>7,} | {outcome.right:>7,} | {outcome.refused:>7,} | "
        f"{megabytes:>5,} MB",
        flush=True,
    )
    return True


def attack_alone(name: str, inputs: int, seed: int, folder: Path) -> Outcome:
    """Run `attack` in a process of its own, which may die."""
    context = multiprocessing.get_context("spawn")
    outcomes: SimpleQueue[Outcome] = context.SimpleQueue()
    process = context.Process(target=attack, args=(name, inputs, seed, folder, outcomes))
    process.start()
    process.join()
    if outcomes.empty():
        return Outcome(crash=f"the process ended with {process.exitcode}")
    return outcomes.get()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=1000, help="of each format")
    parser.add_argument("--format", action="append", choices=FORMATS, help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("format         |  inputs |   right | refused | peak memory")
    is_sound = [fuzz(name, options.inputs, options.seed) for name in options.format or FORMATS]
    sys.exit(0 if all(is_sound) else 1)


if __name__ == "__main__":
    main()
