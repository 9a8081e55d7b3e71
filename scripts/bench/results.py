"""What a benchmark takes and gives."""

import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import torch


@dataclass(frozen=True)
class Settings:
    """What the command line says."""

    device: torch.device
    data: Path | None
    model: Path | None
    rounds: int
    tiny: bool
    pairs: list[int]  # sizes of the text to prepare; none: three small ones


@dataclass(frozen=True)
class Figure:
    """One number, its unit, and if there is one its ratio to a yardstick."""

    what: str
    value: float
    unit: str
    ratio: float | None = None
    beside: str = ""  # the yardstick

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def as_row(self) -> list[str]:
        """The cells of one line of the table."""
        value = f"{self.value:,.4g}" if self.value < 1000 else f"{self.value:,.0f}"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.what, value, self.unit, ratio, self.beside]


def table(figures: list[Figure]) -> str:
    """The figures, one a line, in columns."""
    heading = ["what", "figure", "unit", "ratio", "to"]
    rows = [heading] + [figure.as_row() for figure in figures]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for what, value, unit, ratio, beside in rows:
        cells = [
            what.ljust(widths[0]),
            value.rjust(widths[1]),
            unit.ljust(widths[2]),
            ratio.rjust(widths[3]),
            beside,
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Rates(dict[str, list[float]]):
    """Work a second of each system, one a round."""

    def ratio(self, one: str, other: str) -> float:
        """The median, over the rounds, of the first's rate by the second's."""
        return median(a / b for a, b in zip(self[one], self[other], strict=True))


def in_turns(
    systems: Mapping[str, Callable[[], float]], rounds: int, device: torch.device
) -> Rates:
    """Let each system do its work once to warm up, then in turns; gives work a second, as each one counts it."""
    rates = Rates({name: [] for name in systems})
    for number in range(rounds + 1):
        for name, work in systems.items():
            start = time.perf_counter()
            done = work()
            synchronize(device)
            if number > 0:
                rates[name].append(done / (time.perf_counter() - start))
    return rates


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done what it was asked for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def in_own_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work` gives in a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def peak_memory(process: int | str = "self") -> float:
    """The greatest memory in MB that a process has had, its children not counted; 0 if it has ended.

    Linux's own account, since getrusage and wait4 begin at what the parent had: they keep it over fork and exec.
    """
    status = Path(f"/proc/{process}/status").read_text()
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            kilobytes = int(line.split()[1])
            return kilobytes / 2**10
    return 0.0


def run_measured(command: list[str]) -> tuple[float, float]:
    """Run a command; gives its seconds and its greatest memory in MB, looked at every 20 ms."""
    peak = 0.0
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, peak_memory(process.pid))
            time.sleep(0.02)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, peak
