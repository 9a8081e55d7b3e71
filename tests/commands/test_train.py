"""nmt train, as a user types it."""

import errno
import signal
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import TextIO

import pytest
from conftest import TINY, run_nmt, write_corpus
from loaded import Loaded
from trainings import settings
from typer.testing import CliRunner

from nmt.cli import app
from nmt.commands.shell.streams import LastingStream


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training notes itself in runs/latest of the current folder: that of a clone is not the tests'."""
    monkeypatch.chdir(tmp_path)


def test_a_full_disk_while_saving_is_one_line_and_leaves_what_was_whole(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    asked = settings(corpus, tmp_path / "run", "train.validate_every=1000")
    assert run_nmt("train", *asked, "train.updates=2", cwd=tmp_path).returncode == 0
    limit = 200_000  # bytes of a file: less than the model has
    command = ["train", *asked, "train.updates=20"]
    full = Loaded(command, cwd=tmp_path, stderr=PIPE, text=True, largest_file=limit)
    _, told = full.communicate()
    assert full.returncode == 1
    assert "Traceback" not in told
    checkpoints = tmp_path / "run" / "checkpoints"
    assert told.splitlines()[-1].startswith(
        f"nmt: {checkpoints / 'step-00000010'}: the checkpoint cannot be written (File too large)"
    )
    assert [path.name for path in checkpoints.iterdir()] == ["step-00000002"]
    assert run_nmt("translate", "-m", tmp_path / "run", stdin="one.\n").returncode == 0


def test_interrupting_training_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    asked = settings(corpus, tmp_path / "run")
    watched = [*asked, "train.updates=100000", "train.log_every=1"]
    process = Loaded(["train", *watched], stderr=PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    before = []
    for line in process.stderr:
        before.append(line)
        if "update 3/" in line:
            break
    else:
        pytest.fail(f"it ended by itself: {''.join(before)}")
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(timeout=60) == 130
    process.stderr.close()
    assert "nmt: SIGINT: saved after update" in rest
    saved = int(rest.split("saved after update ")[1].split(";")[0])
    done = run_nmt("train", *asked, f"train.updates={saved + 1}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"resuming after update {saved}" in done.stderr.decode()


def test_a_reader_of_the_log_that_goes_away_costs_nothing(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    asked = settings(corpus, tmp_path / "run", "train.log_every=1")
    process = Loaded(["train", *asked], stdout=PIPE, stderr=STDOUT, cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=100) == 0
    log = (tmp_path / "run" / "train.log").read_text()
    assert "update 20/20" in log
    assert "trained 20 updates" in log
    assert run_nmt("translate", "-q", "-m", tmp_path / "run", stdin="one.\n").returncode == 0


@pytest.mark.parametrize("fault", [errno.EPIPE, errno.EIO])
def test_a_terminal_or_pipe_that_is_gone_takes_no_more(fault: int, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        gone = LastingStream(FailingStream(file, fault))
        print("one", file=gone, flush=True)
        print("two", file=gone, flush=True)
    assert (tmp_path / "file").read_text() == ""


class FailingStream:
    """A stream whose reader has gone."""

    def __init__(self, file: TextIO, fault: int) -> None:
        self.fileno = file.fileno
        self.fault = fault

    def write(self, _text: str) -> int:
        raise OSError(self.fault, "gone")

    def flush(self) -> None:
        raise OSError(self.fault, "gone")


def test_a_quiet_training_says_nothing_and_its_log_says_all(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    tiny = [setting for setting in TINY if not setting.startswith("train.device")]
    asked = [f"data.path={corpus}", f"run_dir={tmp_path / 'run'}", *tiny]
    done = CliRunner().invoke(app, ["train", "--quiet", *asked, "--device", "cpu"])
    assert (done.exit_code, done.output) == (0, "")
    assert "update 20/20" in (tmp_path / "run" / "train.log").read_text()


def test_a_quiet_training_warns_and_fails_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "corpus")
    asked = ["train", "-q", f"data.path={corpus}", "run_dir=run", *TINY, "train.average=0"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    (tmp_path / "run/checkpoints/step-00000020/model.safetensors").write_bytes(b"")
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0
    warning = "run/checkpoints/step-00000020/model.safetensors: truncated or changed"
    assert done.output.startswith(f"nmt: warning: {warning}")
    assert done.output.count("\n") == 1
    assert f"warning: {warning}" in (tmp_path / "run" / "train.log").read_text()
    done = CliRunner().invoke(app, [*asked, "model.d_ff=32"])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1


def test_vectors_that_are_missing_are_told_before_the_corpora_are_prepared(
    tmp_path: Path,
) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    asked = settings(corpus, tmp_path / "run")
    done = CliRunner().invoke(app, ["train", *asked, "model.tgt_vectors=gone.vec"])
    assert done.exit_code == 3
    assert done.output == "nmt: model.tgt_vectors=gone.vec: no such file\n"
    assert not (tmp_path / "run").exists()


def test_without_a_configuration_it_says_how_to_give_one() -> None:
    done = CliRunner().invoke(app, ["train"])
    assert done.exit_code == 2
    assert "no corpus to read; give a configuration with --config FILE" in done.output


@pytest.mark.parametrize("folder", ["..", "/"])
def test_a_folder_of_everything_else_is_no_run_folder(tmp_path: Path, folder: str) -> None:
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    done = run_nmt("train", f"run_dir={folder}", f"data.path={tmp_path}", cwd=here)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"nmt: run_dir={folder}: also holds other files")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", here]


def test_overwriting_says_what_it_deleted(tmp_path: Path, corpus: Path) -> None:
    asked = settings(corpus, tmp_path / "run", "train.updates=10")
    assert run_nmt("train", *asked, cwd=tmp_path).returncode == 0
    done = run_nmt("prepare", "--overwrite", *asked, cwd=tmp_path)
    told = f"nmt: {tmp_path / 'run'}: deleted a training, 1 checkpoint up to step-00000010"
    assert done.stderr.decode().splitlines()[0] == told
