"""Chunks of lines worked on by all CPUs of a Ray cluster: the results come in order, whoever is slow or dies.

The driver reads the items and puts the results together; nodes see no file of it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nmt.errors import Say, UserError, counted
from nmt.jobs.ray_session import Cluster, Waiting, last_line
from nmt.machine.workers import MapChunks, chunks_of

_AT_ONCE = 3  # chunks for each CPU: one at work, others on their way there and back
_LOOK_EVERY = 5  # seconds, while nothing comes
_ATTEMPTS = 10  # at a chunk whose process or node dies


def chunks_on(cluster: Cluster, say: Say) -> MapChunks:
    """What `map_chunks` does, on a cluster. `say` gets a line about long waits and about repeated chunks."""

    def in_chunks(
        work: Callable[[list[Any]], Any],
        items: Iterable[Any],
        workers: int,
        size: Callable[[Any], int],
    ) -> Iterator[Any]:
        chunks = _Chunks(cluster.ray, work, say)
        pending: deque[_Handed] = deque()
        most = _AT_ONCE * max(1, sum(node.cpus for node in cluster.nodes()))
        for chunk in chunks_of(iter(items), size):
            pending.append(chunks.hand_out(chunk))
            if len(pending) > most:  # memory holds a few chunks, not the corpus
                yield chunks.result(pending.popleft())
        while pending:
            yield chunks.result(pending.popleft())
        if chunks.lost:
            again = counted(chunks.lost, "chunk")
            say(f"nmt: {again} of {chunks.count:,} done again: their workers were lost")

    return in_chunks


class _Handed(NamedTuple):
    """A chunk at work: Ray's references of the chunk and of its result."""

    chunk: Any
    result: Any


class _Chunks:
    """Chunks handed out to the cluster."""

    def __init__(self, ray: Any, work: Callable[[list[Any]], Any], say: Say) -> None:
        self.count = 0
        self.lost = 0
        self._ray = ray
        self._waiting = Waiting(ray, lambda line: say(f"nmt: {line}"))
        self._work = ray.put(work)
        # Ray's own retries are not counted, so those here take their place.
        self._apply = ray.remote(num_cpus=1, max_retries=0)(_applied)

    def hand_out(self, chunk: list[Any]) -> _Handed:
        """Let some CPU work on a chunk."""
        self.count += 1
        kept = self._ray.put(chunk)
        return _Handed(kept, self._apply.remote(self._work, kept))

    def result(self, handed: _Handed) -> Any:
        """The result of a chunk. Raises the UserError of the work, or one for a chunk that no worker survives."""
        why = ""
        for _ in range(_ATTEMPTS):
            try:
                return self._awaited(handed.result)
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, UserError):
                    raise error.cause from None
                raise
            except self._ray.exceptions.RayError as error:
                why = last_line(error)
                self.lost += 1
                handed = _Handed(handed.chunk, self._apply.remote(self._work, handed.chunk))
        fix = "look at the nodes' memory, then give the command again"
        raise UserError(f"a chunk was lost {_ATTEMPTS} times ({why}); {fix}")

    def _awaited(self, result: Any) -> Any:
        while not self._ray.wait([result], timeout=_LOOK_EVERY)[0]:
            self._waiting.goes_on("a chunk, which takes 1 CPU")
        self._waiting.ends()
        return self._ray.get(result)


def _applied(work: Callable[[list[Any]], Any], chunk: list[Any]) -> Any:
    return work(chunk)
