"""Checkpoints: nothing in them is executed."""

from pathlib import Path

import pytest
import torch
from conftest import tiny_config, train
from damage import Exploit, rewrite_meta

from nmt.errors import ModelError
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.int8_weights import rounded_to_int8, values_of_int8


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


def test_an_error_that_is_not_of_the_disk_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr("torch.save", fail)
    meta = checkpoint.Meta(1, ("a", "b"))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        checkpoint.save(RunDir(tmp_path), "step-00000001", {"w": torch.ones(2)}, meta, training={})
    assert not RunDir(tmp_path).steps()


def test_a_row_of_zeros_is_rounded_to_zeros() -> None:
    weights = {"w": torch.tensor([[0.0, 0.0], [1.0, -2.0]]), "b": torch.tensor([0.5])}
    stored = rounded_to_int8(weights)
    assert stored["w"].tolist() == [[0, 0], [64, -127]]
    restored = values_of_int8(stored)
    assert restored.keys() == weights.keys()
    assert restored["w"][0].tolist() == [0.0, 0.0]
    assert restored["w"][1].tolist() == pytest.approx([64 * 2 / 127, -2.0])
    assert torch.equal(restored["b"], weights["b"])


@pytest.mark.parametrize("scales", [None, torch.ones(3), torch.ones(2, 1)])
def test_whole_numbers_without_their_scales_are_refused(scales: torch.Tensor | None) -> None:
    stored = rounded_to_int8({"w": torch.ones(2, 4)})
    del stored["w.scale"]
    if scales is not None:
        stored["w.scale"] = scales
    with pytest.raises(ModelError, match="'w' is in int8, but its scales are missing or do not"):
        values_of_int8(stored)
