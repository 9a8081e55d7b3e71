"""The model that comes with nmt: where it is found, what it says of itself, and what it must never get wrong."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from conftest import run_nmt
from typer.testing import CliRunner

from nmt.cli import app
from nmt.commands.shell.trained_run import find_run
from nmt.config.load import load_config
from nmt.errors import ModelError
from nmt.files import checksum
from nmt.run import checkpoint
from nmt.run.folder import LATEST, RunDir
from nmt.run.provenance import Provenance
from nmt.run.start_from import load_training_config, start_run
from nmt.translate.opening import load_translator
from nmt.translate.translator import Translator

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = RunDir(ROOT / "nmt" / "pretrained")
NOTE = "comes with nmt; no other is named"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator(load_config(SHIPPED.config), SHIPPED, "cpu", "fp32")


def translated(translator: Translator, *lines: str) -> list[str]:
    """The translations of some lines."""
    return [translation.text for translation in translator.translate(list(lines))]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing was trained; the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    return tmp_path


# --- where it is found ---


def test_where_no_other_model_is_named_it_translates_and_stderr_says_so(elsewhere: Path) -> None:
    done = run_nmt("translate", stdin="Thank you very much.\n", cwd=elsewhere, NMT_MODEL="")
    assert done.returncode == 0, done.stderr
    assert re.search("谢", done.stdout.decode())
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"nmt: model {SHIPPED.checkpoints}")
    assert f"({NOTE})" in line


def test_a_trained_run_comes_before_it(elsewhere: Path, trained: RunDir) -> None:
    LATEST.parent.mkdir()
    LATEST.write_text(f"{trained.path}\n", encoding="utf-8")
    assert find_run(None, None, [])[1].path == trained.path
    assert find_run(Path("pretrained"), None, [])[1].path == SHIPPED.path


def test_it_has_a_name_unless_there_is_a_folder_of_that_name(
    elsewhere: Path, trained: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_MODEL", "pretrained")
    _settings, run = find_run(None, None, [])
    assert (run.path, run.note) == (SHIPPED.path, " (named by $NMT_MODEL)")
    shutil.copytree(trained.path, "pretrained")
    assert find_run(None, None, [])[1].path == Path("pretrained")


def test_an_unreadable_note_of_the_last_run_is_no_reason_to_take_another(elsewhere: Path) -> None:
    LATEST.mkdir(parents=True)
    with pytest.raises(ModelError, match=re.escape(f"{LATEST}: Is a directory; make it readable")):
        find_run(None, None, [])


def test_an_installation_without_it_says_what_to_do(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.run.folder._PACKAGE", elsewhere)
    message = f"pretrained ({NOTE}): does not exist; run nmt train, or name a run with --model"
    with pytest.raises(ModelError, match=re.escape(message)):
        find_run(None, None, [])


def test_it_has_no_test_sentences_of_its_own(elsewhere: Path) -> None:
    done = CliRunner().invoke(app, ["evaluate"])
    assert done.exit_code == 3
    message = f"({NOTE}) has no test sentences; give some with --src and --ref"
    assert message in done.stderr


def test_a_training_can_start_from_it(elsewhere: Path, corpus: Path) -> None:
    settings = [f"data.path={corpus}", "run_dir=mine", "train.start_from=pretrained"]
    config = load_training_config(None, settings)
    own = load_config(SHIPPED.config)
    assert (config.src, config.tgt, config.model) == (own.src, own.tgt, own.model)
    start = start_run(config)
    assert start is not None
    assert start.path == SHIPPED.path


# --- what it says of itself ---


def provenance(run: RunDir) -> Provenance:
    """What a run's checkpoint says of the trainings that made it."""
    best = checkpoint.best(run)
    assert best is not None
    return checkpoint.read_meta(best).provenance


def test_every_corpus_has_a_licence_and_stands_in_the_list_of_its_card() -> None:
    card = (SHIPPED.path / "README.md").read_text(encoding="utf-8")
    assert "(CORPORA.md)" in card
    listed = (SHIPPED.path / "CORPORA.md").read_text(encoding="utf-8").splitlines()
    corpora = provenance(SHIPPED).all_corpora()
    assert len({corpus.name for corpus in corpora}) > 50
    for corpus in corpora:
        assert corpus.licence
        assert f"| {corpus.name} | {corpus.licence} | {corpus.source} |" in listed
        assert not re.search("research|GPL|UN ", corpus.licence), "may not be given away"


def test_its_licence_is_that_of_its_share_alike_corpora() -> None:
    card = (SHIPPED.path / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["license"] == "cc-by-sa-4.0"
    told = provenance(SHIPPED)
    before = [ancestor.provenance for ancestor in told.ancestors()]
    assert before
    assert {each.licence for each in (told, *before)} == {"CC BY-SA 4.0"}


def test_it_is_small_and_whole_and_names_no_folder_of_another_machine() -> None:
    files = [path for path in SHIPPED.path.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 22e6
    exported = json.loads((SHIPPED.path / "export.json").read_text(encoding="utf-8"))
    sums = {path.relative_to(SHIPPED.path).as_posix(): checksum(path) for path in files}
    del sums["export.json"]
    assert exported["sha256"] == sums
    for path in files:
        if path.suffix in {".yaml", ".json", ".md", ""}:
            assert not re.search(r"(?<![\w.:/])/(root|home|work|tmp)/", path.read_text("utf-8"))


# --- what it must not get wrong ---


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("See https://example.org/a?b=1#c for details.", "https://example.org/a?b=1#c"),
        ("Write to anna.b@example.com if it fails.", "anna.b@example.com"),
        ("Run `git commit --amend` in /usr/local/src first.", "`git commit --amend`"),
        ("Hello, {user_name}!", "{user_name}"),
        ("Version 2.13.0 was released yesterday.", "2.13.0"),
        ("Call 555-867-5309 now.", "555-867-5309"),
    ],
)
def test_what_must_come_through_comes_through(line: str, span: str, translator: Translator) -> None:
    assert span in translated(translator, line)[0]


def test_its_punctuation_is_chinese(translator: Translator) -> None:
    lines = ["Where are you?", "Stop!", 'He said, "Yes."', "No, thank you."]
    joined = "".join(translated(translator, *lines))
    assert not set('?!,."') & set(joined)
    assert {"？", "！", "，", "。"} <= set(joined)


def test_blank_lines_stay_blank_and_every_line_has_its_translation(translator: Translator) -> None:
    first, blank, second = translated(translator, "Good morning.", "", "I like tea.")
    assert blank == ""
    assert "早" in first
    assert "茶" in second
