"""The records of a training."""

import json
from pathlib import Path

import pytest
from conftest import tiny_config, train
from in_process import stop_at

from nmt.errors import Interrupted
from nmt.run import checkpoint
from nmt.run.folder import RunDir


def test_metrics_of_updates_that_were_lost_are_written_once_only(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(corpus, tmp_path / "run")
    with monkeypatch.context() as patch:
        stop_at(13, patch)
        with pytest.raises(Interrupted):
            train(config)
    last = RunDir(tmp_path / "run").steps()[-1]
    (last / checkpoint.WEIGHTS).write_bytes(b"damaged")
    run = train(config)
    records = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    updates = [record["update"] for record in records if record["kind"] == "train"]
    assert updates == [1, 5, 10, 15, 20]
