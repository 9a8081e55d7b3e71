"""What a run folder allows, and which stages are due."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ready, tiny_config, train, write_corpus

from nmt.commands.shell.trained_run import remember
from nmt.config.load import load_config
from nmt.corpus import stages
from nmt.corpus.identity.contamination import keys_of
from nmt.errors import ConfigError, DataError, UserError
from nmt.files import locked
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.ownership import read_latest
from nmt.train.distributed import World
from nmt.train.loop import Trainer
from nmt.translate.opening import load_translator


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path]:
    """A corpus of its own, and where a run may go."""
    return write_corpus(tmp_path / "corpus", train=60, dev=5, test=5), tmp_path / "run"


def short(data: Path, folder: Path, *more: str) -> tuple[str, ...]:
    return (
        "train.updates=4",
        "train.save_every=2",
        "train.validate_every=4",
        "train.average=0",
        *more,
    )


def test_stages_whose_results_are_current_are_not_run_again(world: tuple[Path, Path]) -> None:
    config = tiny_config(*world, *short(*world))
    run = ready(config)
    said: list[str] = []
    stages.ensure_prepared(config, run, said.append, said.append)
    stages.ensure_vocabularies(config, run, said.append)
    assert said == []


def test_a_changed_corpus_is_prepared_again_before_training_but_not_under_a_trained_model(
    world: tuple[Path, Path],
) -> None:
    data, folder = world
    config = tiny_config(data, folder, *short(*world))
    run = ready(config)
    with (data / "train.en").open("a") as en, (data / "train.zh").open("a") as zh:
        en.write("nine nine nine nine.\n")
        zh.write("九，九，九，九。\n")
    before = run.text("train", "en").read_text()
    train(config)
    assert run.text("train", "en").read_text() != before
    kept = {path: path.read_bytes() for path in [run.vocab("src"), run.text("train", "en")]}
    (data / "train.en").write_text((data / "train.en").read_text().replace("nine", "ten"))
    said: list[str] = []
    stages.ensure_prepared(config, run, said.append, said.append)
    stages.ensure_vocabularies(config, run, said.append)
    effect = "the run keeps the text that it was trained on"
    assert said[0].startswith(f"{run.path}: {data / 'train.en'} has changed; {effect}")
    with pytest.raises(
        ConfigError, match="prepare would replace what its checkpoints were trained"
    ):
        stages.run_prepare(config, run, said.append)
    with pytest.raises(ConfigError, match="build-vocab would replace what its checkpoints were"):
        stages.run_build_vocab(config.model_copy(update={"shared_vocab": True}), run, said.append)
    assert {path: path.read_bytes() for path in kept} == kept
    assert load_translator(config, run).translate(["one."])


def test_the_stages_can_be_repeated_after_the_training_and_do_nothing(
    world: tuple[Path, Path],
) -> None:
    config = tiny_config(*world, *short(*world))
    run = train(config)
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    said: list[str] = []
    stages.run_prepare(config, run, said.append)
    stages.run_build_vocab(config, run, said.append)
    assert said == [
        f"{stage}: {run.path} is trained already: nothing to do"
        for stage in ("prepare", "build-vocab")
    ]
    assert {path: path.read_bytes() for path in before} == before


def test_overwrite_deletes_nothing_for_a_training_that_cannot_begin(
    world: tuple[Path, Path],
) -> None:
    data, folder = world
    run = train(tiny_config(data, folder, *short(*world)))
    with pytest.raises(DataError, match="no such folder"):
        stages.claim(tiny_config(data / "gone", folder, *short(*world)), overwrite=True)
    assert run.steps()


def test_a_configuration_of_something_else_is_not_replaced(
    world: tuple[Path, Path], tmp_path: Path
) -> None:
    foreign = tmp_path / "run" / "config.yaml"
    foreign.parent.mkdir()
    foreign.write_text("services: [web]\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: not as nmt wrote it"):
        stages.claim(tiny_config(*world), overwrite=True)
    assert foreign.read_text() == "services: [web]\n"


def test_two_processes_cannot_work_in_one_run_but_a_dead_one_holds_no_lock(tmp_path: Path) -> None:
    run = RunDir(tmp_path / "run")
    with (
        locked(run.path, run.places()),
        pytest.raises(UserError, match="another process is working"),
        locked(run.path, run.places()),
    ):
        pass
    with locked(run.path, run.places()):
        pass


def test_a_run_with_a_model_but_nothing_to_train_on_says_how_to_train_on(
    world: tuple[Path, Path],
) -> None:
    config = tiny_config(*world, *short(*world))
    run = train(config)
    shutil.rmtree(run.stores)
    message = rf"no encoded text to train it on; .*train\.start_from={run.path}"
    with pytest.raises(DataError, match=message):
        stages.ensure_vocabularies(config, run, lambda _: None)


def test_a_trained_run_goes_on_where_its_corpora_are_gone(world: tuple[Path, Path]) -> None:
    data, folder = world
    config = tiny_config(data, folder, *short(*world))
    run = train(config)
    shutil.rmtree(data)
    stages.ensure_prepared(config, run, lambda _: None, lambda _: None)
    stages.ensure_vocabularies(config, run, lambda _: None)
    longer = tiny_config(data, folder, *short(*world), "train.updates=6")
    Trainer(longer, run, World(0, 1, torch.device("cpu"))).train()
    assert run.steps()[-1].name == checkpoint.step_name(6)


def test_another_configuration_is_refused_by_key_unless_it_only_says_how_to_go_on(
    world: tuple[Path, Path],
) -> None:
    run = train(tiny_config(*world, *short(*world)))
    stages.claim(
        tiny_config(*world, *short(*world), "train.updates=9", "search.beam_size=7"),
        overwrite=False,
    )
    other = tiny_config(*world, *short(*world), "model.d_ff=32", "train.seed=9")
    with pytest.raises(ConfigError, match=r"model.d_ff: 64 → 32; train.seed: 1 → 9"):
        stages.claim(other, overwrite=False)
    assert run.steps()
    stages.claim(other, overwrite=True)
    assert not run.steps()
    assert load_config(run.config) == other


def test_a_damaged_best_checkpoint_is_named_and_the_last_whole_one_translates(
    world: tuple[Path, Path],
) -> None:
    config = tiny_config(*world, *short(*world))
    run = train(config)
    best = checkpoint.best(run)
    assert best is not None
    (best / checkpoint.WEIGHTS).write_bytes(b"damaged")
    warnings: list[str] = []
    assert (
        load_translator(config, run, warn=warnings.append).translate(["one."])[0].source == "one."
    )
    assert str(best) in warnings[0]


def test_the_best_checkpoint_is_marked_again_if_a_crash_came_between(
    world: tuple[Path, Path],
) -> None:
    config = tiny_config(*world, *short(*world))
    run = train(config)
    marked = run.best.read_text()
    run.best.unlink()
    train(config)
    assert run.best.read_text() == marked


def test_the_last_trained_run_is_remembered_once_it_has_a_best_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDir(Path("runs/mine"))
    folder = run.checkpoints / "step-00000001"
    folder.mkdir(parents=True)
    remember(run)
    assert not Path("runs/latest").exists()
    checkpoint.mark_best(run, folder)
    remember(run)
    assert Path("runs/latest").read_text().splitlines()[1:] == ["runs/mine"]
    assert read_latest() == Path("runs/mine")


def test_text_that_has_lost_a_line_is_named(world: tuple[Path, Path]) -> None:
    config = tiny_config(*world)
    run = ready(config)
    lines = run.text("dev", "zh").read_text().splitlines(keepends=True)
    run.text("dev", "zh").write_text("".join(lines[:-1]))
    message = "dev.zh: not of the same number of lines; delete both and run nmt prepare"
    with pytest.raises(DataError, match=message):
        stages.run_build_vocab(config, run, lambda _: None)


def test_prepare_says_in_one_line_which_public_test_sets_stand_in_train(
    world: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data, folder = world
    public = (data / "train.zh").read_text("utf-8").splitlines()
    longest = max(public, key=len)
    monkeypatch.setattr("nmt.corpus.identity.contamination.FOLDER", tmp_path)
    np.save(tmp_path / "wmt24.npy", keys_of([longest * 3, longest]))
    with (data / "train.en").open("a") as en, (data / "train.zh").open("a") as zh:
        en.write("nine nine nine nine.\n")
        zh.write(f"{longest * 3}\n")
    config = tiny_config(data, folder, "prepare.filters=false")
    said: list[str] = []
    run = stages.claim(config, overwrite=False)
    stages.run_prepare(config, run, said.append)
    [line] = [line for line in said if "public" in line and "dropped:" not in line]
    assert line.startswith(
        "prepare: training pairs that are also in public test sets: wmt24 (train 1);"
    )


def test_keys_that_nmt_did_not_write_are_not_replaced(world: tuple[Path, Path]) -> None:
    config = tiny_config(*world)
    run = stages.claim(config, overwrite=False)
    run.data.mkdir()
    run.train_keys.write_text("mine")
    with pytest.raises(ConfigError, match=r"train\.keys: not as nmt wrote it"):
        stages.run_prepare(config, run, lambda _: None)
    assert run.train_keys.read_text() == "mine"


def test_a_table_that_a_spreadsheet_wrote_is_named(world: tuple[Path, Path]) -> None:
    data, folder = world
    table = data / "sheet.tsv"
    table.write_text('"One ""two"" three."\t"一，“二”，三。"\n', encoding="utf-8")
    corpora = f"data.corpora=[{{name: sheet, tsv: {table}}}]"
    config = tiny_config(data, folder, "data.path=null", corpora)
    said: list[str] = []
    stages.run_prepare(config, stages.claim(config, overwrite=False), said.append)
    expected = (
        f"prepare: {table}: columns in a spreadsheet's quotation marks were read without them"
    )
    assert said[0] == expected
