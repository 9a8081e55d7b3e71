"""Files that a command cannot read, or only to find that they are no text: the same code and words in every command.

docs/reference/files.md says what each code means.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import invoke
from typer.testing import Result
from without_rights import bound_by_modes

from nmt.run.folder import RunDir

DATA, CONFIG, MODEL = 3, 2, 5

# Each with a file of text, {0}.
READERS = [
    "translate -m {run} -i {0}",
    "typography -i {0}",
    "evaluate --hyp {0} --ref good",
    "evaluate --hyp good --ref {0}",
    "evaluate --hyp good --ref good --src {0}",
    "evaluate --hyp good --ref good --baseline {0}",
    "evaluate --hyp good --ref good --by {0}",
    "evaluate --hyp good --ref good --segment-scores x={0}",
    "evaluate -m {run} --src {0} --ref good",
    "report --json --hyp x={0} --ref good",
    "score -m {run} --src {0} --tgt good",
    "score -m {run} -i {0}",
    "prepare run_dir=new data.corpora=[{{tsv:\u00a0{0}}}]",
]
# A page or an evaluation of nothing is refused; what works line by line, makes nothing of nothing.
LINE_BY_LINE = ("translate", "typography", "score")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("good").write_text("一。\n二。\n", "utf-8")
    Path("folder").mkdir()
    Path("forbidden").write_text("一。\n", "utf-8")
    Path("forbidden").chmod(0)
    Path("closed").mkdir()
    Path("closed/file").write_text("一。\n", "utf-8")
    Path("closed").chmod(0)
    Path("latin").write_bytes(b"caf\xe9\nna\xefve\n")
    Path("cut.gz").write_bytes(gzip.compress(b"one.\n" * 100)[:-9])
    Path("plain.gz").write_bytes(b"one.\n")
    Path("empty").write_bytes(b"")
    Path("blank").write_text("\n \t\n\u3000\n", "utf-8")
    yield
    Path("closed").chmod(0o700)


def tried(line: str, *names: object, run: RunDir) -> Result:
    words = [word.replace("\u00a0", " ") for word in line.format(*names, run=run.path).split(" ")]
    with bound_by_modes():
        return invoke(*words)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("absent", "no such file"),
        ("folder", "is a folder; name "),
        ("forbidden", "cannot be read (Permission denied); check the permissions of the file"),
        ("closed/file", "cannot be read (Permission denied); check the permissions of the file"),
        ("latin", ":1: not UTF-8 at byte 3 of the text; "),
        ("cut.gz", "damaged gzip file ("),
        ("plain.gz", "not a gzip file; compress it, or let its name not end in .gz"),
    ],
)
def test_text_that_cannot_be_read_is_wrong_data_in_every_command(
    name: str, told: str, trained: RunDir
) -> None:
    for line in READERS:
        done = tried(line, name, run=trained)
        last = done.stderr.splitlines()[-1]
        assert done.exit_code == DATA, (line, done.output)
        assert last.startswith(f"nmt: {name}:"), line
        assert told in last, line


@pytest.mark.parametrize(
    ("name", "told"), [("empty", "has no lines; "), ("blank", "has only blank lines (3); ")]
)
def test_text_without_a_sentence_is_not_scored(name: str, told: str, trained: RunDir) -> None:
    for line in READERS:
        if line.startswith(("evaluate", "report")):
            done = tried(line, name, run=trained)
            assert done.exit_code == DATA, (line, done.output)
            assert done.stderr.startswith(f"nmt: {name}: {told}"), (line, done.stderr)
            assert done.stderr.count("\n") == 1


def test_scores_of_no_lines_are_no_lines_and_a_warning(trained: RunDir) -> None:
    done = tried("score -m {run} -q -i empty", run=trained)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "nmt: warning: no pair to score: the input has no lines\n"


@pytest.mark.parametrize("name", ["absent", "folder", "forbidden", "closed/file"])
def test_a_configuration_that_cannot_be_read_is_a_wrong_configuration(
    name: str, trained: RunDir
) -> None:
    done = tried("prepare -c {0}", name, run=trained)
    assert done.exit_code == CONFIG
    assert done.stderr.startswith(f"nmt: {name}: ")
    assert "; name " in done.stderr or "; check the permissions" in done.stderr


@pytest.mark.parametrize("name", ["absent", "folder", "closed", "closed/file"])
@pytest.mark.parametrize("line", ["translate -m {0}", "info {0}", "report --json -m {0}"])
def test_a_run_that_cannot_be_read_is_a_missing_model(
    name: str, line: str, trained: RunDir
) -> None:
    done = tried(line, name, run=trained)
    assert done.exit_code == MODEL, done.output
    assert done.stderr.startswith(f"nmt: {name}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "prepare data.corpora=[{{tsv:\u00a0good}}] run_dir={0}/new",
        "prepare data.corpora=[{{tsv:\u00a0good}}] run_dir={0}",
        "import folder {0}/new",
        "export hf {0}/new -m {run}",
        "translate -m {run} -i good --output-dir {0}/new",
        "translate -m {run} -i good -o {0}/new",
        "evaluate --hyp good --ref good --history {0}/new",
    ],
)
def test_a_folder_that_cannot_be_written_to_is_a_wrong_command_line(
    line: str, trained: RunDir
) -> None:
    Path("fixed").mkdir(mode=0o500)
    done = tried(line, "fixed", run=trained)
    assert done.exit_code == CONFIG, done.output
    assert "cannot be written to" in done.stderr
    assert "; name another f" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(Path("fixed").iterdir()) == []
