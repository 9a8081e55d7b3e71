"""Let many clients ask `nmt serve` for a while: how many sentences a second, how long each waits, and what it holds.

    python scripts/load_server.py --clients 50 --minutes 10 --text news.en
    python scripts/load_server.py --idle 1000 --minutes 1 --text news.en   # beside connections that say nothing

Each request begins with a number of its own, which its answer has to have. Beside it, `nmt translate` translates the
same lines from a file, one run before and one after. The exit code is 1 if an answer is lost or belongs to another.
"""

import argparse
import asyncio
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from load import resident_memory

NMT = [sys.executable, "-m", "nmt"]
_FIRST = 10_000_000  # the first number: long enough to come through byte for byte
_FILE_LINES = 1500
_SETTLED = 60.0  # seconds after which memory should not grow any more


@dataclass
class Found:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)  # of each answer
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass
class Memory:
    """Megabytes of a process over time."""

    process: int
    settled: int = 0
    last: int = 0
    most: int = 0

    async def watch(self) -> None:
        """Look at it each second."""
        for second in itertools.count():
            self.last = resident_memory(self.process)
            self.most = max(self.most, self.last)
            if second <= _SETTLED:
                self.settled = self.last
            await asyncio.sleep(1)


def line_of(number: int, lines: list[str]) -> str:
    """The text of a request."""
    return f"{number}: {lines[number % len(lines)]}"


async def ask(
    client: httpx2.AsyncClient, numbers: Iterator[int], lines: list[str], end: float, found: Found
) -> None:
    """Ask, one text after the other, until the time is over."""
    while time.monotonic() < end:
        number = next(numbers)
        begun = time.monotonic()
        fields = {"q": line_of(number, lines), "source": "en", "target": "zh"}
        try:
            answer = await client.post("/translate", json=fields, timeout=120)
        except httpx2.HTTPError as error:
            found.lost.append(f"{number}: {error!r}")
            continue
        found.seconds.append(time.monotonic() - begun)
        text = answer.json().get("translatedText", "")
        of_requests = [each for each in re.findall(r"\d{8}", text) if int(each) >= _FIRST]
        if answer.status_code != 200 or str(number) not in of_requests:
            found.wrong.append(f"{answer.status_code} {number}: {answer.text[:200]}")


async def load(url: str, process: int, asked: argparse.Namespace, lines: list[str]) -> bool:
    """Ask a running server, and print what was seen; whether nothing was wrong."""
    port = int(url.rpartition(":")[2])
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(asked.idle)]
    memory, found, numbers = Memory(process), Found(), itertools.count(_FIRST)
    begun = time.monotonic()
    limits = httpx2.Limits(max_connections=asked.clients)
    async with httpx2.AsyncClient(base_url=url, limits=limits) as client:
        watching = asyncio.create_task(memory.watch())
        end = begun + 60 * asked.minutes
        await asyncio.gather(
            *(ask(client, numbers, lines, end, found) for _ in range(asked.clients))
        )
        watching.cancel()
    rate = len(found.seconds) / (time.monotonic() - begun)
    waits = sorted(found.seconds)
    middle, late = (waits[int(len(waits) * share)] for share in (0.5, 0.95))
    print(f"{len(waits):,} answers to {asked.clients} clients, {asked.idle} idle connections")
    print(f"{rate:.1f} sentences a second; p50 {middle:.2f} s, p95 {late:.2f} s")
    print(
        f"memory {memory.settled} MB after a minute, {memory.last} at the end, {memory.most} most"
    )
    problems = found.lost[:5] + found.wrong[:5]
    print(f"{len(found.lost)} lost, {len(found.wrong)} wrong", *problems, sep="\n")
    for _, writer in idle:
        writer.close()
    return not found.lost and not found.wrong


def from_a_file(model: list[str], lines: list[str]) -> float:
    """Sentences a second of `nmt translate`, start included."""
    numbers = range(_FIRST, _FIRST + _FILE_LINES)
    text = "".join(f"{line_of(number, lines)}\n" for number in numbers)
    begun = time.monotonic()
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        subprocess.run(
            [*NMT, "translate", "--quiet", *model],
            stdin=file,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return _FILE_LINES / (time.monotonic() - begun)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--idle", type=int, default=0, help="connections that say nothing")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--text", type=Path, required=True, help="lines of English")
    parser.add_argument("--model", help="a run; default: the one that nmt translate takes")
    asked = parser.parse_args()
    lines = asked.text.read_text(encoding="utf-8").splitlines()
    model = ["--model", asked.model] if asked.model else []
    before = from_a_file(model, lines)
    command = [*NMT, "serve", "--port", "0", *model]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None  # noqa: S101 - it is a pipe
        said = next((line for line in server.stderr if "listening at" in line), None)
        if said is None:
            raise SystemExit("the server does not start")
        url = said.split("listening at ")[1].split(";")[0]
        drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        try:
            is_right = asyncio.run(load(url, server.pid, asked, lines))
        finally:
            server.terminate()
            drain.wait()
    after = from_a_file(model, lines)
    print(f"a file: {before:.1f} and {after:.1f} sentences a second, start included")
    raise SystemExit(0 if is_right else 1)


if __name__ == "__main__":
    main()
