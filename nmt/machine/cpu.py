"""What the CPU multiplies fast, as Linux tells it, how many cores are ours, how threads wait; without torch."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path, PurePosixPath

_CPU_INFO = Path("/proc/cpuinfo")
_OUR_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")
_FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16")
_SPINS = 30_000  # of libgomp's own 300,000


def has_amx() -> bool:
    """Whether the CPU multiplies matrices of bf16."""
    return "amx_bf16" in _words()


def features() -> list[str]:
    """What the CPU has that makes a difference here, in Linux's words."""
    return [name for name in _FEATURES if name in _words()]


def is_faster_in_bf16() -> bool:
    """Whether products of bf16 take less time than those of fp32.

    That is so with AMX, and with AVX512_BF16 on AMD's CPUs. On an Intel Xeon whose virtual machine hides AMX, training
    took 1.6 times as long in bf16 (docs/lab/performance.md).
    """
    words = _words()
    return "amx_bf16" in words or words >= {"avx512_bf16", "AuthenticAMD"}


def threads() -> int:
    """As many threads as OpenMP would take: those that OMP_NUM_THREADS says, or one for each core."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return cores()


def cores() -> int:
    """The cores that this process may use: its affinity's, or the time that a container allows, rounded up."""
    return max(1, min([_affinity(), *map(ceil, _quotas())]))


def _affinity() -> int:
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas() -> Iterator[float]:
    """The cores' worth of time that our control groups allow, and those around them.

    A line of /proc/self/cgroup is `0::/PATH` (version 2) or `4:cpu,cpuacct:/PATH` (version 1). In a container the path
    may be one of the machine outside; then the group at the top is ours.
    """
    for line in _read(_OUR_GROUPS).splitlines():
        _number, controllers, path = line.split(":", 2)
        ours = PurePosixPath(path.lstrip("/"))
        for group in [ours, *ours.parents]:
            if not controllers:
                yield from _share(*_read(_GROUPS / group / "cpu.max").split())
            elif "cpu" in controllers.split(","):
                folder = _GROUPS / "cpu" / group
                time = (
                    _read(folder / f"cpu.cfs_{each}_us").strip() for each in ("quota", "period")
                )
                yield from _share(*time)


def _share(quota: str = "max", period: str = "") -> Iterator[float]:
    """Microseconds of work in a period of so many: `200000 100000` are two cores; `max` and -1 are no limit."""
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        yield int(quota) / int(period)


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def sleep_sooner() -> None:
    """Let a thread that waits for another one sleep after a tenth of the usual time. Call it before torch is loaded.

    libgomp, the OpenMP library of torch on Linux, otherwise keeps a core busy with waiting. Beside other programs,
    training is so 2.3 times as fast; on an idle machine it makes no difference (docs/lab/performance.md). What the
    user's environment says about waiting is left as it is.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", str(_SPINS))


def keep_kernels(count: int) -> None:
    """Let oneDNN keep `count` compiled kernels, unless the environment says how many.

    It reads the number when it compiles the first. Its default of 1024 is too few: each takes a millisecond to compile.
    In training in bf16, there are six for each shape of an attention and thirty for each number of rows, 300 kB each.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(count))


def _words() -> set[str]:
    return set(_read(_CPU_INFO).split())
