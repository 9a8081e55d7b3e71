"""Run folders made of a few files, without training: what reports read."""

import json
import time
from pathlib import Path

from conftest import tiny_config

from nmt.config.load import dump
from nmt.config.yaml_values import dump_yaml
from nmt.run.folder import RunDir

START = 1_790_000_000.0  # seconds since 1970


def made_run(folder: Path, loss: float = 5.0, resumed: int | None = None) -> RunDir:
    """A run of 400 updates, one a second, validated every 100; perhaps interrupted for an hour after an update."""
    run = RunDir(folder)
    folder.mkdir(parents=True)
    run.config.write_text(dump_yaml(dump(tiny_config(Path("nowhere"), folder))), encoding="utf-8")
    records = []
    log = []
    for update in range(1, 401):
        pause = 3600.0 if resumed is not None and update > resumed else 0.0
        at = START + update + pause
        if update == 1 or update % 50 == 0:
            values = {"loss": loss / update, "lr": 0.001, "tokens_per_second": 1000.0}
            records.append({"kind": "train", "update": update, "time": at, **values})
        if update % 100 == 0:
            values = {"loss": loss / update, "bleu": update / 10, "chrf": update / 20}
            records.append({"kind": "dev", "update": update, "time": at, **values})
        if update == resumed:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at + 3600))
            log.append(f"{stamp} resuming after update {update:,}\n")
    run.metrics.write_text("".join(json.dumps(record) + "\n" for record in records))
    run.log.write_text("".join(log))
    run.best.write_text("step-00000300\n")
    return run
