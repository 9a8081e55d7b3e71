"""Workers that come and go: no shard is lost, none is done twice but those in flight, and strangers get no work."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from made_up_ray import Died, MadeUpCluster

from nmt.config.schema import Config
from nmt.engines.choose import Computing
from nmt.errors import ConfigError, ModelError, UserError
from nmt.jobs import ray_translators, waiting
from nmt.jobs.ray_translators import Model, RayTranslators, Ready, Refused
from nmt.jobs.shards import Done, Failed, Outcome, Shard
from nmt.jobs.version import version
from nmt.run.folder import RunDir

LIKE_ALL = Ready("node A", "0", version(), "weights", ("nmt: model X, bf16 on cpu",), ())
MODEL = Model(Config(), RunDir(Path("run")), Computing("torch", "cpu", "auto"))


class Plan:
    """What the workers of a test do, each in its turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *loads: Ready | Refused | Died) -> None:
        plan = self
        self.loads = list(loads)
        self.seen: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.sizes: list[int] = []

        class Worker:
            def __init__(self, _model: Model, _format: str, threads: int) -> None:
                self.threads = threads

            def load(self) -> Ready | Refused:
                loaded = plan.loads.pop(0) if plan.loads else LIKE_ALL
                if isinstance(loaded, Died):
                    raise loaded
                return loaded

            def translate(self, shard: Shard) -> Outcome:
                plan.seen[shard.name] += 1
                return plan.translate(shard)

        monkeypatch.setattr(ray_translators, "Worker", Worker)

    def translate(self, shard: Shard) -> Outcome:
        return Done(shard.lines[0].upper().encode())

    def pool(self, cluster: MadeUpCluster, workers: int | None = None) -> RayTranslators:
        made: Any = cluster
        return RayTranslators(made, MODEL, "text", workers, self.sizes.append, self.warnings.append)


def shards(count: int) -> Iterator[Shard]:
    for number in range(count):
        yield Shard(Path("a.en"), number + 1, [f"line {number}"], f"shard {number}")


def results(pool: RayTranslators, count: int) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for shard, outcome in pool(shards(count)):
        assert shard.name not in found
        found[shard.name] = outcome
    return found


def expected(count: int) -> dict[str, Outcome]:
    return {shard.name: Done(shard.lines[0].upper().encode()) for shard in shards(count)}


def silent(_line: str) -> None:
    pass


def test_each_shard_is_translated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(monkeypatch)
    lines: list[str] = []
    with plan.pool(MadeUpCluster(nodes=2)) as pool:
        assert pool.made_with(lines.append) == "weights"
        assert results(pool, 40) == expected(40)
    assert set(plan.seen.values()) == {1}
    assert plan.sizes[-1] == 4
    assert lines == ["nmt: model X, bf16 on cpu", "nmt: 4 workers with 1 CPU each, on 1 node"]
    assert pool.losses() == ""


@pytest.mark.parametrize("seed", range(10))
def test_whoever_dies_nothing_is_lost_and_only_what_was_in_flight_is_done_again(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = Random(seed)
    plan = Plan(monkeypatch, *[replace(LIKE_ALL, node_id="a node that has gone")] * 999)
    cluster = MadeUpCluster(nodes=2, seed=seed)

    def translate(shard: Shard) -> Outcome:
        for actor in cluster.living():
            if chance.random() < 0.03:
                actor.why_dead = "in words that are not looked at"
        return Done(shard.lines[0].upper().encode())

    monkeypatch.setattr(plan, "translate", translate)
    with plan.pool(cluster) as pool:
        pool.made_with(silent)
        assert results(pool, 100) == expected(100)
    assert pool.lost_workers > 0
    assert pool.lost_shards <= 2 * pool.lost_workers
    assert sum(plan.seen.values()) <= 100 + pool.lost_shards
    assert not list(cluster.living())  # no worker outlives the pool


def test_a_shard_that_kills_its_workers_fails_the_third_time_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Plan(monkeypatch)

    def translate(shard: Shard) -> Outcome:
        if shard.name == "shard 3":
            raise Died("killed by the system")
        return Done(shard.lines[0].upper().encode())

    monkeypatch.setattr(plan, "translate", translate)
    with plan.pool(MadeUpCluster(nodes=1, seed=5), workers=1) as pool:
        pool.made_with(silent)
        found = results(pool, 20)
    assert found.pop("shard 3") == Failed("its worker died: killed by the system")
    assert found.items() <= expected(20).items()
    assert len(found) == 19
    assert plan.seen["shard 3"] == 3


def test_a_shard_whose_nodes_go_is_not_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(monkeypatch, *[replace(LIKE_ALL, node_id="a node that has gone")] * 9)

    def translate(shard: Shard) -> Outcome:
        if plan.seen[shard.name] <= 5:
            raise Died("in words that are not looked at")
        return Done(shard.lines[0].upper().encode())

    monkeypatch.setattr(plan, "translate", translate)
    with plan.pool(MadeUpCluster(nodes=1), workers=1) as pool:
        pool.made_with(silent)
        assert results(pool, 1) == expected(1)
    assert plan.seen["shard 0"] == 6


def test_a_shard_that_fails_is_tried_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(monkeypatch)
    monkeypatch.setattr(plan, "translate", lambda shard: Failed(f"no {shard.name}"))
    with plan.pool(MadeUpCluster(nodes=1)) as pool:
        pool.made_with(silent)
        found = results(pool, 3)
    assert found == {f"shard {i}": Failed(f"no shard {i}") for i in range(3)}
    assert set(plan.seen.values()) == {3}


def test_a_failure_that_is_final_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(monkeypatch)
    failed = Failed("no model", is_final=True)
    monkeypatch.setattr(plan, "translate", lambda _: failed)
    with plan.pool(MadeUpCluster(nodes=1)) as pool:
        pool.made_with(silent)
        assert results(pool, 2) == {"shard 0": failed, "shard 1": failed}
    assert set(plan.seen.values()) == {1}


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        (
            replace(LIKE_ALL, node="node B", version="0.0.9 (source 12)"),
            UserError,
            r"^node node B: has nmt 0\.0\.9 \(source 12\), and this is nmt .*; install this one",
        ),
        (
            replace(LIKE_ALL, node="node B", made_with="?", says=("nmt: model X, fp32 on cpu",)),
            ModelError,
            r"^node node B: would translate otherwise: model X, fp32 on cpu, but on node A "
            r"model X, bf16 on cpu; give --engine and --precision, and the same run folder",
        ),
        (Refused("node B", 5, "run: does not exist"), ModelError, "^node node B: run: does not"),
        (Refused("node B", 2, "no GPU"), ConfigError, "^node node B: no GPU"),
    ],
)
def test_a_node_that_differs_is_refused_by_name_before_work_begins(
    monkeypatch: pytest.MonkeyPatch,
    other: Ready | Refused,
    error: type[UserError],
    message: str,
) -> None:
    plan = Plan(monkeypatch, LIKE_ALL, other)
    with plan.pool(MadeUpCluster(nodes=1)) as pool, pytest.raises(error, match=message):
        pool.made_with(silent)
    assert not plan.seen


def test_a_node_that_joins_later_and_differs_gets_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(LIKE_ALL, node="node B", made_with="?")
    plan = Plan(monkeypatch, LIKE_ALL, LIKE_ALL, other)
    cluster = MadeUpCluster(nodes=1)
    with plan.pool(cluster) as pool:
        pool.made_with(silent)
        cluster.ray.actors[0].why_dead = "its node has died"
        assert results(pool, 30) == expected(30)
    assert len(plan.warnings) == 1
    assert plan.warnings[0].startswith("node node B: would translate otherwise")
    assert plan.warnings[0].endswith("this node gets no work")


def test_workers_that_never_start_end_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(monkeypatch, *[Died("No module named 'nmt'")] * 99)
    message = "workers do not start: No module named 'nmt'"
    with (
        plan.pool(MadeUpCluster(nodes=1)) as pool,
        pytest.raises(UserError, match=message),
    ):
        pool.made_with(silent)


def test_workers_that_find_no_room_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 10_000, 10))
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    plan = Plan(monkeypatch)
    cluster = MadeUpCluster(nodes=1)
    cluster.ray.silent_waits = 5
    line = "waiting for 1 worker to start, with 2 CPUs each; the cluster has 1 CPU free"
    with plan.pool(cluster, workers=1) as pool:
        pool.made_with(silent)
        assert results(pool, 3) == expected(3)
    assert plan.warnings == [line]


def test_ray_chooses_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    cluster: Any = MadeUpCluster(nodes=1)
    model = replace(MODEL, computing=Computing("torch", "cuda:1", "auto"))
    with pytest.raises(ConfigError, match="--device cuda:1: Ray chooses the GPU"):
        RayTranslators(cluster, model, "text", None, print, print)
