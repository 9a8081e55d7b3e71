"""nmt train, as a user types it."""

import resource
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import NMT, TINY, run_nmt, write_corpus


def test_a_full_disk_while_saving_is_one_line_and_leaves_what_was_whole(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    settings = [
        f"data.path={corpus}",
        f"run_dir={tmp_path / 'run'}",
        *TINY,
        "train.validate_every=1000",
    ]
    assert run_nmt("train", *settings, "train.updates=2", cwd=tmp_path).returncode == 0
    limit = 200_000  # bytes of a file: less than the model has
    command = [*NMT, "train", *settings, "train.updates=20"]
    full = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert full.stderr.splitlines()[-1].startswith(
        "nmt: step-00000010: the checkpoint cannot be written"
    )
    checkpoints = tmp_path / "run" / "checkpoints"
    assert [path.name for path in checkpoints.iterdir()] == ["step-00000002"]
    assert run_nmt("translate", "-m", tmp_path / "run", stdin="one.\n").returncode == 0


def test_interrupting_training_saves_and_the_same_command_goes_on(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    settings = [
        f"data.path={corpus}",
        f"run_dir={tmp_path / 'run'}",
        *TINY,
        "train.updates=100000",
        "train.log_every=1",
    ]
    process = subprocess.Popen(
        [*NMT, "train", *settings], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
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
    done = run_nmt("train", *settings[:-2], f"train.updates={saved + 1}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"resuming after update {saved}" in done.stderr.decode()
