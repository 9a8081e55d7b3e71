"""A cluster as a pool: each shard is translated once, strangers get no work, and waiting is told of."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_up_ray import Died, MadeUpCluster

from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.errors import ConfigError, ModelError, UserError
from nmt.jobs import ray_pool, ray_session
from nmt.jobs.ray_pool import Model, RayPool, Ready
from nmt.jobs.shards import Done, Failed, Outcome, Shard
from nmt.run.folder import RunDir

pytest.importorskip("ray")  # its strategies of scheduling are named

READY = Ready("node 0", "weights", ("nmt: model X, bf16 on cpu",), ())
MODEL = Model(
    Config(), RunDir(Path("run")), EngineRequest("torch", "cpu", "auto"), "text", alignments=False
)


class TaskError(Exception):
    """What Ray raises for a function that has raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("Traceback …")
        self.cause = cause


class Nodes:
    """What the processes of the nodes do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ready: Ready | Exception) -> None:
        self.seen: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._ready = list(ready)
        monkeypatch.setattr(ray_pool, "_ready", self.ready)
        monkeypatch.setattr(ray_pool, "_translated", self.translated)

    def ready(self, _model: Model) -> Ready:
        answer = self._ready.pop(0) if self._ready else READY
        if isinstance(answer, Exception):
            raise answer
        return answer

    def translated(self, _model: Model, shard: Shard, made_with: str) -> Outcome:
        assert made_with == "weights"
        self.seen[shard.name] += 1
        if shard.name == "shard 7":
            raise Died("all about it\nkilled by the system")
        return Done(shard.lines[0].upper().encode())

    def pool(self, cluster: MadeUpCluster, workers: int | None = None) -> RayPool:
        return RayPool(cluster, MODEL, workers, self.warnings.append)


def shards(count: int) -> Iterator[Shard]:
    for number in range(count):
        yield Shard("a.en", number + 1, [f"line {number}"], f"shard {number}", is_packed=False)


def silent(_line: str) -> None:
    pass


@pytest.mark.parametrize("seed", range(5))
def test_each_shard_is_translated_once_and_few_are_handed_out_at_a_time(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    nodes = Nodes(monkeypatch)
    cluster = MadeUpCluster(nodes=2, seed=seed)
    lines: list[str] = []
    pool = nodes.pool(cluster)
    assert pool.made_with(lines.append) == "weights"
    found = {shard.name: outcome for shard, outcome in pool(shards(40))}
    assert found.pop("shard 7") == Failed("killed by the system", is_final=True)
    expected = {shard.name: Done(shard.lines[0].upper().encode()) for shard in shards(40)}
    assert found == {name: done for name, done in expected.items() if name != "shard 7"}
    assert set(nodes.seen.values()) == {1}
    assert cluster.ray.most_asked == 8
    assert lines == ["nmt: model X, bf16 on cpu", "nmt: 4 workers with 1 CPU each, on 2 nodes"]


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (
            replace(READY, node="node B", made_with="?", says=("nmt: model X, fp32 on cpu",)),
            ModelError,
            r"^node node B: would translate differently: model X, fp32 on cpu, but on node 0 "
            r"model X, bf16 on cpu; give --engine and --precision, and the same run folder",
        ),
        (
            TaskError(ModelError("run: does not exist")),
            ModelError,
            "^node node 1: run: does not exist",
        ),
        (ImportError("No module named 'nmt'"), UserError, "^node node 1: nmt does not run there"),
        (TimeoutError(), UserError, r"^node node 1: has not answered for \d+ s; look at it"),
    ],
)
def test_a_node_that_differs_is_refused_by_name_before_work_begins(
    monkeypatch: pytest.MonkeyPatch,
    other: Ready | Exception,
    error: type[UserError],
    message: str,
) -> None:
    nodes = Nodes(monkeypatch, READY, other)
    with pytest.raises(error, match=message):
        nodes.pool(MadeUpCluster(nodes=2)).made_with(silent)
    assert not nodes.seen


def test_a_cluster_without_room_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 10_000, 10))
    monkeypatch.setattr(ray_session, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    nodes = Nodes(monkeypatch)
    cluster = MadeUpCluster(nodes=1)
    cluster.ray.silent_waits = 5
    pool = nodes.pool(cluster, workers=1)
    pool.made_with(silent)
    assert len(list(pool(shards(3)))) == 3
    assert nodes.warnings == ["waiting for a shard, which takes 2 CPUs; the cluster has 1 CPU free"]


def test_ray_chooses_the_gpu() -> None:
    model = replace(MODEL, computing=EngineRequest("torch", "cuda:1", "auto"))
    with pytest.raises(ConfigError, match="--device cuda:1: Ray chooses the GPU"):
        RayPool(MadeUpCluster(nodes=1), model, None, print)
