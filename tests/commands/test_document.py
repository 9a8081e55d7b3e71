"""nmt document as a user types it."""

import json
import os
from pathlib import Path
from subprocess import PIPE
from zipfile import ZipFile

import pytest
from conftest import run_nmt
from loaded import Loaded
from typer.testing import CliRunner

from nmt.cli import app
from nmt.commands.documents import translating
from nmt.run.folder import RunDir

PAGE = "# one two\n\n- three *four* five.\n\n```\none\n```\n"
MESSAGES = '{\n  "a": "one two",\n  "b": "three four",\n  "n": 3\n}\n'


def document(trained: RunDir, *arguments: str | Path, stdin: str = "") -> tuple[int, str, str]:
    done = run_nmt("document", "--model", trained.path, *arguments, stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_file_comes_out_with_its_marks(trained: RunDir, page: Path) -> None:
    code, text, said = document(trained, page)
    assert code == 0, said
    lines = text.split("\n")
    assert lines[0].startswith("# ")
    assert "一" in lines[0]
    assert lines[2].startswith("- ")
    assert lines[2].count("*") == 2
    assert lines[4:] == ["```", "one", "```", ""]
    assert said.endswith(f"nmt: {page}: 2 units: 2 translated\n")


def test_a_pipe_has_a_format_by_its_name_or_by_its_first_lines(trained: RunDir) -> None:
    code, text, said = document(trained, "--format", "json", stdin=MESSAGES)
    assert code == 0, said
    assert list(json.loads(text)) == ["a", "b", "n"]
    assert document(trained, stdin=MESSAGES)[1] == text
    code, _, said = document(trained, stdin="one two\n")
    assert code == 2
    assert "stdin: cannot tell its format; give --format with one of po, markdown" in said


def test_an_output_appears_whole_and_is_not_replaced_unasked(trained: RunDir, page: Path) -> None:
    out = page.with_name("out.md")
    assert document(trained, page, "-o", out)[0] == 0
    first = out.read_text(encoding="utf-8")
    code, _, said = document(trained, page, "-o", out)
    assert code == 2
    assert f"{out}: exists already" in said
    assert document(trained, page, "-o", out, "--overwrite")[0] == 0
    assert out.read_text(encoding="utf-8") == first
    assert document(trained, page, "-o", page, "--overwrite")[0] == 2


def test_a_broken_file_is_refused_with_its_line_and_nothing_is_written(
    trained: RunDir, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"a": "one",\n "b" 2}', encoding="utf-8")
    out = tmp_path / "out.json"
    code, _, said = document(trained, broken, "-o", out)
    assert code == 3
    assert said == f"nmt: {broken}:2: : is missing\n"
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.pdf",), "nmt does not translate PDF"),
        (("a.xyz",), "a.xyz: no such file"),
        (("--format", "doc", "page.md"), "--format doc: not known"),
        (("page.md", "page.json"), "several files; give --output-dir DIR"),
        (("page.md", "--only-new"), "--only-new needs --output FILE"),
        (("page.md", "--ray", "local"), "--ray needs --output-dir DIR"),
        (("page.json", "--bilingual"), "JSON messages has no room for two languages"),
        (("nothing/*.md",), "nothing/*.md: no file has such a name"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    trained: RunDir,
    page: Path,
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page.with_name("page.json").write_text(MESSAGES, encoding="utf-8")
    page.with_name("a.pdf").write_text("%PDF", encoding="utf-8")
    monkeypatch.chdir(page.parent)
    code, text, said = document(trained, *arguments)
    assert code in (2, 3)
    assert text == ""
    assert message in said.splitlines()[-1]


def test_what_the_output_has_already_stays(trained: RunDir, tmp_path: Path) -> None:
    source, out = tmp_path / "en.json", tmp_path / "zh.json"
    source.write_text(MESSAGES, encoding="utf-8")
    out.write_text('{"a": "壹贰", "gone": "旧"}', encoding="utf-8")
    code, _, said = document(trained, source, "-o", out, "--only-new")
    assert code == 0, said
    values = json.loads(out.read_text(encoding="utf-8"))
    assert values["a"] == "壹贰"
    assert values["b"].startswith("三")
    assert "1 keys that the source does not have, left out: gone" in said
    assert "2 units: 1 translated, 1 kept" in said


def test_a_memory_is_used_and_filled(trained: RunDir, tmp_path: Path) -> None:
    source, memory = tmp_path / "en.json", tmp_path / "memory.tsv"
    source.write_text(MESSAGES, encoding="utf-8")
    memory.write_text("one two\t壹贰\n", encoding="utf-8")
    code, text, said = document(trained, source, "--memory", memory)
    assert code == 0, said
    assert json.loads(text)["a"] == "壹贰"
    first, second = memory.read_text(encoding="utf-8").splitlines()
    assert first == "one two\t壹贰"
    assert second == f"three four\t{json.loads(text)['b']}"


def test_texts_go_out_and_translations_come_back(trained: RunDir, page: Path) -> None:
    code, lines, said = document(trained, "--extract", page)
    assert code == 0, said
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["source"] for record in records] == ["one two", "three <g1>four</g1> five."]
    back = page.with_name("units.jsonl")
    records[1]["target"] = "三<g1>四</g1>五。"
    back.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    code, text, said = document(trained, page, "--apply", back)
    assert code == 0, said
    assert "# one two\n\n- 三*四*五。\n" in text
    assert "2 units: 1 translated, 1 left" in said
    code, _, _ = document(trained, page, "--apply", back, "--strict")
    assert code == 4


def test_a_dry_run_counts(trained: RunDir, page: Path) -> None:
    code, text, _ = document(trained, "--dry-run", page.parent)
    assert (code, text) == (0, f"{page}: Markdown, 2 units: 2 to translate (5 words)\n")


def test_json_says_what_became_of_each_file(trained: RunDir, page: Path) -> None:
    out = page.with_name("out.md")
    code, text, _ = document(trained, page, "-o", out, "--json")
    assert code == 0
    (entry,) = json.loads(text)["files"]
    assert (entry["file"], entry["units"], entry["translated"]) == (str(page), 2, 2)


def test_a_folder_is_translated_file_by_file_and_goes_on(trained: RunDir, tmp_path: Path) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    for name, text in (("a/x.md", PAGE), ("b/x.md", "# five\n"), ("b/m.json", MESSAGES)):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    code, _, said = document(trained, source, "--output-dir", out)
    assert code == 0, said
    made = sorted(
        str(path.relative_to(out)) for path in out.rglob("*.*") if ".nmt" not in path.parts
    )
    assert made == ["a/x.md", "b/m.json", "b/x.md"]
    first = (out / "a/x.md").read_bytes()
    assert first.decode() == document(trained, source / "a/x.md")[1]
    code, _, said = document(trained, source, "--output-dir", out)
    assert code == 0, said
    assert "nothing to translate" in said
    assert (out / "a/x.md").read_bytes() == first
    (out / "a/x.md").write_text("mine", encoding="utf-8")
    code, _, said = document(trained, source, "--output-dir", out)
    assert code == 2
    assert f"{out / 'a/x.md'}: exists already, and is not as nmt wrote it" in said


def test_one_broken_file_of_a_folder_does_not_stop_the_others(
    trained: RunDir, tmp_path: Path
) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    (source / "a.json").write_text("{", encoding="utf-8")
    (source / "b.json").write_text(MESSAGES, encoding="utf-8")
    code, _, said = document(trained, source, "--output-dir", out)
    assert code == 3
    assert f"{source / 'a.json'}:1: " in said
    assert not (out / "a.json").exists()
    assert json.loads((out / "b.json").read_text(encoding="utf-8"))["b"].startswith("三")


def test_translate_says_that_a_file_is_a_document(trained: RunDir, page: Path) -> None:
    done = run_nmt("translate", "--model", trained.path, "--input", page)
    said = done.stderr.decode()
    assert (
        f"nmt: {page}: Markdown, translated line by line; nmt document keeps its structure" in said
    )


def test_translate_refuses_a_document_without_lines(trained: RunDir, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"PK")
    done = run_nmt("translate", "--model", trained.path, "--input", path)
    assert done.returncode == 2
    fix = f"run nmt document {path} --output FILE"
    assert done.stderr.decode() == f"nmt: {path}: Word, which has no lines; {fix}\n"


def test_a_document_that_is_no_text_is_not_written_to_a_terminal(
    trained: RunDir, tmp_path: Path
) -> None:
    path = tmp_path / "a.docx"
    with ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w:document/>")
    ours, theirs = os.openpty()
    command = ["document", "-q", "--model", str(trained.path), str(path)]
    process = Loaded(command, stdout=theirs, stderr=PIPE)
    os.close(theirs)
    _, said = process.communicate()
    os.close(ours)
    assert process.returncode == 2
    assert said.decode() == f"nmt: {path}: Word is no text; give --output FILE\n"


def test_an_interrupt_says_how_to_go_on(
    trained: RunDir, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(translating, "translated_lines", interrupted)
    output = tmp_path / "out.md"
    command = ["document", "-q", "--model", trained.path, page, "--output", output]
    result = CliRunner().invoke(app, list(map(str, command)))
    assert result.exit_code == 130
    how = "nothing is written; with --output-dir DIR, the same command continues"
    assert result.stderr == f"nmt: SIGINT: {how}\n"
    assert not output.exists()


def test_a_line_separator_in_a_text_is_no_end_of_a_line(trained: RunDir, tmp_path: Path) -> None:
    source = '{"a": "one\u2028two three."}'
    code, text, said = document(trained, "--format", "json", stdin=source)
    assert code == 0, said
    assert list(json.loads(text)) == ["a"]
    units = tmp_path / "units.jsonl"
    record = {"source": "one\u2028two three.", "target": "一\u2028二三。"}
    units.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    code, text, said = document(trained, "--format", "json", "--apply", units, stdin=source)
    assert (code, text) == (0, '{"a": "一\u2028二三。"}'), said
