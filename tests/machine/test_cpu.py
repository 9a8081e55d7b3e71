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


V1 = "5:devices:/\n4:cpu,cpuacct:/outside/ours\n3:cpuset:/\n"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "1000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "9900000 100000\n"}, 8),
        ("0::/\n", {"cpu.max": ""}, 8),
        ("0::/\n", {}, 8),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "50000 50000\n"}, 1),
        (V1, {"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        (V1, {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        (
            V1,
            {
                "cpu/outside/ours/cpu.cfs_quota_us": "400000\n",
                "cpu/outside/ours/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        ("3:cpuset:/\n", {"cpu/cpu.cfs_quota_us": "1\n", "cpu/cpu.cfs_period_us": "1\n"}, 8),
        (None, {"cpu.max": "200000 100000\n"}, 8),
    ],
)
def test_cores_are_those_of_the_machine_that_the_control_group_allows(
    groups: str | None,
    files: dict[str, str],
    expected: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in files.items():
        path = tmp_path / "fs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if groups is not None:
        (tmp_path / "cgroup").write_text(groups)
    monkeypatch.setattr(cpu, "_GROUPS", tmp_path / "fs")
    monkeypatch.setattr(cpu, "_OUR_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(cpu, "_affinity", lambda: 8)
    assert cpu.cores() == expected


@pytest.mark.parametrize(
    ("asked", "expected"), [("3", 3), ("0", 8), ("", 8), ("4,2", 8), (None, 8)]
)
def test_threads_are_as_many_as_the_environment_says_or_the_cores(
    asked: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert cpu.threads() == expected
