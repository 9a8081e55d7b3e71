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
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import IO

_BLOCK = 500  # lines that are written, and looked at, at a time
_SETTLED = 10_000  # answers after which the memory should not grow any more


def feed(
    pipe: IO[bytes], blocks: Iterator[list[bytes]], until: float, limit: int, sent: list[int]
) -> None:
    """Write blocks of lines until the time is over or `limit` lines are written; `sent` holds their number."""
    for block in blocks:
        if time.monotonic() > until or sent[0] >= limit:
            break
        pipe.write(b"".join(block))
        sent[0] += len(block)
    pipe.close()


def memory(process: int, what: str) -> int:
    """Megabytes of a process: VmRSS is what it holds, VmHWM the most that it ever held."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) // 1024


def blocks_of(lines: list[bytes]) -> Iterator[list[bytes]]:
    """The lines without end, some at a time."""
    source = itertools.cycle(lines)
    while True:
        yield list(itertools.islice(source, _BLOCK))


def main() -> None:
    """Run what the command line asks for, and print one line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="runs/toy")
    parser.add_argument("--text", type=Path, default=Path("data/toy/test.en"))
    parser.add_argument("--minutes", type=float, default=1e9, help="how long")
    parser.add_argument("--lines", type=int, default=sys.maxsize, help="how many")
    parser.add_argument("--blank", action="store_true")
    parser.add_argument("settings", nargs="*", help="such as search.method=greedy")
    asked = parser.parse_args()
    lines = (
        [b"\n"] * 999 + [b"two.\n"]
        if asked.blank
        else asked.text.read_bytes().splitlines(keepends=True)
    )

    command = [
        sys.executable,
        "-m",
        "nmt",
        "translate",
        "--quiet",
        "--model",
        asked.model,
        *asked.settings,
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdin is None or process.stdout is None:
        sys.exit("no pipes")
    sent, answered, before, most = [0], 0, 0, 0
    until = time.monotonic() + 60 * asked.minutes
    Thread(
        target=feed, args=(process.stdin, blocks_of(lines), until, asked.lines, sent), daemon=True
    ).start()
    started = time.monotonic()
    for answered, _ in enumerate(process.stdout, 1):
        if answered % _BLOCK == 0:
            now = memory(process.pid, "VmRSS")
            most = max(most, now)
            before = before if answered > _SETTLED else now
    seconds = time.monotonic() - started
    code = process.wait()
    print(
        f"{answered:,} of {sent[0]:,} lines answered in {seconds:,.0f} s: {answered / seconds:,.0f} lines/s; resident "
        f"memory {before:,} MB after {_SETTLED:,} lines, {now:,} MB at the end, {most:,} MB at most; exit code {code}"
    )
    sys.exit(0 if answered == sent[0] and code == 0 else 1)


if __name__ == "__main__":
    main()
