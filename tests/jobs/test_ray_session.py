"""What is told when Ray itself goes, and while others have the cluster's CPUs."""

from types import SimpleNamespace
from typing import Any

import pytest

from nmt.errors import UserError
from nmt.jobs import ray_session
from nmt.jobs.ray_chunks import chunks_on
from nmt.jobs.ray_session import Waiting, _naming_the_lost_cluster


class Lost(Exception):
    """What Ray raises."""


class Bug(Lost):
    """What Ray raises where a function of ours raised."""


RAY: Any = SimpleNamespace(exceptions=SimpleNamespace(RayError=Lost, RayTaskError=Bug))


def raise_in(module: str, error: Exception) -> None:
    """Raise an error as code of a module does."""
    raised_by = {"__name__": module, "error": error}
    exec("raise error", raised_by)  # noqa: S102 - a frame of that module cannot be made otherwise


@pytest.mark.parametrize("error", [Lost("first\nthe cause"), OSError("the cause")])
def test_a_cluster_that_has_gone_is_one_line(error: Exception) -> None:
    message = r"^--ray 10\.0\.0\.1:6379: Ray has gone \(the cause\); start Ray again, then give the"
    with pytest.raises(UserError, match=message), _naming_the_lost_cluster(RAY, "10.0.0.1:6379"):
        raise_in("ray._raylet", error)


@pytest.mark.parametrize(
    "error",
    [
        Bug("ours"),
        OSError(28, "No space left on device"),
        OSError("1000 requested and 0 written"),  # of numpy, on a full disk
    ],
)
def test_what_is_not_rays_stays_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, _naming_the_lost_cluster(RAY, "local"):
        raise error
    assert caught.value is error


def test_where_no_cluster_runs_auto_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(_ray: object, **_settings: object) -> None:
        raise ConnectionError("Could not find any running Ray instance. (and ten lines more)")

    monkeypatch.setattr(ray_session, "load_ray", lambda: None)
    monkeypatch.setattr(ray_session, "_init", find_nothing)
    with pytest.raises(UserError) as caught, ray_session.ray_session("auto"):
        pass
    fix = "start one with ray start --head, or give --ray local"
    assert str(caught.value) == f"--ray auto: no cluster runs on this machine; {fix}"


# --- waiting ---


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
    monkeypatch.setattr(ray_session, "time", stand_in)


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
