"""nmt export nmt: a run folder without what only training needs."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ready, run_nmt
from made_runs import SHARED, made_run
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.config.load import load_config
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.start_from import load_training_config
from nmt.train.distributed import World
from nmt.train.loop import Trainer

LINES = "I like tea.\nSee https://example.org/a for more.\n"


def call(*arguments: object) -> Result:
    """Run a command in this process: torch is loaded already."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def translated(folder: Path) -> list[str]:
    """The lines as the run in a folder translates them."""
    done = run_nmt("translate", "-m", folder, "--precision", "fp32", stdin=LINES)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().splitlines()


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    origin = {"corpora": [{"name": "mine", "licence": "MIT"}]}
    return made_run(corpus, tmp_path_factory.mktemp("runs") / "words", origin=origin)


@pytest.fixture(scope="module")
def copy(run: RunDir, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    folder = tmp_path_factory.mktemp("exported") / "copy"
    done = call("export", "nmt", folder, "-m", run.path, "--quantize", "float32")
    assert done.exit_code == 0, done.output
    return RunDir(folder)


def test_in_float32_it_translates_as_the_run_does(
    run: RunDir, copy: RunDir, tmp_path: Path
) -> None:
    elsewhere = Path(shutil.copytree(copy.path, tmp_path / "elsewhere"))
    assert translated(elsewhere) == translated(run.path)


def test_a_run_of_pieces_has_them(corpus: Path, tmp_path: Path) -> None:
    run = made_run(corpus, tmp_path / "run", *SHARED)
    call("export", "nmt", tmp_path / "copy", "-m", run.path)
    assert len(translated(tmp_path / "copy")) == 2


def test_its_weights_are_in_bfloat16_and_nothing_of_the_corpora_is_in_it(
    run: RunDir, tmp_path: Path
) -> None:
    done = call("export", "nmt", tmp_path / "copy", "-m", run.path)
    assert done.stderr.splitlines()[-1].endswith(
        "MB; nmt translate --model takes it, here and elsewhere"
    )
    copy = RunDir(tmp_path / "copy")
    exact = load_file(run.steps()[0] / checkpoint.WEIGHTS)
    rounded = load_file(copy.steps()[0] / checkpoint.WEIGHTS)
    assert rounded.keys() == exact.keys()
    assert all(torch.equal(rounded[key], exact[key].bfloat16()) for key in exact)
    files = {
        path.relative_to(copy.path).as_posix() for path in copy.path.rglob("*") if path.is_file()
    }
    assert files == {
        "README.md",
        "best",
        "checkpoints/step-00000001/meta.json",
        "checkpoints/step-00000001/model.safetensors",
        "config.yaml",
        "export.json",
        "vocab.src.tsv",
        "vocab.tgt.tsv",
    }


def test_no_file_names_a_folder_of_this_machine(corpus: Path, tmp_path: Path) -> None:
    memory = "search.memory=/home/jane/pairs.tsv"  # it is not there: no export reads it
    settings = ("evaluate.history=scores.jsonl", "search.beam_size=3", memory)
    started = {"checkpoint": "/home/jane/runs/a/checkpoints/step-00000007"}
    origin = {"started_from": started}
    run = made_run(corpus, tmp_path / "jane" / "run", *settings, origin=origin)
    call("export", "nmt", tmp_path / "copy", "-m", run.path)
    for path in (tmp_path / "copy").rglob("*"):
        assert path.is_dir() or b"jane" not in path.read_bytes(), path
    config = load_config(tmp_path / "copy" / "config.yaml")
    assert config.search.beam_size == 3
    assert config.evaluate.history is None
    assert config.search.memory is None
    assert config.data == type(config.data)()


def test_its_checkpoint_keeps_scores_and_licences(run: RunDir, copy: RunDir) -> None:
    ours, theirs = (checkpoint.read_meta(each.steps()[0]) for each in (run, copy))
    assert (theirs.update, theirs.fingerprints, theirs.scores, theirs.provenance) == (
        ours.update,
        ours.fingerprints,
        ours.scores,
        ours.provenance,
    )
    assert "| corpus | licence | source |\n|---|---|---|\n| mine | MIT |  |\n" in readme(copy)


def test_its_page_lists_each_corpus_once_also_of_the_run_that_it_started_from(
    corpus: Path, tmp_path: Path
) -> None:
    mine = {"name": "mine|a", "licence": None, "source": "x\ny"}
    before = {"corpora": [mine, {"name": "old", "licence": "CC0", "source": None}]}
    origin = {"corpora": [mine], "started_from": {"checkpoint": "a/step-1", "origin": before}}
    run = made_run(corpus, tmp_path / "run", origin=origin)
    call("export", "nmt", tmp_path / "copy", "-m", run.path)
    rows = [line for line in readme(RunDir(tmp_path / "copy")).splitlines() if line[:1] == "|"]
    assert rows[2:] == [r"| mine\|a | not stated | x y |", "| old | CC0 |  |"]


def readme(run: RunDir) -> str:
    return (run.path / "README.md").read_text(encoding="utf-8")


def test_a_training_can_start_from_it(corpus: Path, copy: RunDir, tmp_path: Path) -> None:
    settings = [
        f"run_dir={tmp_path / 'more'}",
        f"data.path={corpus}",
        f"train.start_from={copy.path}",
    ]
    config = load_training_config(None, settings)
    model = Trainer(config, ready(config), World(0, 1, torch.device("cpu"))).model
    exact = load_file(copy.steps()[0] / checkpoint.WEIGHTS)
    assert all(
        torch.equal(exact[key], value) for key, value in checkpoint.parameters_of(model).items()
    )


def test_in_int8_it_is_a_quarter_as_large_and_within_half_a_step_of_each_row(
    run: RunDir, copy: RunDir, tmp_path: Path
) -> None:
    small = RunDir(tmp_path / "small")
    done = call("export", "nmt", small.path, "-m", run.path, "--quantize", "int8")
    assert done.exit_code == 0, done.output
    sizes = [(each.steps()[0] / checkpoint.WEIGHTS).stat().st_size for each in (small, copy)]
    assert sizes[0] < 0.35 * sizes[1]
    exact = checkpoint.load_weights(copy.steps()[0])
    rounded = checkpoint.load_weights(small.steps()[0])
    assert rounded.keys() == exact.keys()
    for name, values in exact.items():
        if values.dim() == 2:
            step = values.abs().amax(1, keepdim=True) / 127
            assert ((rounded[name] - values).abs() <= step * 0.501).all()
        else:
            assert torch.equal(rounded[name], values)
    assert len(translated(small.path)) == 2


def test_what_is_exported_in_int8_again_is_the_same(run: RunDir, tmp_path: Path) -> None:
    call("export", "nmt", tmp_path / "once", "-m", run.path, "--quantize", "int8")
    call("export", "nmt", tmp_path / "twice", "-m", tmp_path / "once", "--quantize", "int8")
    once, twice = (
        load_file(RunDir(tmp_path / name).steps()[0] / checkpoint.WEIGHTS)
        for name in ("once", "twice")
    )
    for name, values in once.items():
        if values.dtype == torch.int8:
            assert torch.equal(twice[name], values), name
        else:
            torch.testing.assert_close(twice[name], values, rtol=1e-6, atol=0)


def test_ctranslate2_takes_the_whole_numbers_as_they_are(run: RunDir, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    call("export", "nmt", tmp_path / "small", "-m", run.path, "--quantize", "int8")
    for name, source in (("of exact", run.path), ("of rounded", tmp_path / "small")):
        done = call("export", "ct2", tmp_path / name, "-m", source, "--quantize", "int8")
        assert done.exit_code == 0, done.output
    exact, rounded = (
        np.frombuffer((tmp_path / name / "model.bin").read_bytes(), np.uint8)
        for name in ("of exact", "of rounded")
    )
    assert len(exact) == len(rounded)
    # Scales and norms may differ in the last bit of a number.
    assert (exact != rounded).mean() < 0.01


@pytest.mark.parametrize("numbers", ["int8_float32", "int16"])
def test_other_numbers_are_refused(numbers: str, run: RunDir, tmp_path: Path) -> None:
    done = call("export", "nmt", tmp_path / "copy", "-m", run.path, "--quantize", numbers)
    assert done.exit_code == 2
    assert "nmt takes bfloat16, int8, float16, float32" in done.stderr
    assert not (tmp_path / "copy").exists()


def test_it_is_replaced_only_while_it_is_as_it_was_exported(run: RunDir, tmp_path: Path) -> None:
    arguments = ("export", "nmt", tmp_path / "copy", "-m", run.path)
    assert call(*arguments).exit_code == 0
    assert call(*arguments).exit_code == 2
    assert call(*arguments, "--overwrite").exit_code == 0
    (tmp_path / "copy" / "checkpoints" / "mine").mkdir()
    refused = call(*arguments, "--overwrite")
    assert refused.exit_code == 2
    assert "not as nmt exported it" in refused.stderr
