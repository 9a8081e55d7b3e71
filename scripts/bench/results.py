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


@dataclass(frozen=True)
class Figure:
    """One number, its unit, and where there is one its ratio to a yardstick."""

    what: str
    value: float
    unit: str
    ratio: float | None = None
    beside: str = ""  # the yardstick

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def table(figures: list[Figure]) -> str:
    """The figures, one a line, in columns."""
    rows = [
        (
            f.what,
            f"{f.value:,.4g}" if f.value < 1000 else f"{f.value:,.0f}",
            f.unit,
            _shown(f.ratio),
            f.beside,
        )
        for f in figures
    ]
    rows.insert(0, ("what", "figure", "unit", "ratio", "to"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    aligned = (
        (
            row[0].ljust(widths[0]),
            row[1].rjust(widths[1]),
            row[2].ljust(widths[2]),
            row[3].rjust(widths[3]),
            row[4],
        )
        for row in rows
    )
    return "\n".join("  ".join(row).rstrip() for row in aligned)


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


Rates = dict[str, list[float]]  # of each system, one a round


def in_turns(
    systems: Mapping[str, Callable[[], float]], rounds: int, device: torch.device
) -> Rates:
    """Let each system do its work once to warm up, then in turns; gives work a second, as each one counts it."""
    rates: Rates = {name: [] for name in systems}
    for number in range(rounds + 1):
        for name, work in systems.items():
            start = time.perf_counter()
            done = work()
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            if number:
                rates[name].append(done / (time.perf_counter() - start))
    return rates


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work` gives in a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def peak_memory(process: int | str = "self") -> float:
    """The greatest memory in MB that a process has had, its children not counted; 0 if it has ended.

    Linux's own account, since getrusage and wait4 begin at what the parent had: they keep it over fork and exec.
    """
    status = Path(f"/proc/{process}/status").read_text()
    return (
        next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
        / 2**10
    )


def measured(command: list[str]) -> tuple[float, float]:
    """Run a command; gives its seconds and its greatest memory in MB, looked at every 20 ms."""
    peak, start = 0.0, time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, peak_memory(process.pid))
            time.sleep(0.02)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, peak


def ratio(rates: Rates, one: str, other: str) -> float:
    """The median, over the rounds, of the first's rate by the second's."""
    return median(a / b for a, b in zip(rates[one], rates[other], strict=True))
