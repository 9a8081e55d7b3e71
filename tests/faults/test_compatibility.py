"""Runs that earlier versions trained: loaded, translating the same, gone on with; later formats refused politely."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt.cli import app
from nmt.config.load import load_config
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.translate.opening import load_translator

KEPT = sorted(
    path
    for path in (Path(__file__).resolve().parents[1] / "compatibility").iterdir()
    if path.is_dir()
)
every_version = pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@every_version
def test_the_run_translates_as_it_did(kept: Path) -> None:
    run = RunDir(kept / "run")
    translator = load_translator(load_config(run.config), run, "cpu", "fp32")
    translations = [
        translation.text for translation in translator.translate(lines(kept / "source.en"))
    ]
    assert translations == lines(kept / "translated.zh")
    assert sum(bool(text) for text in translations) >= 4  # there is something to compare


@every_version
def test_the_run_is_gone_on_with(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDir(Path(shutil.copytree(kept / "run", tmp_path / "run")))
    update = checkpoint.read_meta(run.steps()[-1]).update
    again = [
        "train",
        "--config",
        str(run.config),
        f"run_dir={run.path}",
        f"train.updates={update + 2}",
    ]
    done = CliRunner().invoke(app, again)
    assert done.exit_code == 0, done.output
    assert f"resuming after update {update:,}" in done.stderr
    assert checkpoint.read_meta(run.steps()[-1]).update == update + 2


@every_version
def test_the_run_is_small(kept: Path) -> None:
    assert sum(path.stat().st_size for path in kept.rglob("*") if path.is_file()) < 300_000


@pytest.mark.parametrize(
    "command", [["translate", "--model"], ["evaluate", "--model"], ["train", "--config"]]
)
def test_a_later_format_is_refused_and_left_alone(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = RunDir(Path(shutil.copytree(KEPT[-1] / "run", tmp_path / "run")))
    folder = run.steps()[-1]
    meta = json.loads((folder / checkpoint.META).read_text())
    del meta["seal"]
    later = {**meta, "format": checkpoint.FORMAT + 1, "something": "new"}
    (folder / checkpoint.META).write_text(json.dumps(later | {"seal": checkpoint._seal(later)}))
    target = [str(run.config), f"run_dir={run.path}"] if command[0] == "train" else [str(run.path)]
    done = CliRunner().invoke(app, [*command, *target], input="one.\n")
    assert done.exit_code == 5, done.output
    last = done.stderr.splitlines()[-1]
    assert (
        f"{folder}: written in format {checkpoint.FORMAT + 1}, but this nmt reads {checkpoint.FORMAT}"
        in last
    )
    assert "install the nmt that wrote it" in last
    assert json.loads((folder / checkpoint.META).read_text())["format"] == checkpoint.FORMAT + 1
