"""Models at work on a Ray cluster, each in an actor of its own.

The driver hands out shards and gets their results back, so that nodes need to see the model, but neither the input nor
the output. A shard whose worker is lost is handed out again, and another worker is started in the place of a lost one.
"""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from nmt.config.schema import Config
from nmt.engines.choose import Computing
from nmt.errors import ConfigError, DataError, ModelError, Say, UserError, counted
from nmt.jobs.pools import ATTEMPTS
from nmt.jobs.ray_session import Cluster, last_line
from nmt.jobs.shards import Done, Failed, Outcome, Shard, ShardTranslator, failure
from nmt.jobs.shares import share_out
from nmt.jobs.version import version
from nmt.jobs.waiting import Waiting
from nmt.run.folder import RunDir
from nmt.translate.opening import open_translator

_AT_ONCE = 2  # shards that a worker has: one to translate, one to go on with
_PATIENCE = 60  # seconds, in which workers can start after the first of them has
_STARTS = 10  # that may fail one after another
_ERRORS = {each.exit_code: each for each in (ConfigError, DataError, ModelError)}


@dataclass(frozen=True)
class Model:
    """What translates, as it travels to a worker."""

    settings: Config
    run: RunDir
    computing: Computing


@dataclass(frozen=True)
class Ready:
    """A worker that has loaded its model."""

    node: str
    node_id: str
    version: str
    made_with: str
    says: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """A worker that cannot load its model, and why."""

    node: str
    exit_code: int
    message: str


class Worker:
    """A model, in a process of its own. Ray makes an actor of it."""

    def __init__(self, model: Model, output_format: str, threads: int) -> None:
        # Before torch is imported, which looks at it then.
        os.environ["OMP_NUM_THREADS"] = str(threads)
        self._model = model
        self._output_format = output_format
        self._translate: ShardTranslator

    def load(self) -> Ready | Refused:
        """Load the model."""
        import ray

        node = f"{os.uname().nodename} ({_address(ray)})"
        node_id = ray.get_runtime_context().get_node_id()
        says: list[str] = []
        warnings: list[str] = []
        model = self._model
        try:
            translator = open_translator(
                model.settings, model.run, model.computing, warnings.append, says.append
            )
        except UserError as error:
            return Refused(node, error.exit_code, str(error))
        self._translate = ShardTranslator(translator, self._output_format)
        made_with = self._translate.made_with()
        return Ready(node, node_id, version(), made_with, tuple(says), tuple(warnings))

    def translate(self, shard: Shard) -> Outcome:
        """Translate a shard."""
        try:
            return self._translate(shard)
        except Exception as error:
            return failure(error)


@dataclass
class _Hand:
    """A worker, as the driver sees it."""

    actor: Any
    ready: Ready | None = None
    shards: deque[Shard] = field(default_factory=deque)  # that it has; it works on the first


class RayTranslators:
    """A pool of workers."""

    def __init__(
        self,
        cluster: Cluster,
        model: Model,
        output_format: str,
        workers: int | None,
        working: Callable[[int], None],
        warn: Say,
    ) -> None:
        """`working` is told how many workers there are. Raises ConfigError for more than the cluster has room for."""
        wants_gpus = model.computing.device != "cpu" and model.computing.engine != "ctranslate2"
        if ":" in model.computing.device:
            fix = "give --device cuda"
            raise ConfigError(f"--device {model.computing.device}: Ray chooses the GPU; {fix}")
        self._cluster = cluster
        self._ray = cluster.ray
        self._share = share_out(cluster.nodes(), workers, wants_gpus)
        self._model = model
        self._output_format = output_format
        self._working = working
        self._warn = warn
        self._waiting = Waiting(cluster.ray, warn)
        self._hands: list[_Hand] = []
        self._asked: dict[Any, tuple[_Hand, Shard | None]] = {}  # by Ray's reference of the answer
        self._queue: deque[Shard] = deque()  # to be handed out again
        self._failures: Counter[str] = Counter()  # by the name of a shard
        self._failed_starts = 0
        self.lost_workers = 0
        self.lost_shards = 0  # that were handed out again
        self._first: Ready | None = None
        self._has_begun = False

    def __enter__(self) -> Self:
        for _ in range(self._share.workers):
            self._hire()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        for hand in self._hands:
            self._ray.kill(hand.actor)

    # --- before the work begins ---

    def made_with(self, say: Say) -> str:
        """What all workers write with, as a `ShardTranslator` tells it. `say` is told what computes, on how many nodes.

        Raises UserError for a node that has loaded anything else, or what a worker raises that cannot load.
        """
        deadline: float | None = None
        while any(hand.ready is None for hand in self._hands):
            list(self._answers(1.0))
            self._tell_of_waiting()
            if self._first is not None:
                deadline = deadline or time.monotonic() + _PATIENCE
                if time.monotonic() > deadline:
                    break
        assert self._first is not None  # noqa: S101 - no hand is left without one that was ready
        ready = [hand.ready for hand in self._hands if hand.ready is not None]
        for line in self._first.says:
            say(line)
        for line in self._first.warnings:
            self._warn(line)
        workers = counted(len(ready), "worker")
        nodes = counted(len({each.node_id for each in ready}), "node")
        say(f"nmt: {workers} with {counted(self._share.cpus, 'CPU')} each, on {nodes}")
        self._has_begun = True
        return self._first.made_with

    def _welcome(self, hand: _Hand, answer: Ready | Refused) -> None:
        problem = self._problem_of(answer)
        if problem is None:
            assert isinstance(answer, Ready)  # noqa: S101 - a refusal is a problem
            self._first = self._first or answer
            self._failed_starts = 0
            hand.ready = answer
            self._working(len(self._ready_hands()))
        elif self._has_begun:
            # It stays there, without work, so that no other one is started in its place.
            self._warn(f"{problem}; this node gets no work")
        else:
            raise problem

    def _problem_of(self, answer: Ready | Refused) -> UserError | None:
        if isinstance(answer, Refused):
            error = _ERRORS.get(answer.exit_code, UserError)
            return error(f"node {answer.node}: {answer.message}")
        if answer.version != version():
            message = f"has nmt {answer.version}, and this is nmt {version()}"
            return UserError(f"node {answer.node}: {message}; install this one on every node")
        if self._first is None or answer.made_with == self._first.made_with:
            return None
        first = self._first
        difference = f"{_computing(answer)}, but on {first.node} {_computing(first)}"
        fix = "give --engine and --precision, and the same run folder on every node"
        return ModelError(f"node {answer.node}: would translate otherwise: {difference}; {fix}")

    def losses(self) -> str:
        """What was lost and done again, in words; nothing if nothing was."""
        if not self.lost_workers:
            return ""
        workers = counted(self.lost_workers, "worker")
        return f"{workers} lost, {counted(self.lost_shards, 'shard')} of theirs done again"

    # --- the work ---

    def __call__(self, shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        """Translate shards, and give each with its outcome as it comes."""
        while True:
            self._hand_out(shards)
            at_work = any(shard is not None for _, shard in self._asked.values())
            if not at_work and not self._queue and self._ready_hands():
                return
            yield from self._answers(1.0)
            self._tell_of_waiting()

    def _tell_of_waiting(self) -> None:
        """Say now and then that no worker has started yet: others may have taken the CPUs."""
        if self._ready_hands():
            self._waiting.ends()
            return
        share = self._share
        each = counted(share.cpus, "CPU")
        if share.gpus:
            each += f" and {counted(share.gpus, 'GPU')}"
        self._waiting.goes_on(f"{counted(len(self._hands), 'worker')} to start, with {each} each")

    def _hand_out(self, shards: Iterator[Shard]) -> None:
        for most in range(1, _AT_ONCE + 1):
            for hand in self._ready_hands():
                if len(hand.shards) >= most:
                    continue
                shard = self._queue.popleft() if self._queue else next(shards, None)
                if shard is None:
                    return
                hand.shards.append(shard)
                self._asked[hand.actor.translate.remote(shard)] = (hand, shard)

    def _answers(self, seconds: float) -> Iterator[tuple[Shard, Outcome]]:
        """The answers that come within so many seconds, or a little after the first of them."""
        if not self._asked:
            raise UserError(
                "no worker is left; look at the nodes' logs, then give the command again"
            )
        some, rest = self._ray.wait(list(self._asked), num_returns=1, timeout=seconds)
        if some and rest:
            some += self._ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        for reference in some:
            if reference in self._asked:  # else it was of a worker that has died
                yield from self._receive(reference)

    def _receive(self, reference: Any) -> Iterator[tuple[Shard, Outcome]]:
        hand, shard = self._asked.pop(reference)
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            yield from self._replace(hand, error)
            return
        if shard is None:
            self._welcome(hand, answer)
            return
        hand.shards.remove(shard)
        if isinstance(answer, Done) or answer.is_final:
            yield shard, answer
        else:
            yield from self._again(shard, answer.reason)

    def _again(self, shard: Shard, why: str) -> Iterator[tuple[Shard, Outcome]]:
        """Hand a shard out again, unless it has failed too often."""
        self._failures[shard.name] += 1
        if self._failures[shard.name] < ATTEMPTS:
            self._queue.append(shard)
        else:
            yield shard, Failed(why)

    # --- workers that come and go ---

    def _ready_hands(self) -> list[_Hand]:
        return [hand for hand in self._hands if hand.ready is not None]

    def _hire(self) -> None:
        share = self._share
        actor_class = self._ray.remote(Worker).options(
            num_cpus=share.cpus,
            num_gpus=share.gpus,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )
        hand = _Hand(actor_class.remote(self._model, self._output_format, share.cpus))
        self._hands.append(hand)
        self._asked[hand.actor.load.remote()] = (hand, None)

    def _replace(self, hand: _Hand, error: Exception) -> Iterator[tuple[Shard, Outcome]]:
        """Start another worker in the place of one that has died, and hand out again what it had."""
        why = last_line(error)
        self._hands.remove(hand)
        self._ray.kill(hand.actor)
        self._asked = {ref: asked for ref, asked in self._asked.items() if asked[0] is not hand}
        if hand.ready is None:
            self._failed_starts += 1
        if self._failed_starts >= _STARTS:
            raise UserError(f"workers do not start: {why}")
        self._hire()
        self._working(len(self._ready_hands()))
        self.lost_workers += 1
        self.lost_shards += len(hand.shards)
        if hand.shards:
            # Only the first can be to blame; and none, if the whole node has gone.
            first = hand.shards.popleft()
            if self._has_gone_with_its_node(hand):
                self._queue.append(first)
            else:
                yield from self._again(first, f"its worker died: {why}")
            self._queue.extend(hand.shards)

    def _has_gone_with_its_node(self, hand: _Hand) -> bool:
        living = {node.id for node in self._cluster.nodes()}
        return hand.ready is not None and hand.ready.node_id not in living


def _address(ray: Any) -> str:
    return str(ray.util.get_node_ip_address())


def _computing(ready: Ready) -> str:
    return "; ".join(line.removeprefix("nmt: ") for line in ready.says)
