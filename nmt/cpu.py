"""What the CPU multiplies fast, as Linux tells it; without torch."""

from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


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


def _words() -> set[str]:
    try:
        return set(_CPU_INFO.read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return set()
