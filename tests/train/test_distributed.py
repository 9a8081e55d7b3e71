"""Several processes train as one: what they compute, what they exchange by which way, and on which device."""

import json
import os
import socket
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest
import torch
from conftest import TINY, tiny_config, train
from loaded import Loaded, Script, nmt
from safetensors.torch import load_file
from torch import distributed, nn

from nmt.errors import ConfigError
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.distributed import World, world

LOSS_TOLERANCE = 1e-5  # sums in another order


def two_ranks(
    arguments: list[str], folder: Path | None = None, main: Callable[[], object] = nmt
) -> list[Loaded]:
    """Two processes as torchrun starts them."""
    common = {
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    ranks = []
    for rank in range(2):
        variables = os.environ | common | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        process = Loaded(
            arguments, cwd=folder, env=variables, stdout=PIPE, stderr=STDOUT, text=True, main=main
        )
        ranks.append(process)
    return ranks


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def losses(run_dir: Path) -> list[float]:
    records = map(json.loads, (run_dir / "metrics.jsonl").read_text().splitlines())
    return [record["loss"] for record in records if record["kind"] == "train"]


pytestmark = pytest.mark.skipif(
    not distributed.is_available(), reason="this PyTorch has no torch.distributed"
)


def test_two_ranks_equal_one_process_with_the_same_global_batch(
    corpus: Path, tmp_path: Path
) -> None:
    course = ["train.log_every=1", "train.updates=8", "train.average=0", "model.dropout=0.1"]
    train(tiny_config(corpus, tmp_path / "alone", *course, "train.accumulate=2"))
    settings = [f"data.path={corpus}", "run_dir=together", *TINY, *course]
    for rank in two_ranks(["train", *settings], tmp_path):
        told, _ = rank.communicate()
        assert rank.returncode == 0, told
    assert losses(tmp_path / "together") == pytest.approx(
        losses(tmp_path / "alone"), rel=LOSS_TOLERANCE
    )
    scores = [
        checkpoint.read_meta(RunDir(tmp_path / name).steps()[-1]).scores
        for name in ("alone", "together")
    ]
    assert scores[1]["bleu"] == scores[0]["bleu"]
    assert scores[1] == pytest.approx(scores[0], rel=LOSS_TOLERANCE)
    weights = [
        load_file(tmp_path / name / "checkpoints" / "step-00000008" / "model.safetensors")
        for name in ("alone", "together")
    ]
    for key, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][key], tensor, rtol=1e-3, atol=1e-4)


# --- on GPUs: gloo and NCCL ---


def two_like_nccl(scene: str) -> list[str]:
    """What two processes say whose tensors travel without anyone waiting for them."""
    script = Script(Path(__file__).with_name("like_nccl.py"))
    return [rank.communicate()[0] for rank in two_ranks([scene], main=script)]


def test_the_others_wait_for_rank_0_though_it_takes_longer_than_an_answer() -> None:
    assert two_like_nccl("rank-0-takes-its-time") == ["went on\n", "went on\n"]


def test_a_lost_process_is_noticed_before_the_gpus_wait_for_it() -> None:
    said, _ = two_like_nccl("rank-1-dies")
    assert said.startswith("another process of this training has ended or does not answer")
    assert said.count("\n") == 1


Calls = list[tuple[str, str, object]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Every exchange: what it is, the type of the device, and the group."""
    made: Calls = []

    def recorded(name: str) -> Callable[..., None]:
        def exchange(tensor: object = None, group: object = "the patient", **_: object) -> None:
            if isinstance(tensor, torch.Tensor):
                made.append((name, tensor.device.type, group))
            else:  # a barrier, of a group
                made.append((name, "", tensor))

        return exchange

    for name in ("all_reduce", "broadcast", "barrier"):
        monkeypatch.setattr(distributed, name, recorded(name))
    return made


def test_only_gradients_and_weights_travel_by_nccl(calls: Calls) -> None:
    """Tensors on "meta" stand in for a GPU's."""
    gpus = World(0, 2, torch.device("cuda", 0), group="gloo", tensors="nccl")  # type: ignore[arg-type]
    gpus.sum(1.0)
    gpus.agree(True)
    gpus.wait()
    assert calls == [
        ("all_reduce", "cpu", "gloo"),
        ("all_reduce", "cpu", "gloo"),
        ("broadcast", "cpu", "the patient"),
        ("barrier", "", "gloo"),
    ]
    calls.clear()

    model = nn.Linear(2, 2, device="meta")
    model(torch.ones(2, device="meta")).sum().backward()
    gpus.sum_gradients(model, torch.ones((), device="meta"))
    gpus.share(list(model.parameters()))
    assert calls == [
        ("barrier", "", "gloo"),
        ("all_reduce", "meta", "nccl"),
        ("barrier", "", "gloo"),
        ("broadcast", "meta", "nccl"),
        ("broadcast", "meta", "nccl"),
    ]


# --- which device ---


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A process of several on a machine with two GPUs; the list tells which one it works on."""
    chosen: list[object] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda _: None)
    for name, value in {"WORLD_SIZE": "4", "RANK": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    return chosen


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, timedelta]]:
    """The groups that are made: backend and patience."""
    made: list[tuple[str, timedelta]] = []

    class Group:
        def __init__(self, backend: str, timeout: timedelta, **_: Any) -> None:
            made.append((backend, timeout))

    meeting = sys.modules["torch.distributed.rendezvous"]  # the package has a function of that name
    monkeypatch.setattr(meeting, "rendezvous", lambda *_, **__: iter([(None,) * 3]))
    monkeypatch.setattr("torch.distributed.distributed_c10d.PrefixStore", lambda *_: None)
    monkeypatch.setattr(distributed, "init_process_group", Group)
    monkeypatch.setattr(distributed, "new_group", Group)
    monkeypatch.setattr(distributed, "destroy_process_group", lambda: None)
    return made


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_each_of_several_processes_takes_the_gpu_of_its_number(
    name: str, two_gpus: list[object], groups: list[tuple[str, timedelta]]
) -> None:
    with world(name) as processes:
        assert processes.device == torch.device("cuda", 1)
        assert (processes.rank, processes.size) == (3, 4)
    assert two_gpus == [1]  # none of them opens another's
    assert [backend for backend, _ in groups] == ["gloo", "gloo", "nccl"]
    of_all, of_answers, of_gpus = [timeout for _, timeout in groups]
    assert of_answers < of_gpus < of_all


def test_processes_on_cpus_exchange_everything_by_gloo(
    two_gpus: list[object], groups: list[tuple[str, timedelta]]
) -> None:
    with world("cpu") as processes:
        assert processes.device == torch.device("cpu")
        assert processes.tensors is processes.group
    assert two_gpus == []
    assert [backend for backend, _ in groups] == ["gloo", "gloo"]


@pytest.mark.parametrize(
    ("name", "environment", "message"),
    [
        (
            "cuda",
            {"LOCAL_RANK": "2"},
            r"LOCAL_RANK=2: .* 2; start at most 2 .* \(torchrun --nproc-per-node 2\)",
        ),
        ("cuda:1", {}, "device=cuda:1: each of several processes .*; use train.device=cuda"),
        ("cuda", {"LOCAL_RANK": ""}, "variable LOCAL_RANK is '', not a number; start .* torchrun"),
        ("cpu", {"WORLD_SIZE": "many"}, "variable WORLD_SIZE is 'many', not a number"),
        ("cpu", {"RANK": ""}, "variable RANK is ''"),
        ("cpu", {"MASTER_ADDR": None}, "MASTER_ADDR expected.*; start .* torchrun"),
    ],
)
def test_processes_that_do_not_fit_the_machine_are_refused_in_one_line(
    name: str,
    environment: dict[str, str | None],
    message: str,
    two_gpus: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, value in environment.items():
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=message) as caught, world(name):
        pass
    assert "\n" not in str(caught.value)


def test_one_process_works_on_the_gpu_that_it_is_told(
    two_gpus: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORLD_SIZE")
    with world("cuda:1") as alone:
        assert alone.device == torch.device("cuda", 1)
    assert two_gpus == [1]
