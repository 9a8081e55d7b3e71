"""Pipe lines through `nmt translate` for a while: how many a second, and whether its memory stays what it was.

    python scripts/load.py --model runs/toy --minutes 10             # the lines of a text, again and again
    python scripts/load.py --model runs/toy --lines 10000000 --blank # blank lines, one in a thousand a short one

It counts the answers: as many lines out as went in, or the exit code is 1.
"""

import argparse
import itertools
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

_BLOCK = 500  # lines; memory is looked at after as many answers
_SETTLED = 10_000  # answers after which the memory should not grow any more
_BLANK = [b"\n"] * 999 + [b"two.\n"]


@dataclass
class Feeder:
    """Writes lines into a pipe, again and again, until `seconds` are over or `most_lines` are written."""

    lines: list[bytes]
    seconds: float
    most_lines: int
    sent: int = 0  # lines so far

    def feed(self, pipe: IO[bytes]) -> None:
        """Write, a block at a time, and close the pipe."""
        end = time.monotonic() + self.seconds
        source = itertools.cycle(self.lines)
        while time.monotonic() <= end and self.sent < self.most_lines:
            pipe.write(b"".join(itertools.islice(source, _BLOCK)))
            self.sent += _BLOCK
        pipe.close()


@dataclass
class Watcher:
    """Counts the answers of a process, and looks at its memory (megabytes) meanwhile."""

    answered: int = 0
    settled: int = 0
    last: int = 0
    most: int = 0

    def watch(self, process: int, answers: IO[bytes]) -> None:
        """Read all answers."""
        for _ in answers:
            self.answered += 1
            if self.answered % _BLOCK == 0:
                self.last = resident_memory(process)
                self.most = max(self.most, self.last)
                if self.answered <= _SETTLED:
                    self.settled = self.last


def resident_memory(process: int) -> int:
    """Megabytes that a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    _, _, after = status.partition("VmRSS:")
    kilobytes = int(after.split()[0])
    return kilobytes // 1024


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="runs/toy")
    parser.add_argument("--text", type=Path, default=Path("data/toy/test.en"))
    parser.add_argument("--minutes", type=float, default=1e9, help="how long")
    parser.add_argument("--lines", type=int, default=sys.maxsize, help="how many")
    parser.add_argument("--blank", action="store_true")
    parser.add_argument("settings", nargs="*", help="such as search.method=greedy")
    return parser.parse_args()


def main() -> None:
    """Run what the command line asks for, and print one line."""
    options = parse_arguments()
    lines = _BLANK if options.blank else options.text.read_bytes().splitlines(keepends=True)
    feeder = Feeder(lines, 60 * options.minutes, options.lines)
    watcher = Watcher()

    command = [sys.executable, "-m", "nmt", "translate", "--quiet", "--model", options.model]
    process = subprocess.Popen(
        [*command, *options.settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    if process.stdin is None or process.stdout is None:
        sys.exit("no pipes")
    started = time.monotonic()
    Thread(target=feeder.feed, args=(process.stdin,), daemon=True).start()
    watcher.watch(process.pid, process.stdout)
    seconds = time.monotonic() - started
    code = process.wait()

    print(
        f"{watcher.answered:,} of {feeder.sent:,} lines answered in {seconds:,.0f} s: "
        f"{watcher.answered / seconds:,.0f} lines/s; "
        f"resident memory {watcher.settled:,} MB after {_SETTLED:,} lines, "
        f"{watcher.last:,} MB at the end, {watcher.most:,} MB at most; exit code {code}"
    )
    sys.exit(0 if watcher.answered == feeder.sent and code == 0 else 1)


if __name__ == "__main__":
    main()
