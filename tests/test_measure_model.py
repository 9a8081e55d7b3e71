"""The figures of the model that comes with nmt: what is counted is what a reader would count."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.run.folder import RunDir
from nmt.spans.masking import find

SCRIPTS = Path(__file__).resolve().parents[1] / "configs" / "pretrained"


def measure(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPTS / "measure_model.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_line_gets_one_span_and_keeps_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from measure_model import KINDS, with_span

    words = ["I", "like", "green", "tea."]
    for number in range(5 * len(KINDS)):
        line = with_span(" ".join(words), number)
        (span,) = find(line)
        assert line.split(" ").count(span) == 1
        assert [word for word in line.split(" ") if word != span] == words


def test_marks_are_kept_where_both_stand_once_around_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from measure_model import MARKS, with_marks

    for number in range(60):
        for marks in MARKS.values():
            marked = with_marks("I like green tea.", number, marks)
            assert marked.words_of(marked.line) == "I like green tea."
            assert marked.kept_in(marked.line)
            assert not marked.kept_in(marked.words_of(marked.line))
            assert not marked.kept_in(f"{marked.opening}{marked.closing}")
            assert not marked.kept_in(f"{marked.closing}a{marked.opening}") or (
                marked.opening == marked.closing
            )


def test_a_grade_stays_only_where_the_translation_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from measure_model import regraded

    rows = [["a", "甲", "right"], ["b", "乙", "wrong"], ["a", "乙", "wrong"]]
    new = {"a": "甲", "b": "丙"}
    assert list(regraded(rows, new)) == [["a", "甲", "right"], ["b", "丙", "?"], ["a", "甲", "?"]]


def test_the_graded_translations_are_tables_that_can_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from measure_model import COLUMNS, read_graded

    folder = SCRIPTS.parents[1] / "docs" / "lab" / "graded"
    rows = {path.stem: read_graded(path) for path in folder.glob("*.tsv")}
    page = (folder / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[(\S+)\.tsv\]\(\1\.tsv\) \| (\d+) \|", page, re.MULTILINE)
    assert {name: int(lines) for name, lines in told} == {name: len(rows[name]) for name in rows}
    assert {row[2] for each in rows.values() for row in each} == {
        *("right", "understandable", "wrong"),
        *(f"{readers} of 3" for readers in range(4)),
    }
    for text in ("a\t甲\tright\n", "\t".join(COLUMNS) + "\na\t甲\n"):
        (tmp_path / "some.tsv").write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="not a table of source, translation, grade"):
            read_graded(tmp_path / "some.tsv")


@pytest.mark.slow
def test_scores_are_those_of_evaluate(trained: RunDir) -> None:
    test = trained.text("test", "en").with_suffix("")
    done = measure("scores", trained.path, test)
    evaluated = subprocess.run(
        [
            sys.executable,
            "-m",
            "nmt",
            "evaluate",
            "--model",
            trained.path,
            "--json",
            "--precision",
            "fp32",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    bleu = json.loads(evaluated.stdout)["scores"]["bleu"]
    assert done.stdout.startswith(f"| test | 20 | {bleu['value']:.2f} [{bleu['low']:.2f}, ")
    assert measure("scores", "nowhere", test).stderr.startswith("measure_model: nmt: nowhere: ")
    told = "measure_model: a=b.en: no reference; write NAME=SOURCE,REFERENCE\n"
    assert measure("scores", trained.path, "a=b.en").stderr == told


@pytest.mark.slow
def test_files_are_translated_anew_in_place(trained: RunDir, tmp_path: Path) -> None:
    head = "source\ttranslation\tgrade\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_text(f"{head}one two\t无\tright\n", encoding="utf-8")
    done = measure("graded", trained.path, "--folder", tmp_path)
    assert done.stdout == "2 of 2 to be graded\n", done.stderr
    once = [(tmp_path / f"{name}.tsv").read_text(encoding="utf-8") for name in ("a", "b")]
    assert once[0] == once[1]
    assert re.fullmatch(rf"{head}one two\t(?!无).+\t\?\n", once[0])
    assert measure("graded", trained.path, "--folder", tmp_path).stdout == done.stdout
    assert (tmp_path / "a.tsv").read_text(encoding="utf-8") == once[0]
    empty = measure("graded", trained.path, "--folder", tmp_path / "none")
    assert empty.stderr.startswith(f"measure_model: {tmp_path}/none: no .tsv files; ")


@pytest.mark.slow
def test_numbers_are_shown_with_what_the_checker_says(trained: RunDir, tmp_path: Path) -> None:
    (tmp_path / "some.en").write_text("one 2\nno figure\n3 4\n")
    (tmp_path / "more.en").write_text("3 4\n5\n")
    done = measure("numbers", trained.path, tmp_path / "some", tmp_path / "more")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert sorted(row[:2] for row in rows[1:]) == [
        ["more", "5"],
        ["some", "3 4"],
        ["some", "one 2"],
    ]
    tallies = re.findall(
        r"^(\w+): (\d) lines; right by the checker: (\d) without", done.stderr, re.M
    )
    right = [row[0] for row in rows[1:] if not row[3]]
    counts = [("some", "2", right.count("some")), ("more", "1", right.count("more"))]
    expected = [*counts, ("all", "3", len(right))]
    assert tallies == [(name, lines, str(count)) for name, lines, count in expected]
