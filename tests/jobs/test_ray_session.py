"""What is told when Ray itself goes."""

from types import SimpleNamespace
from typing import Any

import pytest

from nmt.errors import UserError
from nmt.jobs import ray_session
from nmt.jobs.ray_session import _naming_the_lost_cluster


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
