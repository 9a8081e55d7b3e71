"""Whatever ends a training, the next `nmt train` goes on, and the result is the same bit for bit.

tests/train/test_trainer.py shows that each of SIGINT, SIGTERM and SIGHUP saves first, and that going
on then gives the same; tests/test_cli.py shows it for Ctrl-C.
"""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

import pytest
from conftest import dev_losses, tiny_config, train, write_corpus
from loaded import Loaded, Script
from trainings import outcome, settings, the_rest, training, wait_for

from nmt.errors import UserError
from nmt.files import locked
from nmt.model.batch import Batch
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.train.update import PendingUpdate, Updater

HERE = Path(__file__).parent


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", train=60, dev=6, test=6)


def killed_at_touches(corpus: Path, folder: Path, kills: int) -> None:
    script = Script(HERE / "killed_at.py")
    process = Loaded([corpus, folder, kills], stdout=PIPE, text=True, main=script)
    said, _ = process.communicate(timeout=3600)
    assert said.splitlines()[-1:] == [str(kills)], said


def test_killed_a_dozen_times_at_touches_of_the_disk_nothing_is_lost(
    small: Path, tmp_path: Path
) -> None:
    killed_at_touches(small, tmp_path, 12)


@pytest.mark.slow
def test_killed_five_hundred_times_at_touches_of_the_disk_nothing_is_lost(
    small: Path, tmp_path: Path
) -> None:
    killed_at_touches(small, tmp_path, 500)


@pytest.mark.slow
def test_killed_a_hundred_times_at_random_moments_nothing_is_lost() -> None:
    command = [sys.executable, str(HERE.parent.parent / "scripts" / "kill.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "100 of 100\n", done.stderr


def test_a_second_interrupt_ends_it_at_once_and_the_last_checkpoint_is_gone_on_from(
    corpus: Path, tmp_path: Path, trained_20: RunDir
) -> None:
    config = tiny_config(corpus, tmp_path / "run", "train.updates=10")
    run = train(config)
    endless = settings(
        corpus, run.path, "train.updates=20", "train.accumulate=100000"
    )  # its next update never ends
    with training(tmp_path, endless) as process:
        wait_for(process, "resuming after update 10")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        assert "nmt: stopped at once; the work since the last checkpoint is lost" in the_rest(
            process
        )
        assert process.wait() == 130
    train(tiny_config(corpus, run.path))
    assert outcome(run) == outcome(trained_20)


def test_a_second_process_is_refused_until_the_first_is_dead_however_it_died(
    corpus: Path, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    with training(tmp_path, settings(corpus, run.path, "train.updates=100000")) as process:
        wait_for(process, "update 10/")
        message = f"{run.path}: another process is working in this folder"
        with pytest.raises(UserError, match=message), locked(run.path, run.places()):
            pass
        process.kill()
        process.wait()
    with locked(run.path, run.places()):
        pass


class Killed(BaseException):
    """As SIGKILL: nothing that handles errors handles it."""


def test_a_training_killed_while_it_averages_averages_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [3.0, 2.0, 1.0])  # of two steps, and of their mean
    straight = train(tiny_config(corpus, tmp_path / "straight"))
    config = tiny_config(corpus, tmp_path / "killed")
    dev_losses(monkeypatch, [3.0, 2.0, 1.0, 1.0])

    def die_at_the_average(_run: RunDir, folder: Path) -> None:
        if "average" in folder.name:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "mark_best", die_at_the_average)
        with pytest.raises(Killed):
            train(config)
    killed = train(config)
    assert killed.best.read_text() == "average-00000020\n"
    assert outcome(killed) == outcome(straight)


def test_patience_goes_on_where_it_stood(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]  # the first is the best
    patient = ("train.updates=1000", "train.patience=3", "train.average=0")
    dev_losses(monkeypatch, losses)
    straight = train(tiny_config(corpus, tmp_path / "straight", *patient))
    assert straight.steps()[-1].name == "step-00000040"
    config = tiny_config(corpus, tmp_path / "killed", *patient)
    dev_losses(monkeypatch, losses)
    start = Updater.start

    def die_at_25(
        self: Updater, update: int, batches: Sequence[Batch], total_tokens: int
    ) -> PendingUpdate:
        if update == 25:
            raise Killed
        return start(self, update, batches, total_tokens)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "start", die_at_25)
        with pytest.raises(Killed):
            train(config)
    assert outcome(train(config)) == outcome(straight)


@pytest.mark.parametrize("whole", ["step-00000020", "old"])
def test_a_checkpoint_written_anew_is_there_even_if_the_process_was_killed_between_two_renames(
    whole: str, tmp_path: Path, trained_20: RunDir
) -> None:
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    folder = run.steps()[-1]
    before = outcome(run)
    work = folder.with_name(f".{folder.name}.abcdefgh.part")
    shutil.copytree(folder, work / folder.name)
    folder.rename(work / "old")
    if whole == "old":  # it was killed after the second rename instead: the old one is of no use
        (work / folder.name).rename(folder)
    with locked(run.path, run.places()):
        assert outcome(run) == before
        assert not work.exists()
