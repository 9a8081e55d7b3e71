"""Shards translated on a Ray cluster: each of its processes loads the model once, and has one shard at a time.

The driver hands out shards and gets their results back, so that nodes need to see the model, but neither the input nor
the output. Ray itself does a shard again whose process or node has died, wherever there is room for it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.errors import ConfigError, ModelError, Say, counted
from nmt.jobs.ray_session import Cluster, Waiting, last_line, this_node
from nmt.jobs.shards import Failed, Outcome, Shard, ShardTranslator, attempted
from nmt.jobs.shares import share_out
from nmt.run.folder import RunDir
from nmt.translate.opening import open_translator

_AT_ONCE = 2  # shards per worker that are handed out: one is translated, one waits
_LOOK_EVERY = 5  # seconds, while nothing comes
_DEATHS = 10  # of processes with the same shard, after which it is given up


@dataclass(frozen=True)
class Model:
    """What translates, as it travels to a node."""

    settings: Config
    run: RunDir
    computing: EngineRequest
    output_format: str
    alignments: bool
    threads: int = 1


@dataclass(frozen=True)
class Loaded:
    """A model in a process of a node, and what loading it has told."""

    work: ShardTranslator
    made_with: str  # which takes a reading of all weights to tell
    says: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Ready:
    """What a node would translate with."""

    node: str
    made_with: str
    says: tuple[str, ...]
    warnings: tuple[str, ...]


class RayPool:
    """The cluster as a pool of workers."""

    def __init__(self, cluster: Cluster, model: Model, workers: int | None, warn: Say) -> None:
        """Raises ConfigError for more workers than the cluster has room for."""
        device = model.computing.device
        if ":" in device:
            raise ConfigError(f"--device {device}: Ray chooses the GPU; give --device cuda")
        wants_gpus = device != "cpu" and model.computing.engine not in (
            "ctranslate2",
            "fxtranslate",
        )
        self.share = share_out(cluster.nodes(), workers, wants_gpus)
        self._cluster = cluster
        self._ray = cluster.ray
        self._model = cluster.ray.put(replace(model, threads=self.share.cpus))
        self._warn = warn
        self._made_with = ""

    def made_with(self, say: Say) -> str:
        """What all nodes write with, as a `ShardTranslator` tells it.

        `say` gets lines about what computes, on how many nodes.

        Raises ModelError for a node that would write anything else, and what a node raises that cannot load.
        """
        ready: list[Ready] = self._cluster.ask_each_node(_ready, self._model, **self._resources())
        first = ready[0]
        for other in ready:
            _refuse_other(other, first)
        for line in first.says:
            say(line)
        for line in first.warnings:
            self._warn(line)
        workers = counted(self.share.workers, "worker")
        nodes = counted(len(ready), "node")
        say(f"nmt: {workers} with {counted(self.share.cpus, 'CPU')} each, on {nodes}")
        self._made_with = first.made_with
        return first.made_with

    def __call__(self, shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        """Translate shards, and give each with its outcome as it comes."""
        task = self._ray.remote(
            max_retries=_DEATHS,
            max_calls=0,  # else a process that has a GPU would load the model for one shard
            scheduling_strategy="SPREAD",
            **self._resources(),
        )(_translated)
        waiting = Waiting(self._ray, self._warn)
        asked: dict[Any, Shard] = {}  # by Ray's reference of the answer
        while True:
            while len(asked) < _AT_ONCE * self.share.workers:
                shard = next(shards, None)
                if shard is None:
                    break
                asked[task.remote(self._model, shard, self._made_with)] = shard
            if not asked:
                return
            answers, _ = self._ray.wait(list(asked), num_returns=1, timeout=_LOOK_EVERY)
            if answers:
                waiting.ends()
            else:
                waiting.goes_on(f"a shard, which takes {self._needs()}")
            for answer in answers:
                yield asked.pop(answer), self._outcome(answer)

    def _outcome(self, answer: Any) -> Outcome:
        try:
            outcome: Outcome = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            return Failed(last_line(error), is_final=True)
        return outcome

    def _resources(self) -> dict[str, int]:
        return {"num_cpus": self.share.cpus, "num_gpus": self.share.gpus}

    def _needs(self) -> str:
        cpus = counted(self.share.cpus, "CPU")
        return f"{cpus} and {counted(self.share.gpus, 'GPU')}" if self.share.gpus else cpus


def _refuse_other(ready: Ready, first: Ready) -> None:
    """Raise ModelError for a node that would translate otherwise than the first."""
    if ready.made_with != first.made_with:
        difference = f"{_computing(ready)}, but on {first.node} {_computing(first)}"
        fix = "give --engine and --precision, and the same run folder on every node"
        raise ModelError(f"node {ready.node}: would translate differently: {difference}; {fix}")


def _computing(ready: Ready) -> str:
    return "; ".join(line.removeprefix("nmt: ") for line in ready.says)


# --- on the nodes ---

_MODELS: dict[str, Loaded] = {}  # of this process, by Ray's name of the job


def _ready(model: Model) -> Ready:
    loaded = _loaded(model)
    return Ready(this_node(), loaded.made_with, loaded.says, loaded.warnings)


def _translated(model: Model, shard: Shard, made_with: str) -> Outcome:
    """The outcome of a shard. On a node that has joined since, and has another model or program, it fails."""
    loaded = _loaded(model)
    if loaded.made_with != made_with:
        return Failed(f"node {this_node()} has another model or program", is_final=True)
    return attempted(loaded.work, shard)[1]


def _loaded(model: Model) -> Loaded:
    """The model of this process, which is loaded at the first call."""
    import ray

    job = ray.get_runtime_context().get_job_id()
    if job not in _MODELS:
        # Before torch is imported, which looks at it then.
        os.environ["OMP_NUM_THREADS"] = str(model.threads)
        says: list[str] = []
        warnings: list[str] = []
        translator = open_translator(
            model.settings, model.run, model.computing, warnings.append, says.append
        )
        work = ShardTranslator(translator, model.output_format, model.alignments)
        _MODELS[job] = Loaded(work, work.made_with(), tuple(says), tuple(warnings))
    return _MODELS[job]
