"""--ensemble as a user types it: which models decide, what is refused, and what reports say of it."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import invoke

from nmt.commands.translation.files import Job, model_of
from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.engines.base import EngineRequest
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.trained import TrainedRun
from nmt.translate.formats import written
from nmt.translate.opening import load_translator

LINES = ["one two.", "three four five.", "", "nine seven one."]


@pytest.fixture
def english(tmp_path: Path) -> Path:
    file = tmp_path / "in.en"
    file.write_text("".join(f"{line}\n" for line in LINES))
    return file


def weights_of(run: RunDir) -> str:
    best = checkpoint.best(run)
    assert best is not None
    return checkpoint.weights_hash(best)


def test_the_models_decide_together(trained: RunDir, trained_20: RunDir, english: Path) -> None:
    common = ["translate", "--precision", "fp32", "-i", english, "--format", "scores"]
    done = invoke(*common, "-m", trained.path, "--ensemble", trained_20.path)
    assert done.exit_code == 0, done.stderr
    config = load_config(trained.config)
    other = (load_config(trained_20.config), trained_20)
    both = load_translator(config, trained, precision="fp32", others=[other])
    assert done.stdout == written("scores", both.translate(LINES), 1)
    best, best_20 = checkpoint.best(trained), checkpoint.best(trained_20)
    assert f"nmt: models {best} and {best_20}, fp32 on cpu\n" in done.stderr
    alone = [invoke(*common, "-m", run.path).stdout for run in (trained, trained_20)]
    assert done.stdout not in alone
    # So --resume does not go on with what other models have begun.
    assert both.fingerprint() != load_translator(config, trained, precision="fp32").fingerprint()


def test_checkpoints_of_one_run_can_be_an_ensemble(trained_20: RunDir, english: Path) -> None:
    first, second = trained_20.steps()
    common = ["translate", "-m", first, "--precision", "fp32", "-i", english, "--format", "scores"]
    done = invoke(*common, "--ensemble", second, "--ensemble", first)
    assert done.exit_code == 0, done.stderr
    assert f"nmt: models {first}, {second} and {first}, fp32 on cpu\n" in done.stderr
    assert done.stdout != invoke(*common, "--ensemble", second).stdout


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_models_of_other_vocabularies_are_refused_by_name(trained: RunDir, command: str) -> None:
    done = invoke(command, "-m", trained.path, "--ensemble", "pretrained")
    assert done.exit_code == 5
    assert f"has another src vocabulary than {checkpoint.best(trained)}; " in done.stderr
    assert "name runs that were trained on the same corpora" in done.stderr


def test_a_run_that_is_not_there_is_to_be_named_with_the_same_option(trained: RunDir) -> None:
    done = invoke("evaluate", "-m", trained.path, "--ensemble", "nowhere")
    assert done.exit_code == 5
    assert done.stderr == "nmt: nowhere: does not exist; name another with --ensemble\n"


def test_an_ensemble_has_no_alignments(trained: RunDir) -> None:
    options = ["--ensemble", trained.path, "--format", "jsonl", "--alignments"]
    done = invoke("translate", "-m", trained.path, *options)
    assert done.exit_code == 2
    assert "--alignments does not go with --ensemble" in done.stderr
    assert done.stdout == ""


def test_translations_in_a_file_have_no_ensemble(tmp_path: Path) -> None:
    file = tmp_path / "a.zh"
    file.write_text("一。\n")
    done = invoke("evaluate", "--hyp", file, "--ref", file, "--ensemble", "anything")
    assert done.exit_code == 2
    assert "--hyp is scored as it is: leave out --ensemble" in done.stderr


def test_the_scores_of_an_ensemble_name_all_its_models_and_are_nobodys_own(
    trained: RunDir, trained_20: RunDir, tmp_path: Path
) -> None:
    history = tmp_path / "scores.jsonl"
    common = ["-m", trained.path, "--history", history, "--quiet"]
    done = invoke("evaluate", *common, "--ensemble", trained_20.path)
    assert done.exit_code == 0, done.stderr
    record = json.loads(history.read_text())
    assert record["weights"] == weights_of(trained)
    [other] = record["ensemble"]
    assert other == {
        "model": str(trained_20.path),
        "checkpoint": "step-00000020",
        "step": 20,
        "weights": weights_of(trained_20),
    }
    noted = invoke("info", trained.path, "--history", history, "--json")
    assert {score["of"] for score in json.loads(noted.stdout)["scores"]} == {"dev"}


def test_lines_that_any_of_the_models_was_trained_on_are_a_doubt(
    trained: RunDir, trained_20: RunDir, tmp_path: Path
) -> None:
    innocent = RunDir(Path(shutil.copytree(trained.path, tmp_path / "innocent")))
    # Keys of no sentence: as if it had been trained on another text.
    innocent.train_keys.write_bytes(b"")
    files = ["--src", trained.text("train", "en"), "--ref", trained.text("train", "zh")]
    common = ["evaluate", "-m", innocent.path, *files, "--beam-size", 1, "--json"]
    alone = json.loads(invoke(*common).stdout)
    both = json.loads(invoke(*common, "--ensemble", trained_20.path).stdout)
    assert alone["lines_in_train"] == 0
    assert both["lines_in_train"] > 100

    innocent.train_keys.unlink()
    assert json.loads(invoke(*common).stdout)["lines_in_train"] is None
    known = json.loads(invoke(*common, "--ensemble", trained_20.path).stdout)
    assert known["lines_in_train"] == both["lines_in_train"]
    assert any("the model was trained on" in warning for warning in known["warnings"])


def test_workers_on_ray_find_all_models_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    others = (TrainedRun(Config(), RunDir.at(Path("b/checkpoints/step-00000001"))),)
    computing = EngineRequest("torch", "cpu", "auto", others)
    job = Job(Config(), RunDir(Path("a")), computing, "text", False, "error", quiet=True)
    [(_, other)] = model_of(job).computing.others
    assert other.path == tmp_path / "b"
    assert other.checkpoint == tmp_path / "b" / "checkpoints" / "step-00000001"
