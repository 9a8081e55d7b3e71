"""What is said while others have the cluster's CPUs."""

from types import SimpleNamespace
from typing import Any

import pytest

from nmt.jobs import waiting
from nmt.jobs.ray_chunks import chunks_on
from nmt.jobs.waiting import Waiting


class BusyRay:
    """A Ray whose tasks come after some looks at them."""

    exceptions = SimpleNamespace(RayError=ZeroDivisionError, RayTaskError=ZeroDivisionError)

    def __init__(self, looks: int, **free: float) -> None:
        self._looks = looks
        self._free = free

    def available_resources(self) -> dict[str, float]:
        return self._free

    def put(self, value: Any) -> Any:
        return value

    def get(self, value: Any) -> Any:
        return value

    def wait(self, references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        assert timeout < 60
        self._looks -= 1
        return ([], references) if self._looks >= 0 else (references, [])

    def remote(self, **_: object) -> Any:
        return lambda function: SimpleNamespace(remote=function)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock on which ten seconds pass between two looks."""
    seconds = iter(range(0, 10_000, 10))
    stand_in = SimpleNamespace(monotonic=lambda: next(seconds))
    monkeypatch.setattr(waiting, "time", stand_in)


@pytest.mark.usefixtures("clock")
def test_the_first_line_comes_after_half_a_minute_and_another_each_minute() -> None:
    lines: list[str] = []
    wait = Waiting(BusyRay(0, CPU=1.0, GPU=2.0), lines.append)
    told_at = []
    for look in range(17):
        before = len(lines)
        wait.goes_on("2 workers")
        if len(lines) > before:
            told_at.append(10 * look)
    assert told_at == [30, 90, 150]
    assert lines[0] == "waiting for 2 workers; the cluster has 1 CPU and 2 GPUs free"
    wait.ends()
    wait.goes_on("2 workers")
    assert len(lines) == 3


@pytest.mark.usefixtures("clock")
def test_prepare_says_that_the_cluster_is_busy() -> None:
    lines: list[str] = []
    cluster: Any = SimpleNamespace(ray=BusyRay(8), nodes=list)
    in_chunks = chunks_on(cluster, lines.append)
    assert list(in_chunks(sum, [1, 2, 3], 0, lambda _: 1)) == [6]
    line = "nmt: waiting for a chunk, which takes 1 CPU; the cluster has 0 CPUs free"
    assert lines == [line]
