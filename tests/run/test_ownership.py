"""What nmt did not write is neither replaced nor deleted, in a run folder or beside it."""

import gzip
import os
import shutil
from pathlib import Path

import pytest
from conftest import TINY, write_corpus
from typer.testing import CliRunner, Result

from nmt.cli import app
from nmt.commands.shell.trained_run import find_run
from nmt.files import locked
from nmt.run.folder import RunDir
from nmt.run.ownership import staging
from nmt.translate.translator import Translator

SHORT = [*TINY, "train.updates=2", "train.average=0"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> str:
    write_corpus(tmp_path / "corpus", train=60, dev=5, test=5)
    return "data.path=corpus"


def nmt(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def listing(folder: Path) -> dict[str, bytes]:
    """What is in a folder, however it is called."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(done: Result, place: object, code: int = 2) -> None:
    assert done.exit_code == code, done.output
    assert done.stderr.splitlines()[-1].startswith(f"nmt: {place}: ")
    assert len(done.stderr.splitlines()) == 1


# --- corpora ---


@pytest.mark.parametrize("command", ["prepare", "build-vocab", "train"])
@pytest.mark.parametrize("folder", ["my", "."])
def test_a_corpus_that_lies_where_a_run_puts_its_text_is_refused_and_stays(
    command: str, folder: str, tmp_path: Path
) -> None:
    write_corpus(tmp_path / folder / "data", train=60, dev=5, test=5)
    before = listing(tmp_path)
    data = Path(folder) / "data"
    refused(nmt(command, f"run_dir={folder}", f"data.path={data}", *SHORT), data / "train.en")
    assert listing(tmp_path) == before


def test_a_zipped_corpus_there_is_refused_too_for_the_next_time_its_clean_text_would_be_read(
    tmp_path: Path,
) -> None:
    write_corpus(tmp_path / "my" / "data", train=60, dev=5, test=5)
    for path in (tmp_path / "my" / "data").iterdir():
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    refused(nmt("prepare", "run_dir=my", "data.path=my/data", *SHORT), "my/data/train.en.gz")


def test_the_text_of_a_run_is_no_corpus_for_that_run(small: str) -> None:
    assert nmt("prepare", small, "run_dir=my", *SHORT).exit_code == 0
    before = listing(Path("my"))
    refused(nmt("prepare", "data.path=my/data", "run_dir=my", *SHORT), "my/data/train.en")
    assert listing(Path("my")) == before
    assert nmt("prepare", "data.path=my/data", "run_dir=other", *SHORT).exit_code == 0


# --- files in the way ---


@pytest.mark.parametrize(
    "name",
    [
        "config.yaml",
        "prepare.json",
        "vocab.json",
        "vocab.src.tsv",
        "pieces.tgt.model",
        "data/train.zh",
        "data/test.en",
        "store/train/mine",
        "store/dev",
        "written.json",
        "best",
        "metrics.jsonl",
        "train.log",
        "checkpoints",
        "validation",
        "tensorboard",
        "data",
    ],
)
@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_file_of_the_users_that_is_in_the_way_is_refused_and_stays(
    name: str, more: list[str], small: str
) -> None:
    mine = Path("my") / name
    mine.parent.mkdir(parents=True)
    mine.write_text('{"mine": 1}\n')
    settings = [small, "run_dir=my", *SHORT, "tgt.tokenizer=sentencepiece"]
    refused(nmt("train", *settings, *more), mine)
    assert listing(Path("my")) == {str(mine): b'{"mine": 1}\n'}


def test_a_configuration_written_by_hand_is_not_replaced_by_the_settings_in_effect(
    small: str,
) -> None:
    mine = Path("my/config.yaml")
    mine.parent.mkdir()
    mine.write_text("run_dir: my\ndata:\n  path: corpus\n")
    refused(nmt("prepare", "--config", mine), mine)
    assert mine.read_text() == "run_dir: my\ndata:\n  path: corpus\n"


def test_a_link_in_the_way_is_refused_and_stays(small: str) -> None:
    Path("mine.en").write_text("mine\n")
    Path("my/data").mkdir(parents=True)
    Path("my/data/train.en").symlink_to(Path("mine.en").absolute())
    refused(nmt("prepare", small, "run_dir=my", *SHORT), "my/data/train.en")
    assert Path("my/data/train.en").is_symlink()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("data/train.en", ["prepare.max_ratio=3"]),
        ("vocab.src.tsv", ["src.vocab_size=9"]),
        ("config.yaml", ["train.seed=2"]),
    ],
)
def test_what_the_user_has_edited_since_is_the_users(
    name: str, change: list[str], small: str
) -> None:
    assert nmt("build-vocab", small, "run_dir=my", *SHORT).exit_code == 0
    edited = Path("my") / name
    with edited.open("a") as file:
        file.write("# mine\n")
    before = edited.read_bytes()
    refused(nmt("train", small, "run_dir=my", *SHORT, *change), edited)
    assert edited.read_bytes() == before
    edited.rename("mine")
    assert nmt("train", small, "run_dir=my", *SHORT, *change).exit_code == 0
    assert Path("mine").read_bytes() == before


def test_overwriting_deletes_nothing_where_an_edited_configuration_is_in_the_way(
    small: str,
) -> None:
    assert nmt("train", small, "run_dir=my", *SHORT).exit_code == 0
    with Path("my/config.yaml").open("a") as file:
        file.write("# mine\n")
    before = listing(Path("my"))
    refused(nmt("train", small, "run_dir=my", *SHORT, "--overwrite"), "my/config.yaml")
    assert listing(Path("my")) == before


def test_an_edited_text_is_not_replaced_by_preparing_again_what_is_current(small: str) -> None:
    assert nmt("prepare", small, "run_dir=my", *SHORT).exit_code == 0
    Path("my/data/dev.zh").write_text("mine\n")
    refused(nmt("prepare", small, "run_dir=my", *SHORT), "my/data/dev.zh")
    assert Path("my/data/dev.zh").read_text() == "mine\n"


def test_what_nmt_wrote_is_replaced_where_settings_change_and_in_a_copy_of_the_run(
    small: str,
) -> None:
    assert nmt("train", small, "run_dir=my", *SHORT).exit_code == 0
    shutil.copytree("my", "copy")
    changed = [small, *SHORT, "prepare.dev_size=3", "tgt.vocab_size=8", "--overwrite"]
    for folder in ("my", "copy"):
        done = nmt("train", f"run_dir={folder}", *changed)
        assert done.exit_code == 0, done.output


def write_store(run: RunDir, text: str) -> None:
    with staging(run) as staged:
        staged.store("train").mkdir(parents=True)
        (staged.store("train") / "meta.json").write_text(text)


def test_a_store_is_there_even_if_the_process_was_killed_as_it_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDir(tmp_path / "my")
    run.path.mkdir()
    write_store(run, "old")
    rename = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if target == run.store("train"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", killed)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # a dead process clears nothing
    with pytest.raises(KeyboardInterrupt):
        write_store(run, "new")
    assert not run.store("train").exists()
    monkeypatch.undo()
    with locked(run.path, run.places()):
        assert (run.store("train") / "meta.json").read_text() == "new"
        assert [path.name for path in run.path.rglob(".*")] == [".lock"]


# --- other files in the folder ---


def test_overwriting_deletes_the_training_and_nothing_else(small: str) -> None:
    settings = [small, "run_dir=my", *SHORT]
    assert nmt("train", *settings).exit_code == 0
    mine = [
        "checkpoints/mine.pt",
        "checkpoints/exp1/a",
        "checkpoints/step-00000002-before/model.safetensors",
        "validation/mine.zh",
        "tensorboard/notes",
        "data/mine.en",
        "notes",
        ".movie.part/half",
        "data/.movie.abcdefgh.part/half",
    ]
    for name in mine:
        path = Path("my") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    done = nmt("train", *settings, "train.updates=1", "--overwrite")
    assert done.exit_code == 0, done.output
    assert {name: (Path("my") / name).read_text() for name in mine} == dict.fromkeys(mine, "mine\n")
    assert [path.name for path in RunDir(Path("my")).steps()] == ["step-00000001"]


@pytest.mark.parametrize("name", ["step-00000002/notes", "average-00000001/model.safetensors"])
def test_a_checkpoint_that_holds_something_of_the_users_is_not_overwritten(
    name: str, small: str
) -> None:
    settings = [small, "run_dir=my", *SHORT]
    assert nmt("train", *settings).exit_code == 0
    mine = Path("my/checkpoints") / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine\n")
    before = listing(Path("my"))
    refused(nmt("train", *settings, "train.seed=3", "--overwrite"), mine.parent)
    assert listing(Path("my")) == before


def test_a_checkpoint_that_holds_something_of_the_users_is_not_pruned(small: str) -> None:
    settings = [small, "run_dir=my", *SHORT, "train.keep=1", "train.save_every=1"]
    assert nmt("train", *settings, "train.updates=1").exit_code == 0
    mine = Path("my/checkpoints/step-00000001/notes")
    mine.write_text("mine\n")
    done = nmt("train", *settings, "train.updates=20", "train.validate_every=5")
    assert done.exit_code == 0, done.output
    assert mine.read_text() == "mine\n"
    assert not Path("my/checkpoints/step-00000002").exists()


def test_a_folder_of_the_users_with_the_name_of_a_checkpoint_is_put_aside(small: str) -> None:
    settings = [small, "run_dir=my", *SHORT]
    assert nmt("train", *settings).exit_code == 0
    for name in ("step-00000003", "step-00000003.damaged"):
        mine = Path("my/checkpoints") / name
        mine.mkdir()
        (mine / "model.safetensors").write_text(name)
    done = nmt("train", *settings, "train.updates=3")
    assert done.exit_code == 0, done.output
    aside = Path("my/checkpoints/step-00000003.damaged")
    assert (aside / "model.safetensors").read_text() == "step-00000003.damaged"
    other = aside.with_name("step-00000003.damaged-2")
    assert (other / "model.safetensors").read_text() == "step-00000003"


# --- folders that are not run folders ---


def test_nothing_is_left_where_nothing_was_done(small: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert nmt("train").exit_code == 2
    assert nmt("train", "run_dir=runs/a/b", "data.path=gone").exit_code == 3
    assert nmt("prepare", small, "run_dir=corpus", "src.language=fr").exit_code == 3
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("run_dir", ["tiny.yaml", "tiny.yaml/inside"])
def test_a_file_is_no_run_folder(run_dir: str, small: str) -> None:
    Path("tiny.yaml").write_text("mine\n")
    refused(nmt("train", small, f"run_dir={run_dir}"), "tiny.yaml")
    assert Path("tiny.yaml").read_text() == "mine\n"


def test_links_and_pipes_beside_a_run_are_nobodys_business(small: str) -> None:
    Path("link").symlink_to("nowhere")
    os.mkfifo("pipe")
    done = nmt("train", small, "run_dir=.", *SHORT)
    assert done.exit_code == 0, done.output


# --- beside a run folder ---


@pytest.mark.parametrize("kind", ["note", "list", "link", "folder"])
def test_a_runs_latest_of_the_users_stays_and_training_says_so(kind: str, small: str) -> None:
    latest = Path("runs/latest")
    latest.parent.mkdir()
    Path("mine").mkdir()
    if kind == "link":
        latest.symlink_to(Path("mine").absolute())
    elif kind == "folder":
        latest.mkdir()
    else:
        latest.write_text({"note": "the best one\n", "list": "one\ntwo\n"}[kind])
    before = latest.read_text() if latest.is_file() else None
    done = nmt("train", small, "run_dir=my", *SHORT)
    assert done.exit_code == 0, done.output
    assert "runs/latest: not written by nmt, and left as it is" in done.stderr
    assert (latest.read_text() if latest.is_file() else None) == before
    assert latest.is_symlink() == (kind == "link")


def test_a_runs_latest_that_names_a_run_that_was_deleted_is_replaced(small: str) -> None:
    for folder in ("one", "two"):
        assert nmt("train", small, f"run_dir={folder}", *SHORT).exit_code == 0
        shutil.rmtree(folder) if folder == "one" else None
    _settings, found = find_run(None, None, [])
    assert found.path == Path("two")


@pytest.mark.parametrize("name", ["mine", "text", "done.json"])
def test_a_folder_of_the_users_beside_the_output_is_refused_and_stays(
    name: str, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nmt("train", small, "run_dir=my", *SHORT).exit_code == 0
    mine = Path("out.part") / name
    mine.parent.mkdir()
    mine.write_text("mine\n")
    monkeypatch.setattr("nmt.commands.translation.files.input_lines", lambda *_: iter(["one."]))
    for more in ([], ["--resume"], ["--overwrite"]):
        refused(nmt("translate", "-m", "my", "--output", "out", "-q", *more), "out.part")
        assert listing(Path("out.part")) == {str(mine): b"mine\n"}


def test_an_output_that_appeared_meanwhile_stays_and_so_does_the_translation(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nmt("train", small, "run_dir=my", *SHORT).exit_code == 0
    translate = Translator.translate

    def appear(self: Translator, lines: list[str]) -> list[object]:
        Path("out").write_text("mine\n")
        return list(translate(self, lines))

    monkeypatch.setattr(Translator, "translate", appear)
    lines = ["one.", "two."]
    monkeypatch.setattr("nmt.commands.translation.files.input_lines", lambda *_: iter(lines))
    command = ["translate", "-m", "my", "--output", "out", "-q"]
    refused(nmt(*command), "out")
    assert Path("out").read_text() == "mine\n"
    assert nmt(*command, "--resume", "--overwrite").exit_code == 0
    assert len(Path("out").read_text().splitlines()) == 2
