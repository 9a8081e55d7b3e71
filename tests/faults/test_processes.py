"""Several processes as one: what they leave is what one process leaves, and none outlives the others for long.

That two ranks have the losses and the parameters of one process with the same global batch stands in
tests/train/test_distributed.py.
"""

import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest
import torch
from conftest import tiny_config, train
from loaded import Loaded
from trainings import ENVIRONMENT, outcome, settings, the_rest, training, wait_for

from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.distributed import World
from nmt.train.loop import Trainer

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed"
)

WITHIN = 60  # seconds in which the others end


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@contextmanager
def two_ranks(folder: Path, arguments: list[str]) -> Iterator[list[Loaded]]:
    """Two ranks without torchrun, which would end one when the other dies."""
    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with ExitStack() as stack:
        ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(2)]
        yield [stack.enter_context(training(folder, arguments, **common, **rank)) for rank in ranks]


@contextmanager
def torchrun(folder: Path, options: list[str], arguments: list[str]) -> Iterator[Loaded]:
    """`torchrun -m nmt train`."""
    command = [*options, "-m", "nmt", "train", *arguments]
    process = Loaded(
        command, cwd=folder, stderr=PIPE, text=True, env=ENVIRONMENT, main=torch_launcher
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.close()
        process.wait()


def torch_launcher() -> None:
    """Torchrun."""
    from torch.distributed.run import main

    main()


def worker(launcher: Loaded, rank: int) -> int:
    """The process id of a rank of torchrun's."""
    for folder in Path("/proc").iterdir():
        if (
            folder.name.isdigit()
            and f"\nPPid:\t{launcher.pid}\n" in (folder / "status").read_text()
        ):
            variables = (folder / "environ").read_bytes().split(b"\0")
            if f"RANK={rank}".encode() in variables:
                return int(folder.name)
    raise AssertionError(f"no rank {rank}")


@pytest.mark.parametrize("dying", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_when_a_rank_dies_the_other_ends_and_one_process_goes_on_with_the_data(
    dying: int, corpus: Path, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    common = ["train.save_every=4", "train.log_every=1", "train.average=0"]
    with two_ranks(tmp_path, settings(corpus, run.path, *common, "train.updates=100000")) as ranks:
        wait_for(ranks[0], "update 9/")
        ranks[dying].kill()
        other = ranks[1 - dying]
        begun = time.monotonic()
        told = the_rest(other)
        assert other.wait(WITHIN) == 1
        assert time.monotonic() - begun < WITHIN
    assert "nmt: another process of this training has ended or does not answer" in told
    assert "Traceback" not in told
    last = run.steps()[-1]
    position = checkpoint.read_meta(last).progress["position"]
    config = tiny_config(corpus, run.path, *common, "train.updates=30", "train.accumulate=2")
    trainer = Trainer(config, run, World(0, 1, torch.device("cpu")))
    assert vars(trainer.progress.position) == position
    straight = train(
        tiny_config(corpus, tmp_path / "alone", *common, "train.updates=30", "train.accumulate=2")
    )
    progress = trainer.train()
    assert progress.position == Trainer(config, straight, trainer.world).progress.position
    assert losses(run) == pytest.approx(losses(straight), rel=1e-4)


@pytest.mark.parametrize("fault", ["missing", "other weights"])
def test_ranks_that_see_other_checkpoints_do_not_train_together(
    fault: str, corpus: Path, tmp_path: Path
) -> None:
    common = ["train.save_every=4", "train.average=0"]
    folders = [tmp_path / "run", tmp_path / "elsewhere"]
    seeds = [0, 1 if fault == "other weights" else 0]
    variables = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    for folder, seed in zip(folders, seeds, strict=True):
        train(tiny_config(corpus, folder, *common, "train.updates=8", f"train.seed={seed}"))
    if fault == "missing":
        shutil.rmtree(RunDir(folders[1]).steps()[-1])
    with ExitStack() as stack:
        ranks = []
        for rank, (folder, seed) in enumerate(zip(folders, seeds, strict=True)):
            more = ["train.updates=20", f"train.seed={seed}"]
            arguments = settings(corpus, folder, *common, *more)
            of_rank = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            rank_of_two = training(tmp_path, arguments, **variables, **of_rank)
            ranks.append(stack.enter_context(rank_of_two))
        told = [the_rest(each) for each in ranks]
        assert [each.wait(WITHIN) for each in ranks] == [1, 5], told
    assert "step-00000008: is not the checkpoint that rank 0 resumes from; give all" in told[1]
    assert "Traceback" not in "".join(told)


def losses(run: RunDir) -> list[float]:
    records = map(json.loads, run.metrics.read_text().splitlines())
    return [record["loss"] for record in records if record["kind"] == "train"]


@pytest.mark.slow
def test_when_a_rank_does_not_answer_the_other_ends(corpus: Path, tmp_path: Path) -> None:
    """As when its machine has lost power: no connection is closed."""
    with two_ranks(tmp_path, settings(corpus, tmp_path / "run", "train.updates=100000")) as ranks:
        wait_for(ranks[0], "update 20/")
        ranks[1].send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        assert "nmt: another process of this training has ended or does not answer" in the_rest(
            ranks[0]
        )
        assert ranks[0].wait(WITHIN) == 1
        assert time.monotonic() - begun < WITHIN


def test_only_rank_0_writes_and_prints_and_a_signal_to_torchrun_saves(
    corpus: Path, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    options = [
        "--nproc-per-node=2",
        f"--master-port={free_port()}",
        "--log-dir=logs",
        "--redirects=3",
    ]
    with torchrun(tmp_path, options, settings(corpus, run.path, "train.updates=100000")) as process:
        (log,) = until(lambda: list(tmp_path.glob("logs/*/*/0/stderr.log")))
        until(lambda: "update 20/" in log.read_text())
        opened = [str(path.readlink()) for path in Path(f"/proc/{worker(process, 1)}/fd").iterdir()]
        assert [
            path for path in opened if path.startswith(str(run.path)) and "store" not in path
        ] == []
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=WITHIN)
    assert "nmt: SIGTERM: saved after update" in log.read_text()
    assert [path.read_text() for path in tmp_path.glob("logs/*/*/1/std*.log")] == ["", ""]
    assert run.steps()


def until(look: object, seconds: float = 60) -> list[Path]:
    """Look again and again until something is there; gives it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():  # type: ignore[operator]
            return found  # type: ignore[no-any-return]
        time.sleep(0.1)
    raise AssertionError("it did not come")


@pytest.mark.slow
def test_torchrun_restarts_what_was_killed_and_the_result_is_the_same(
    corpus: Path, tmp_path: Path
) -> None:
    runs = [RunDir(tmp_path / name) for name in ("straight", "restarted")]
    for run, dying in zip(runs, ({}, {110: 1, 300: 0}), strict=True):
        options = ["--nproc-per-node=2", f"--master-port={free_port()}", "--max-restarts=3"]
        arguments = settings(
            corpus, run.path, "train.updates=800", "train.save_every=100", "model.dropout=0.1"
        )
        with torchrun(tmp_path, options, [*arguments, "train.validate_every=400"]) as process:
            for update, rank in dying.items():
                wait_for(process, f"update {update}/")
                os.kill(worker(process, rank), signal.SIGKILL)
                wait_for(process, "resuming after update")
            the_rest(process)
            assert process.wait() == 0
    assert outcome(runs[0]) == outcome(runs[1])


@pytest.mark.slow
def test_two_nodes_train_as_one(corpus: Path, tmp_path: Path) -> None:
    """Two torchruns that meet by rendezvous, as on two machines that see one disk."""
    shape = ["train.updates=12", "train.average=0", "model.dropout=0.1"]
    where = f"127.0.0.1:{free_port()}"
    options = [
        "--nnodes=2",
        "--nproc-per-node=1",
        "--rdzv-backend=c10d",
        "--rdzv-id=1",
        f"--rdzv-endpoint={where}",
    ]
    arguments = settings(corpus, tmp_path / "together", *shape)
    with (
        torchrun(tmp_path, [*options, "--local-addr=127.0.0.1"], arguments) as one,
        torchrun(tmp_path, [*options, "--local-addr=127.0.0.1"], arguments) as other,
    ):
        told = the_rest(one) + the_rest(other)
        assert (one.wait(), other.wait()) == (0, 0), told
    assert told.count("update 5/12") == 1
    alone = train(tiny_config(corpus, tmp_path / "alone", *shape, "train.accumulate=2"))
    assert losses(RunDir(tmp_path / "together")) == pytest.approx(losses(alone), rel=1e-4)
