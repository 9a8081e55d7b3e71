"""Runs that were cut short, overwritten or robbed of files: one line names the file, what is wrong and the fix."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import invoke
from report_runs import made_run
from typer.testing import Result

from nmt.run.folder import RunDir

LAST = "checkpoints/step-00000600"
Damage = Callable[[Path], object]


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def binary(path: Path) -> None:
    path.write_bytes(bytes(range(128, 256)) * 3)


def a_list(path: Path) -> None:
    path.write_text("[1, 2]")


def strangely_filled(path: Path) -> None:
    """The right keys, and nonsense in them."""
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), "nonsense")))


def shorter(path: Path) -> None:
    *lines, _last = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines), "utf-8")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def gone(path: Path) -> None:
    path.unlink()


CHECKPOINT = "restore it from a copy, or use another checkpoint"
REPORT = "restore it from a copy, or move it away: the model translates without it"
VOCABULARY = "restore it from a copy, or run nmt build-vocab"


@pytest.fixture
def copy(trained: RunDir, tmp_path: Path) -> RunDir:
    return RunDir(Path(shutil.copytree(trained.path, tmp_path / "copy")))


def looked_at(run: RunDir) -> list[Result]:
    return [
        invoke("info", run.path),
        invoke("report", "-m", run.path, "--json", "--attention", 0, "-q"),
    ]


@pytest.mark.parametrize(
    ("name", "damage", "code", "what", "fix"),
    [
        (f"{LAST}/meta.json", cut, 5, "damaged (", CHECKPOINT),
        (f"{LAST}/meta.json", emptied, 5, "damaged (", CHECKPOINT),
        (f"{LAST}/meta.json", binary, 5, "damaged (", CHECKPOINT),
        (f"{LAST}/meta.json", a_list, 5, "missing or damaged (no JSON object)", CHECKPOINT),
        (f"{LAST}/meta.json", a_folder, 5, "missing or damaged (Is a directory)", CHECKPOINT),
        (f"{LAST}/meta.json", gone, 5, "missing or damaged (No such file", CHECKPOINT),
        (f"{LAST}/meta.json", strangely_filled, 5, "changed since it was written", CHECKPOINT),
        (f"{LAST}/model.safetensors", cut, 5, "not whole safetensors (", CHECKPOINT),
        (f"{LAST}/model.safetensors", emptied, 5, "not whole safetensors (", CHECKPOINT),
        (f"{LAST}/model.safetensors", gone, 5, "not whole safetensors (No such file", CHECKPOINT),
        ("prepare.json", cut, 5, "damaged (", REPORT),
        ("prepare.json", emptied, 5, "damaged (", REPORT),
        ("prepare.json", a_list, 5, "damaged (no JSON object)", REPORT),
        ("prepare.json", a_folder, 5, "damaged (Is a directory)", REPORT),
        ("vocab.json", binary, 5, "damaged (", REPORT),
        ("vocab.src.tsv", cut, 5, "the line is cut off", VOCABULARY),
        ("vocab.src.tsv", emptied, 5, ":1: does not begin with <pad>", VOCABULARY),
        ("vocab.tgt.tsv", shorter, 5, "tokens, but vocab.json says", "restore it from a copy"),
        ("vocab.tgt.tsv", gone, 5, "missing", VOCABULARY),
        ("config.yaml", emptied, 2, "has no section 'model'", "restore it from a copy"),
        ("config.yaml", binary, 2, "byte 0 is not UTF-8", "save the file as UTF-8"),
        (
            "config.yaml",
            gone,
            5,
            "not a run folder (no config.yaml)",
            "name another run with --model",
        ),
    ],
)
def test_a_damaged_file_of_a_run_is_one_line(
    name: str, damage: Damage, code: int, what: str, fix: str, copy: RunDir
) -> None:
    damage(copy.path / name)
    for done in looked_at(copy):
        assert done.exit_code == code, done.output
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        place = copy.path if damage is gone and name == "config.yaml" else copy.path / name
        assert line.startswith(f"nmt: {place}:")
        assert what in line
        assert fix in line


@pytest.mark.parametrize("name", ["prepare.json", "vocab.json"])
def test_what_a_damaged_report_s_line_says_is_true(name: str, copy: RunDir) -> None:
    """The fix is to move it away."""
    (copy.path / name).unlink()
    assert [done.exit_code for done in looked_at(copy)] == [0, 0]


@pytest.mark.parametrize("name", ["prepare.json", "vocab.json"])
def test_nonsense_under_the_right_keys_is_no_traceback(name: str, copy: RunDir) -> None:
    strangely_filled(copy.path / name)
    assert [done.exit_code for done in looked_at(copy)] == [0, 0]


@pytest.mark.parametrize("damage", [cut, emptied, binary])
def test_a_best_that_names_nothing_is_told_and_the_last_checkpoint_taken(
    damage: Damage, copy: RunDir
) -> None:
    damage(copy.best)
    for done in looked_at(copy):
        assert done.exit_code == 0
        assert done.stderr == (
            f"nmt: warning: {copy.best}: the checkpoint that it names is missing; showing the last one\n"
        )
        assert "step-00000600" in done.stdout


def test_half_written_metrics_are_told_and_the_whole_lines_shown(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    run.best.unlink()
    content = run.metrics.read_text()
    whole = content.count("\n") - 1
    run.metrics.write_text(content[:-20])
    done = invoke("report", "-m", run.path, "--json", "-q")
    assert done.exit_code == 0
    assert done.stderr == (
        f"nmt: warning: {run.metrics}: 1 line of it, first line {whole + 1}, left out: "
        "no JSON object, or not a whole one\n"
    )
    curves = json.loads(done.stdout)["runs"][0]["course"]["curves"]
    assert len(curves["train loss"]["updates"]) == 9
    assert len(curves["dev loss"]["updates"]) == 3


@pytest.mark.parametrize("name", ["a.html", "a.json", "a.tsv"])
def test_a_file_of_no_run_is_told_so(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("<html>\n")
    done = invoke("info", path)
    assert done.exit_code == 5
    assert "neither a run folder nor a file in one" in done.stderr
    assert done.stderr.count("\n") == 1
