from pathlib import Path

import pytest

from nmt.machine import cpu

AMD, INTEL = "vendor_id\t: AuthenticAMD\n", "vendor_id\t: GenuineIntel\n"


@pytest.mark.parametrize(
    ("told", "amx", "faster_in_bf16"),
    [
        (INTEL + "flags\t\t: fpu avx512_bf16 amx_bf16 avx512_vnni amx_tile\n", True, True),
        (INTEL + "flags\t\t: fpu avx512_bf16 avx512_vnni\n", False, False),
        (AMD + "flags\t\t: fpu avx512_bf16 avx512_vnni\n", False, True),
        (AMD + "flags\t\t: fpu avx2\n", False, False),
        (None, False, False),
    ],
)
def test_a_cpu_is_known_by_its_maker_and_flags(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: str | None,
    amx: bool,
    faster_in_bf16: bool,
) -> None:
    monkeypatch.setattr(cpu, "_CPU_INFO", tmp_path / "cpuinfo")
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    assert cpu.has_amx() is amx
    assert cpu.is_faster_in_bf16() is faster_in_bf16
