"""Checkpoints: nothing in them is executed."""

from pathlib import Path

import pytest
import torch
from conftest import tiny_config, train
from damage import Exploit, rewrite_meta

from nmt.errors import ModelError
from nmt.run import checkpoint


def test_no_pickle_is_executed_even_if_its_checksum_is_right(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    folder = train(config).steps()[-1]
    monkeypatch.chdir(tmp_path)
    names = (checkpoint.WEIGHTS, checkpoint.TRAINING)
    for name in names:
        torch.save(Exploit(), folder / name)
    rewrite_meta(folder, sha256={name: checkpoint.checksum(folder / name) for name in names})
    with pytest.raises(ModelError):
        checkpoint.load_weights(folder)
    with pytest.raises(ModelError):
        checkpoint.load_training(folder)
    assert not (tmp_path / "executed").exists()
