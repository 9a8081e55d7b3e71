from pathlib import Path

import pytest
import torch
from conftest import ready, tiny_config

from nmt import checkpoint
from nmt.errors import ModelError
from nmt.model.initialise import initialise
from nmt.model.transformer import Transformer
from nmt.run_dir import RunDir
from nmt.text.side import load_side
from nmt.translate.load import load_translator
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator


@pytest.fixture
def untrained(corpus: Path, tmp_path: Path) -> tuple[RunDir, Path]:
    """A run with two checkpoints of different weights; gives the corpus too."""
    config = tiny_config(corpus, tmp_path / "run")
    run = ready(config)
    for update in (1, 2):
        keep(run, corpus, update)
    return run, corpus


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
    untrained: tuple[RunDir, Path],
) -> None:
    run, corpus = untrained
    config = tiny_config(corpus, run.path)
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    (first, one), (_, two) = (keep(run, corpus, update) for update in (1, 2))
    by_one, by_two = (
        Translator(model, src, tgt, config.search, "fp32", config.prepare.augment).translate(LINES)
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
    untrained: tuple[RunDir, Path], name: str
) -> None:
    run, corpus = untrained
    vocab = run.path / f"vocab.{name}.tsv"
    vocab.write_text(vocab.read_text("utf-8") + "new\t1\n", "utf-8")
    with pytest.raises(ModelError, match=f"step-00000002: trained with another {name} vocabulary"):
        load_translator(tiny_config(corpus, run.path), run, "cpu", "fp32")


def test_a_run_without_checkpoints_says_how_to_get_one(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="no trained model here; run nmt train, or name a run with --model"
    ):
        load_translator(tiny_config(corpus, tmp_path), RunDir(tmp_path))
