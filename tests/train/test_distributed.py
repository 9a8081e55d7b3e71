"""Two processes train as one."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import TINY
from safetensors.torch import load_file

from nmt import checkpoint
from nmt.run_dir import RunDir

LOSS_TOLERANCE = 1e-5  # sums in another order


def run(arguments: list[str], folder: Path) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def losses(run_dir: Path) -> list[float]:
    records = map(json.loads, (run_dir / "metrics.jsonl").read_text().splitlines())
    return [record["loss"] for record in records if record["kind"] == "train"]


@pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed"
)
def test_two_ranks_equal_one_process_with_the_same_global_batch(
    corpus: Path, tmp_path: Path
) -> None:
    settings = [
        "train",
        f"data.path={corpus}",
        *TINY,
        "train.log_every=1",
        "train.updates=8",
        "train.average=0",
        "model.dropout=0.1",
    ]
    alone = [sys.executable, "-m", "nmt", *settings, "run_dir=alone", "train.accumulate=2"]
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
        f"--master-port={free_port()}",
    ]
    run(alone, tmp_path)
    run([*torchrun, "-m", "nmt", *settings, "run_dir=together"], tmp_path)
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
