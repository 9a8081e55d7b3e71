"""The mean of the last checkpoints becomes the best, if it is."""

from pathlib import Path

import pytest
import torch
from conftest import dev_losses, tiny_config, train
from in_process import weights_at
from safetensors.torch import load_file

from nmt.run import checkpoint


@pytest.mark.parametrize(("loss", "best"), [(1.0, "average-00000020"), (9.0, "step-00000020")])
def test_the_average_is_kept_only_if_it_scores_better_on_dev(
    loss: float, best: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [3.0, 2.0, loss])
    run = train(tiny_config(corpus, tmp_path / "run"))
    assert checkpoint.best(run) == run.checkpoints / best
    first = weights_at(run, 10)
    second = weights_at(run, 20)
    if best.startswith("average"):
        mean = load_file(run.checkpoints / best / checkpoint.WEIGHTS)
        for key, tensor in mean.items():
            torch.testing.assert_close(tensor, (first[key] + second[key]) / 2)
