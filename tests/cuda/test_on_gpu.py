"""What a CPU computes, a GPU computes too: training, search and scores on a real card.

    pytest -m cuda                      # on a machine with an NVIDIA GPU; elsewhere these tests are skipped
    NMT_TEST_DEVICE=cpu pytest -m cuda  # a dry run: the tests themselves, without a GPU

The CPU is the oracle. Products of a GPU may be in TF32 (three digits), so numbers are compared to within a percent or
two, and of many translations a few may differ where two are about as likely.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from conftest import counting_pairs, tiny_config, train
from typer.testing import CliRunner

import nmt
from nmt.cli import app
from nmt.run import checkpoint
from nmt.run.folder import RunDir

DEVICE = os.environ.get("NMT_TEST_DEVICE", "cuda")

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(
        DEVICE == "cuda" and not torch.cuda.is_available(), reason="torch finds no CUDA GPU here"
    ),
]

COURSE = ["train.updates=20", "train.log_every=1", "train.average=0", "train.validate_every=20"]
SENTENCES = [
    "Where is the nearest train station?",
    "Click Save to apply your changes.",
    "The file could not be opened because it is used by another program.",
    "See https://example.org/a?b=1 for details.",
    "I have been waiting here for two hours.",
    "",
    "Good morning.",
]


def losses(run: RunDir) -> list[float]:
    records = map(json.loads, run.metrics.read_text(encoding="utf-8").splitlines())
    return [record["loss"] for record in records if record["kind"] == "train"]


def trained_on(device: str, corpus: Path, folder: Path, *settings: str) -> RunDir:
    return train(tiny_config(corpus, folder, *COURSE, f"train.device={device}", *settings))


def share_of_equal(found: Sequence[object], expected: Sequence[object]) -> float:
    equal = sum(one == other for one, other in zip(found, expected, strict=True))
    return equal / len(expected)


# --- training ---


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_training_has_the_losses_of_the_cpu(corpus: Path, tmp_path: Path, optimizer: str) -> None:
    settings = [f"train.optimizer={optimizer}"]
    expected = losses(trained_on("cpu", corpus, tmp_path / "cpu", *settings))
    found = losses(trained_on(DEVICE, corpus, tmp_path / "gpu", *settings))
    assert found == pytest.approx(expected, rel=0.02)


def test_training_in_bf16_has_about_the_losses_of_fp32(corpus: Path, tmp_path: Path) -> None:
    expected = losses(trained_on(DEVICE, corpus, tmp_path / "fp32"))
    settings = ["train.precision=bf16", "train.compile=off"]  # packed batches are other batches
    found = losses(trained_on(DEVICE, corpus, tmp_path / "bf16", *settings))
    assert found == pytest.approx(expected, rel=0.05)


def test_accumulated_batches_are_one_large_batch(corpus: Path, tmp_path: Path) -> None:
    whole = losses(trained_on(DEVICE, corpus, tmp_path / "whole", "train.accumulate=4"))
    assert len(whole) == 20
    expected = losses(trained_on("cpu", corpus, tmp_path / "cpu", "train.accumulate=4"))
    assert whole == pytest.approx(expected, rel=0.02)


def test_a_stopped_and_resumed_training_goes_on_as_a_straight_one(
    corpus: Path, tmp_path: Path
) -> None:
    straight = trained_on(DEVICE, corpus, tmp_path / "straight", "model.dropout=0.1")
    trained_on(DEVICE, corpus, tmp_path / "resumed", "model.dropout=0.1", "train.updates=10")
    resumed = trained_on(DEVICE, corpus, tmp_path / "resumed", "model.dropout=0.1")
    assert losses(resumed) == pytest.approx(losses(straight), rel=0.001)
    states = [checkpoint.load(run.steps()[-1])[1] for run in (straight, resumed)]
    for name, weights in states[0].items():
        torch.testing.assert_close(states[1][name], weights, rtol=0.01, atol=1e-3)


# --- translating ---


def load(device: str, model: str | Path = "pretrained", **search: object) -> nmt.Translator:
    return nmt.load(model, engine="torch", device=device, precision="fp32", search=search)


@pytest.mark.parametrize("beams", [1, 5])
def test_the_model_in_the_box_translates_as_on_the_cpu(beams: int) -> None:
    expected = load("cpu", beam_size=beams).translate(SENTENCES)
    found = load(DEVICE, beam_size=beams).translate(SENTENCES)
    assert [each.text for each in found] == [each.text for each in expected]
    scores = [each.score for each in expected if each.score is not None]
    assert [each.score for each in found if each.score is not None] == pytest.approx(
        scores, rel=0.01, abs=0.01
    )


def test_hundreds_of_lines_in_batches_are_translated_as_on_the_cpu(trained: RunDir) -> None:
    lines = [english for english, _ in counting_pairs(400, seed=11)]
    expected = [each.text for each in load("cpu", trained.path).translate(lines)]
    found = [each.text for each in load(DEVICE, trained.path).translate(lines)]
    assert share_of_equal(found, expected) > 0.99


def test_bf16_translates_nearly_as_fp32() -> None:
    exact = load(DEVICE).translate(SENTENCES)
    in_bf16 = nmt.load("pretrained", engine="torch", device=DEVICE, precision="bf16")
    assert (
        share_of_equal(
            [each.text for each in in_bf16.translate(SENTENCES)], [each.text for each in exact]
        )
        >= 0.7
    )


def test_samples_with_a_seed_are_the_same_each_time(trained: RunDir) -> None:
    search = {"method": "sample", "seed": 7, "n_best": 3}
    lines = [english for english, _ in counting_pairs(40, seed=12)]
    first, second = (load(DEVICE, trained.path, **search).translate(lines) for _ in range(2))
    assert first == second
    expected = load("cpu", trained.path, **search).translate(lines)
    assert share_of_equal([each.text for each in first], [each.text for each in expected]) > 0.9


def test_an_ensemble_and_a_translation_memory_take_part(trained: RunDir, corpus: Path) -> None:
    lines = [english for english, _ in counting_pairs(20, seed=13)]
    for options in ({"ensemble": [trained.path]}, {"memory": trained.path}):
        texts = []
        for device in ("cpu", DEVICE):
            translator = nmt.load(
                trained.path, engine="torch", device=device, precision="fp32", **options
            )
            texts.append([each.text for each in translator.translate(lines)])
        assert share_of_equal(texts[1], texts[0]) > 0.9


# --- the commands ---


def run_on(device: str, *words: object, stdin: str = "") -> str:
    options = ["--device", device, "--precision", "fp32"]
    done = CliRunner().invoke(app, [*map(str, words), *options], input=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_scores_of_given_translations_are_those_of_the_cpu(trained: RunDir, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in counting_pairs(30, seed=14)), "utf-8")
    command = ["score", "-m", trained.path, "--input", pairs, "-q"]
    expected = [float(line) for line in run_on("cpu", *command).split()]
    found = [float(line) for line in run_on(DEVICE, *command).split()]
    assert found == pytest.approx(expected, rel=0.02, abs=0.02)


def test_evaluating_gives_the_scores_of_the_cpu(trained: RunDir) -> None:
    command = ["evaluate", "-m", trained.path, "-q", "--json"]
    scores = [json.loads(run_on(device, *command))["scores"] for device in ("cpu", DEVICE)]
    assert set(scores[1]) == {"bleu", "bleu_width", "chrf"}
    for metric, score in scores[0].items():
        assert scores[1][metric]["value"] == pytest.approx(score["value"], abs=1)
