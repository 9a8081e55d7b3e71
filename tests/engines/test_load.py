import re
import shutil
from pathlib import Path

import pytest
import torch
from conftest import ready, tiny_config

from nmt import files
from nmt.commands.shell.trained_run import find_run
from nmt.engines.decoder import Decoder
from nmt.errors import ModelError
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.choice import load_checkpoint
from nmt.run.folder import RunDir
from nmt.run.ownership import write_latest
from nmt.run.sides import load_side
from nmt.train.start.initialise import initialise
from nmt.translate.opening import load_translator
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator


@pytest.fixture
def run(corpus: Path, tmp_path: Path) -> RunDir:
    """A run with two checkpoints of different weights."""
    config = tiny_config(corpus, tmp_path / "run")
    run = ready(config)
    for update in (1, 2):
        keep(run, corpus, update)
    return run


def keep(run: RunDir, corpus: Path, update: int) -> tuple[Path, Transformer]:
    config = tiny_config(corpus, run.path)
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    torch.manual_seed(update)
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab))
    initialise(model)
    meta = checkpoint.Meta(update, (src.fingerprint(), tgt.fingerprint()))
    return checkpoint.save(
        run, checkpoint.step_name(update), checkpoint.parameters_of(model), meta
    ), model


LINES = ["one two.", "", "nine eight seven six."]


def test_the_model_loaded_is_the_best_else_the_last(
    run: RunDir,
    corpus: Path,
) -> None:
    config = tiny_config(corpus, run.path)
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    (first, one), (_, two) = (keep(run, corpus, update) for update in (1, 2))
    by_one, by_two = (
        Translator(
            Decoder(model, src, tgt, "fp32"), config.search, config.prepare.augment
        ).translate(LINES)
        for model in (one, two)
    )
    assert by_one != by_two

    def loaded() -> list[Translation]:
        return load_translator(config, run, "cpu", "fp32").translate(LINES)

    assert loaded() == by_two
    checkpoint.mark_best(run, first)
    assert loaded() == by_one


@pytest.mark.parametrize("name", ["src", "tgt"])
def test_a_checkpoint_of_other_vocabularies_is_refused_by_name(
    run: RunDir, corpus: Path, name: str
) -> None:
    vocab = run.path / f"vocab.{name}.tsv"
    vocab.write_text(vocab.read_text("utf-8") + "new\t1\n", "utf-8")
    with pytest.raises(ModelError, match=f"step-00000002: trained with another {name} vocabulary"):
        load_translator(tiny_config(corpus, run.path), run, "cpu", "fp32")


def test_a_run_that_holds_nothing_but_averages_needs_no_mark(
    run: RunDir,
) -> None:
    one, two = run.steps()
    one.rename(run.checkpoints / "average-00000001")
    last = two.rename(run.checkpoints / "average-00000002")
    assert not run.best.exists()
    assert load_checkpoint(run)[0] == last


def test_a_run_without_checkpoints_says_how_to_get_one(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="no trained model here; run nmt train, or name a trained run"
    ):
        load_translator(tiny_config(corpus, tmp_path), RunDir(tmp_path))


# --- a training at work in the run ---


def test_a_checkpoint_that_is_deleted_while_it_is_read_gives_way_to_the_best_from_then_on(
    run: RunDir, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = run.steps()
    checkpoint.mark_best(run, first)
    load_weights = checkpoint.load_weights

    def train_meanwhile(folder: Path) -> checkpoint.Weights:
        if folder == first:  # its meta.json is read already
            checkpoint.mark_best(run, second)
            checkpoint.prune(run, [])
        return load_weights(folder)

    monkeypatch.setattr(checkpoint, "load_weights", train_meanwhile)
    said: list[str] = []
    warned: list[str] = []
    config = tiny_config(corpus, run.path)
    load_translator(config, run, "cpu", "fp32", warn=warned.append, say=said.append)
    assert said == [f"nmt: model {second}, fp32 on cpu"]
    assert warned == []
    assert not first.exists()


def test_a_best_that_is_deleted_after_its_name_is_read_gives_way_to_the_next(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = run.steps()
    checkpoint.mark_best(run, second)
    marked = iter([first.name, second.name])
    shutil.rmtree(first)
    monkeypatch.setattr(checkpoint, "_marked", lambda _run: next(marked))
    assert checkpoint.best(run) == second


def test_what_is_renamed_while_a_run_is_looked_through_is_passed_over(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = files._children

    def renamed_meanwhile(folder: Path) -> list[Path]:
        return [*children(folder), folder / "step-00000099", folder / ".step-00000100.x.part"]

    monkeypatch.setattr(files, "_children", renamed_meanwhile)
    find_run(run.path, None, [])


def test_a_damaged_best_checkpoint_is_warned_of_once(run: RunDir, corpus: Path) -> None:
    second = run.steps()[-1]
    checkpoint.mark_best(run, second)
    (second / checkpoint.WEIGHTS).write_bytes(b"damaged")
    warned: list[str] = []
    load_translator(tiny_config(corpus, run.path), run, "cpu", "fp32", warned.append)
    assert len(warned) == 1
    assert f"{second / checkpoint.WEIGHTS}: truncated or changed" in warned[0]


# --- a checkpoint by its name ---


def test_a_run_can_be_named_by_one_of_its_checkpoints(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = run.steps()
    checkpoint.mark_best(run, second)
    said: list[str] = []
    load_translator(*find_run(first, None, []), "cpu", "fp32", say=said.append)
    monkeypatch.setenv("NMT_MODEL", str(first))
    load_translator(*find_run(None, None, []), "cpu", "fp32", say=said.append)
    assert said == [
        f"nmt: model {first}, fp32 on cpu",
        f"nmt: model {first} (named by $NMT_MODEL), fp32 on cpu",
    ]


def test_a_checkpoint_that_is_asked_for_is_not_replaced_by_another(
    run: RunDir,
) -> None:
    first, _second = run.steps()
    with pytest.raises(
        ModelError, match=r"step-00000007: no such checkpoint; .* has step-00000001"
    ):
        find_run(run.checkpoints / "step-00000007", None, [])
    (first / checkpoint.WEIGHTS).write_bytes(b"damaged")
    with pytest.raises(ModelError, match="truncated or changed"):
        load_translator(*find_run(first, None, []))


@pytest.mark.parametrize(
    ("name", "message"), [("gone", "does not exist"), (".", "not a run folder")]
)
def test_an_error_says_where_the_name_of_the_run_came_from(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_latest(RunDir(Path(name)))
    with pytest.raises(ModelError, match=re.escape(f"{name} (named by runs/latest): {message}")):
        find_run(None, None, [])
    monkeypatch.setenv("NMT_MODEL", name)
    with pytest.raises(ModelError, match=re.escape(f"{name} (named by $NMT_MODEL): {message}")):
        find_run(None, None, [])
