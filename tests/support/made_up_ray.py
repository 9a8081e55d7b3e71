"""As much of Ray as a pool needs, in this process: tasks that are done when they are waited for, in any order."""

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

from nmt.jobs.ray_session import Cluster, Node


class Died(Exception):
    """What Ray raises for a task whose processes have died too often."""


class Reference:
    """An answer that has not come yet."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer


class MadeUpRay:
    """Ray."""

    exceptions = SimpleNamespace(RayError=Exception, GetTimeoutError=TimeoutError)

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self.most_asked = 0
        self.silent_waits = 0  # in which no answer comes

    def put(self, value: Any) -> Any:
        return value

    def remote(self, **_: object) -> Any:
        def task(function: Callable[..., Any]) -> Any:
            def ask(*arguments: object) -> Reference:
                return Reference(lambda: function(*arguments))

            asked = SimpleNamespace(remote=ask)
            return SimpleNamespace(remote=ask, options=lambda **_: asked)

        return task

    def wait(
        self, references: list[Reference], num_returns: int, timeout: float
    ) -> tuple[list[Reference], list[Reference]]:
        assert references
        assert num_returns == 1
        assert timeout < 60
        self.most_asked = max(self.most_asked, len(references))
        if self.silent_waits:
            self.silent_waits -= 1
            return [], references
        some = self._chance.choice(references)
        return [some], [each for each in references if each is not some]

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def get(self, reference: Reference, timeout: float = 0) -> Any:
        return reference.answer()


class MadeUpCluster(Cluster):
    """A cluster of nodes with two CPUs each."""

    def __init__(self, nodes: int, seed: int = 0) -> None:
        super().__init__(MadeUpRay(seed))
        self._nodes = [Node(f"{i + 1:056x}", f"node {i}", cpus=2, gpus=0) for i in range(nodes)]

    def nodes(self) -> list[Node]:
        return self._nodes
