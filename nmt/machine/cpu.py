"""What the CPU multiplies fast, as Linux tells it, and how threads wait for each other; without torch."""

import os
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")
_SPINS = 30_000  # of libgomp's own 300,000


def has_amx() -> bool:
    """Whether the CPU multiplies matrices of bf16."""
    return "amx_bf16" in _words()


def is_faster_in_bf16() -> bool:
    """Whether products of bf16 take less time than those of fp32.

    That is so with AMX, and with AVX512_BF16 on AMD's CPUs. On an Intel Xeon whose virtual machine hides AMX, training
    took 1.6 times as long in bf16 (docs/performance.md).
    """
    words = _words()
    return "amx_bf16" in words or words >= {"avx512_bf16", "AuthenticAMD"}


def sleep_sooner() -> None:
    """Let a thread that waits for another one sleep after a tenth of the usual time. Call it before torch is loaded.

    libgomp, the OpenMP library of torch on Linux, otherwise keeps a core busy with waiting. Beside other programs,
    training is so 2.3 times as fast; on an idle machine it makes no difference (docs/performance.md). What the user's
    environment says about waiting is left as it is.
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
    try:
        return set(_CPU_INFO.read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return set()
