"""Disks that are full or cannot be written, files that are damaged, edited or gone.

tests/test_cli.py shows that a limit on file sizes (for machines where nothing can be mounted) leaves
earlier files intact; tests/train/test_resuming.py that damaged weights are named;
tests/test_checkpoint.py that no pickled code is executed.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import dev_losses, tiny_config, train
from trainings import outcome, settings
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.config.load import load_config
from nmt.errors import ModelError, UserError
from nmt.files import append_text
from nmt.run import checkpoint
from nmt.run.folder import META, RunDir
from nmt.translate.opening import load_translator

SHORT = ("train.updates=10",)


def nmt_train(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["train", *arguments])


def refused(done: Result, code: int, *told: str) -> None:
    """It ended with this code, and its last line says all this."""
    assert done.exit_code == code, done.output
    last = done.stderr.splitlines()[-1]
    assert last.startswith("nmt: ")
    assert [text for text in told if text not in last] == [], last


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # runs/latest goes there


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 8 MB."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(where)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip(
            "nothing can be mounted here; tests/test_cli.py limits the size of files instead"
        )
    try:
        yield where
    finally:
        subprocess.run(["umount", "--lazy", str(where)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Fill a disk up to so many bytes."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        file.write(b"0" * (shutil.disk_usage(disk).free - leave))
    return filler


def listing(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("left", "told"), [(0, "written.json"), (100_000, "step-00000020"), (500_000, "step-00000020")]
)
def test_a_full_disk_is_named_and_what_was_whole_is_gone_on_from(
    left: int, told: str, disk: Path, corpus: Path, trained_20: RunDir
) -> None:
    """Not even the configuration fits; not the weights; the weights, but not the optimizer."""
    run = train(tiny_config(corpus, disk / "run", *SHORT))
    before = listing(run.checkpoints)
    filler = fill(disk, left)
    refused(nmt_train(*settings(corpus, run.path)), 1, told, "cannot be written", "free some space")
    assert listing(run.checkpoints) == before
    filler.unlink()
    assert nmt_train(*settings(corpus, run.path)).exit_code == 0
    assert outcome(run) == outcome(trained_20)


def test_a_log_that_a_full_disk_has_no_room_for_is_named(disk: Path) -> None:
    fill(disk, 0)
    with pytest.raises(
        UserError, match=f"{disk}/train.log: cannot be written .No space left on device.; free some"
    ):
        append_text(disk / "train.log", "update 1\n")


def test_a_disk_that_cannot_be_written_is_named_and_left_as_it_was(
    disk: Path, corpus: Path
) -> None:
    run = train(tiny_config(corpus, disk / "run", *SHORT))
    before = listing(run.path)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    refused(nmt_train(*settings(corpus, run.path)), 2, str(run.path), "Read-only file system")
    refused(
        nmt_train(*settings(corpus, disk / "other")),
        2,
        str(disk / "other"),
        "Read-only file system",
    )
    assert listing(run.path) == before
    assert len(load_translator(load_config(run.config), run).translate(["one two."])) == 1


def spoil(path: Path, damage: str) -> None:
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    else:
        path.unlink()


@pytest.mark.parametrize("name", [checkpoint.WEIGHTS, checkpoint.TRAINING, checkpoint.META])
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_gives_the_same_again(
    damage: str, name: str, corpus: Path, tmp_path: Path, trained_20: RunDir
) -> None:
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    damaged = run.steps()[-1] / name
    spoil(damaged, damage)
    done = nmt_train(*settings(corpus, run.path))
    assert done.exit_code == 0, done.output
    assert f"{damaged}: " in done.stderr
    assert "resuming after update 10" in done.stderr
    assert outcome(run) == outcome(trained_20)


def test_no_bit_of_meta_json_can_change_unnoticed(trained_20: RunDir, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained_20.steps()[-1], tmp_path / "step-00000020"))
    path = folder / checkpoint.META
    data, meta = path.read_bytes(), checkpoint.read_meta(folder)

    def found() -> object:
        try:
            return checkpoint.read_meta(folder)
        except ModelError as error:
            return error

    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        said = found()
        noticed = type(said) is ModelError and str(path) in str(
            said
        )  # and not taken for one of a later format
        assert noticed or said == meta  # the word "seal" itself is of no consequence


def test_a_vocabulary_that_was_edited_after_training_is_named_and_nothing_is_trained(
    corpus: Path, trained_20: RunDir, tmp_path: Path
) -> None:
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    whole = run.vocab("tgt").read_text(encoding="utf-8")
    run.vocab("tgt").write_text(whole.replace("一", "壹"), encoding="utf-8")
    before = listing(run.path)
    longer = settings(corpus, run.path, "train.updates=22")
    refused(
        nmt_train(*longer),
        5,
        "trained with another tgt vocabulary",
        "vocab.tgt.tsv",
        "restore that file",
    )
    assert listing(run.checkpoints) == {
        name.removeprefix("checkpoints/"): data
        for name, data in before.items()
        if name.startswith("checkpoints/")
    }
    run.vocab("tgt").write_text(whole, encoding="utf-8")
    assert nmt_train(*longer).exit_code == 0


def test_train_text_that_was_encoded_anew_after_training_is_named(
    corpus: Path, trained_20: RunDir, tmp_path: Path
) -> None:
    run = RunDir(Path(shutil.copytree(trained_20.path, tmp_path / "run")))
    ids = run.store("train") / "src.ids"
    ids.write_bytes(ids.read_bytes()[::-1])
    longer = settings(corpus, run.path, "train.updates=22")
    refused(
        nmt_train(*longer), 5, f"{run.store('train')}: is not what", "was trained on; restore it"
    )


def test_a_best_checkpoint_that_vanished_is_named_and_the_best_from_now_on_takes_its_place(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [1.0, 2.0, 3.0])
    run = train(tiny_config(corpus, tmp_path / "run", "train.average=0"))
    best = checkpoint.best(run)
    assert best == run.checkpoints / "step-00000010"
    shutil.rmtree(best)
    done = nmt_train(*settings(corpus, run.path, "train.average=0", "train.updates=30"))
    assert done.exit_code == 0, done.output
    assert f"{best}: the best checkpoint has vanished" in done.stderr
    assert checkpoint.best(run) == run.checkpoints / "step-00000030"


def test_a_best_average_that_is_damaged_is_named_and_training_goes_on(
    corpus: Path, tmp_path: Path
) -> None:
    run = train(tiny_config(corpus, tmp_path / "run", "train.average=0"))
    average = run.checkpoints / "average-00000020"
    shutil.copytree(run.steps()[-1], average)
    checkpoint.mark_best(run, average)
    spoil(average / META, "truncate")
    done = nmt_train(*settings(corpus, run.path, "train.average=0", "train.updates=30"))
    assert done.exit_code == 0, done.output
    assert f"warning: {average / META}: " in done.stderr
    assert "does not count as the best" in done.stderr


def test_a_damaged_checkpoint_in_the_middle_is_named_and_keeps_nothing_from_its_end(
    corpus: Path, tmp_path: Path
) -> None:
    run = train(tiny_config(corpus, tmp_path / "run", "train.updates=19"))
    spoil(run.steps()[0] / checkpoint.WEIGHTS, "flip")
    done = nmt_train(*settings(corpus, run.path))
    assert done.exit_code == 0, done.output
    assert f"{run.steps()[0] / checkpoint.WEIGHTS}: truncated or changed" in done.stderr
    assert "no average is made" in done.stderr


def test_old_checkpoints_go_only_when_the_new_one_is_on_the_disk_itself(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = (
        "train.keep=1",
        "train.average=0",
        "train.save_every=5",
        "train.validate_every=5",
        "train.updates=15",
    )
    run = tmp_path / "run"
    happened: list[tuple[str, str]] = []
    for name in ("fsync", "rename", "replace"):
        monkeypatch.setattr(os, name, noting(happened, getattr(os, name), run / "checkpoints"))
    train(tiny_config(corpus, run, *settings))
    new, gone = "step-00000015", ("rename", "step-00000005")
    renamed = (
        happened.index(("rename", new))
        if ("rename", new) in happened
        else happened.index(("replace", new))
    )
    assert gone in happened[renamed:]
    synced = {name for what, name in happened[:renamed] if what == "fsync"}
    assert {new, checkpoint.WEIGHTS, checkpoint.TRAINING, checkpoint.META} <= synced
    assert ("fsync", "checkpoints") in happened[renamed : happened.index(gone)]


def noting(happened: list[tuple[str, str]], function: object, within: Path) -> object:
    """The function, noting the last name of what it is called with."""

    def noted(target: object, *rest: object) -> object:
        path = (
            Path(f"/proc/self/fd/{target}").readlink()
            if isinstance(target, int)
            else Path(str(target))
        )
        if within == path or within in path.parents:
            happened.append((function.__name__, path.name))  # type: ignore[attr-defined]
        return function(target, *rest)  # type: ignore[operator]

    return noted


def test_a_checkpoint_that_cannot_be_renamed_costs_no_older_one(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = train(tiny_config(corpus, tmp_path / "run", "train.keep=1", "train.average=0", *SHORT))
    before = listing(run.checkpoints)
    replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target.name == "step-00000020":
            raise OSError(5, "Input/output error", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    done = nmt_train(*settings(corpus, run.path, "train.keep=1", "train.average=0"))
    refused(done, 1, "step-00000020: Input/output error")
    assert listing(run.checkpoints) == before
