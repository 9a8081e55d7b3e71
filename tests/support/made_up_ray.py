"""As much of Ray as a pool of workers needs, in this process, with workers that die when they are told to."""

from collections.abc import Callable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

from nmt.jobs.ray_session import Node


class Died(Exception):
    """What Ray raises for an answer of a worker that has died."""


class Reference:
    """An answer that has not come yet."""

    def __init__(self, actor: "Actor", answer: Callable[[], Any]) -> None:
        self.actor = actor
        self.answer = answer


class Actor:
    """A worker."""

    def __init__(self, made: Any) -> None:
        self.made = made
        self.why_dead = ""

    def __getattr__(self, name: str) -> Any:
        def remote(*arguments: object) -> Reference:
            return Reference(self, lambda: getattr(self.made, name)(*arguments))

        return SimpleNamespace(remote=remote)


class MadeUpRay:
    """Ray: a worker answers in the order in which it was asked, workers in any."""

    exceptions = SimpleNamespace(RayError=Died)

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.actors: list[Actor] = []
        self.silent_waits = 0  # in which no answer comes

    def remote(self, cls: type) -> Any:
        def make(*arguments: object) -> Actor:
            self.actors.append(Actor(cls(*arguments)))
            return self.actors[-1]

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=make))

    def wait(
        self, references: list[Reference], num_returns: int, timeout: float
    ) -> tuple[list[Reference], list[Reference]]:
        assert references
        if num_returns == 1 and self.silent_waits:
            self.silent_waits -= 1
            return [], references
        next_of = {id(each.actor): each for each in reversed(references)}
        some = [self._chance.choice(list(next_of.values()))] if num_returns == 1 else []
        return some, [each for each in references if each not in some]

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def get(self, reference: Reference) -> Any:
        if not reference.actor.why_dead:
            try:
                return reference.answer()
            except Died as error:
                reference.actor.why_dead = str(error)
        raise Died(reference.actor.why_dead)

    def kill(self, actor: Actor) -> None:
        actor.why_dead = actor.why_dead or "killed"


class MadeUpCluster:
    """A cluster of such workers, two a node."""

    def __init__(self, nodes: int, seed: int = 0) -> None:
        self.ray = MadeUpRay(Random(seed))
        self._nodes = [Node(str(i), f"node {i}", cpus=2, gpus=0) for i in range(nodes)]

    def nodes(self) -> list[Node]:
        return self._nodes

    def living(self) -> Iterator[Actor]:
        return (actor for actor in self.ray.actors if not actor.why_dead)
