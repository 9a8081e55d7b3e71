"""What becomes of the units of a file: translated, kept, left; memories, keys, tags."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.documents.asked import Asked
from nmt.documents.exchange import extracted, translations
from nmt.documents.files import DocumentFile
from nmt.documents.memory import add_to_memory, read_memory
from nmt.documents.pipeline import Line, Work, values_by_name, words_by_name
from nmt.documents.registry import BY_NAME, FORMATS
from nmt.documents.translation import translated_lines
from nmt.errors import DataError
from nmt.text.offsets import Range


def opened(form: str, text: str, asked: Asked | None = None) -> DocumentFile:
    return DocumentFile(BY_NAME[form], text.encode(), asked or Asked())


def translated(
    form: str, text: str, translate: Callable[[str], str], asked: Asked | None = None
) -> tuple[str, Work]:
    asked = asked or Asked()
    work = Work(opened(form, text, asked), asked)
    return work.written({line: Line(translate(line)) for line in work.lines()}).decode(), work


def test_equal_texts_are_asked_for_once_and_sentences_one_by_one() -> None:
    work = Work(opened("markdown", "Hello. See *this*.\n\n- Hello.\n"), Asked())
    assert work.lines() == ["Hello.", "See <g1>this</g1>."]


def test_sentences_stand_beside_each_other_in_chinese_and_latin_is_set_apart() -> None:
    chinese = {"One is here.": "一。", "Two is here.": "OK.", "Three is here.": "三。"}
    text, _ = translated("text", "One is here. Two is here. Three is here.\n", chinese.__getitem__)
    assert text == "一。OK. 三。\n"


@pytest.mark.parametrize(
    "line",
    [
        "Ask Mr. Smith.",
        "Use fruit, e.g. Apples.",
        "Written by J. R. Tolkien.",
        "See Fig. 2. X"[:10],
    ],
)
def test_an_abbreviation_ends_no_sentence(line: str) -> None:
    assert Work(opened("text", line), Asked()).lines() == [line]


@pytest.mark.parametrize(
    ("chinese", "why"),
    [
        ("点击这里", "a tag or placeholder is missing or doubled"),
        ("<g1>点击</g1><g1>这里</g1>", "a tag or placeholder is missing or doubled"),
        ("</g1>点击<g1>这里", "tags are not well nested"),
        ("", "there is no translation"),
    ],
)
def test_a_translation_with_other_tags_leaves_the_unit_and_says_why(chinese: str, why: str) -> None:
    text, work = translated(
        "html", "<p>Click <a>here</a></p><p>Yes</p>", lambda line: chinese if "g1" in line else "是"
    )
    assert text == "<p>Click <a>here</a></p><p>是</p>"
    assert [str(left) for left in work.report.left] == [f"line 1 (p): {why}"]
    assert (work.report.units, work.report.translated) == (2, 1)


def test_a_persons_translation_is_kept_unless_it_is_to_be_replaced() -> None:
    catalogue = 'msgid "One"\nmsgstr "甲"\n\nmsgid "Two"\nmsgstr ""\n'
    text, work = translated("po", catalogue, lambda line: "乙")
    assert text == 'msgid "One"\nmsgstr "甲"\n\n#, fuzzy\nmsgid "Two"\nmsgstr "乙"\n'
    assert work.report.kept == 1
    text, _ = translated("po", catalogue, lambda line: "乙", Asked(overwrite=True))
    assert 'msgid "One"\nmsgstr "乙"' in text


@pytest.mark.parametrize("form", ["po", "xliff", "qt"])
def test_a_second_run_changes_nothing(form: str) -> None:
    once = {
        "po": 'msgid "One"\nmsgstr ""\n',
        "xliff": '<xliff version="1.2"><file source-language="en"><body><trans-unit id="1">'
        "<source>One</source></trans-unit></body></file></xliff>",
        "qt": "<TS><context><message><source>One</source>"
        '<translation type="unfinished"></translation></message></context></TS>',
    }[form]
    first, _ = translated(form, once, lambda line: "一")
    assert "一" in first
    second, work = translated(form, first, lambda line: "二")
    assert second == first
    assert work.lines() == []


def test_values_that_a_translated_file_has_are_kept_as_they_are_written_there() -> None:
    source = '{"a": "One", "b": "Two", "c": "Three"}'
    there = opened("json", '{"a": "\\u4e00", "b": "Two", "gone": "X"}')
    file = opened("json", source)
    kept = values_by_name(there, words_by_name(file))
    work = Work(file, Asked(), kept=kept)
    assert work.lines() == ["Two", "Three"]  # b is still in English
    text = work.written({"Two": Line("二"), "Three": Line("三")}).decode()
    assert text == '{"a": "\\u4e00", "b": "二", "c": "三"}'


def test_a_memory_is_used_before_the_model_and_learns_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "memory.tsv"
    path.write_text("One\t壹\n", encoding="utf-8")
    memory = read_memory(path)
    work = Work(opened("json", '{"a": "One", "b": "Two\\nlines"}'), Asked(), memory)
    assert work.lines() == ["Two", "lines"]
    text = work.written({"Two": Line("二"), "lines": Line("行")}).decode()
    assert json.loads(text) == {"a": "壹", "b": "二\n行"}
    add_to_memory(path, {"One": "壹"}, memory)
    assert path.read_text(encoding="utf-8") == "One\t壹\nTwo\\nlines\t二\\n行\n"
    assert read_memory(path) == {"One": "壹", "Two\nlines": "二\n行"}


def test_texts_go_out_and_come_back() -> None:
    file = opened("html", "<p>Click <a>here</a></p><p>42</p>")
    (line,) = extracted("a.html", file)
    record = json.loads(line)
    assert record == {
        **{"file": "a.html", "line": 1, "name": "p"},
        **{"source": "Click <g1>here</g1>", "target": ""},
    }
    record["target"] = "点<g1>这里</g1>"
    known = translations([json.dumps(record)], "x.jsonl")
    work = Work(file, Asked(), known)
    assert work.written({}).decode() == "<p>点<a>这里</a></p><p>42</p>"


@pytest.mark.parametrize("line", ["{", "[]", '{"source": "a"}', '{"source": 1, "target": "b"}'])
def test_lines_that_hold_no_translation_are_refused(line: str) -> None:
    with pytest.raises(DataError, match=r"^x:1: "):
        translations([line], "x")


def test_misplaced_tags_are_put_around_the_words_that_belong_together() -> None:
    work = Work(opened("html", "<p>Click <a>here</a> now</p>"), Asked())
    chinese = {"Click <g1>here</g1> now": "<g1></g1>现在点这里", "Click here now": "现在点这里"}
    links = [(Range(0, 5), Range(2, 3)), (Range(6, 10), Range(3, 5)), (Range(11, 14), Range(0, 2))]
    of_lines = translated_lines(
        work,
        lambda lines: {line: Line(chinese[line]) for line in lines},
        lambda pairs: [links for _ in pairs],
    )
    assert work.written(of_lines).decode() == "<p>现在点<a>这里</a></p>"


def test_bytes_come_back_in_their_encoding_with_their_mark() -> None:
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"", "utf-8")):
        data = mark + '{"a": "One"}\r\n'.encode(name)
        work = Work(DocumentFile(BY_NAME["json"], data, Asked()), Asked())
        assert work.written({"One": Line("一")}) == mark + '{"a": "一"}\r\n'.encode(name)


@pytest.mark.parametrize(
    ("form", "data", "message"),
    [
        ("json", b'{"a": "b"', "line 1: the file ends here, before its last bracket"),
        ("json", b'{"a": "b" "c"}', "line 1: , is missing"),
        ("json", b'{\n"a": "b\n"}', "line 2: no string, or one that is not closed"),
        ("json", b"[" * 1000, "line 1: more than 100 levels"),
        ("yaml", b"a: [1\nb: 2", "line 2: "),
        ("po", b'msgid "a"\nmsgstr "b', "line 2: a string that is not closed"),
        ("po", b'msgid "a"\nfoo', "line 2: neither a comment nor a keyword"),
        ("xliff", b"<xliff>\n<a></xliff>", "line 2: mismatched tag"),
        ("xliff", b'<!DOCTYPE x [<!ENTITY a "b">]>\n<xliff/>', "line 1: declares entities"),
        ("srt", b"hello", "line 1: no time of a cue"),
        ("docx", b"PK", ""),
        ("json", b"\xff\xff", "line 1: not UTF-8"),
        (
            "markdown",
            b"Hi\nCaf\xe9",
            "line 2: not UTF-8; convert the file with iconv -f WINDOWS-1252",
        ),
        (
            "markdown",
            "Les élèves étaient là".encode() + b"\xff",
            "line 1: not UTF-8; convert the file to UTF-8",
        ),
        (
            "html",
            b'<meta charset="gb2312"><p>\xe9F</p>',
            "line 1: not GB2312; convert the file to UTF-8, and let it declare that",
        ),
        ("json", b" \n", "line 2: the file is empty"),
        ("text", b"a\0b", "holds NUL"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(form: str, data: bytes, message: str) -> None:
    with pytest.raises(DataError) as error:
        DocumentFile(BY_NAME[form], data, Asked())
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_every_format_has_a_page_of_cases_and_a_line_in_the_guide() -> None:
    root = Path(__file__).resolve().parents[2]
    shown = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.md"))
    guide = (root / "docs" / "guide" / "documents.md").read_text(encoding="utf-8")
    for form in FORMATS:
        assert f"\n```{form.name}" in shown or f"\n````{form.name}" in shown or form.name == "epub"
        assert f"`{form.name}`" in guide


SWAPPED = {"<x1/> of <x2/> files": "<x2/>个文件中的<x1/>"}


@pytest.mark.parametrize(
    ("form", "source", "expected"),
    [
        ("po", '#, c-format\nmsgid "%s of %d files"\nmsgstr ""\n', 'msgstr "%2$d个文件中的%1$s"'),
        (
            "po",
            '#, python-brace-format\nmsgid "{} of {} files"\nmsgstr ""\n',
            'msgstr "{1}个文件中的{0}"',
        ),
        ("po", '#, python-format\nmsgid "%s of %s files"\nmsgstr ""\n', 'msgstr ""'),
        ("strings", '"a" = "%@ of %d files";\n', '"%2$d个文件中的%1$@"'),
        ("json", '{"a": "%s of %d files"}', '"%s of %d files"'),
        ("json", '{"a": "{x} of {y} files"}', '"{y}个文件中的{x}"'),
    ],
)
def test_placeholders_without_numbers_keep_their_order_or_get_numbers(
    form: str, source: str, expected: str
) -> None:
    text, _ = translated(form, source, SWAPPED.__getitem__)
    assert expected in text


@pytest.mark.parametrize(
    ("form", "source", "lines"),
    [
        ("po", 'msgid "&larr; Back"\nmsgstr ""\n', ["&larr; Back"]),
        ("properties", "a=&Open file...\n", ["Open file..."]),
        (
            "properties",
            "a={0,choice,0#No cats|1<{0} cats} here\n",
            ["No cats here", "<x1/> cats here"],
        ),
        ("markdown", "As [@smith2015, p. 7] and [-@lee2019] say.", ["As <x1/> and <x2/> say."]),
        (
            "vtt",
            "WEBVTT\n\n00:01.000 --> 00:02.000\nIn <c.red>the back</c> now\n",
            ["In <g1>the back</g1> now"],
        ),
    ],
)
def test_what_a_translator_is_asked_for(form: str, source: str, lines: list[str]) -> None:
    assert Work(opened(form, source), Asked()).lines() == lines


def test_tabs_and_choices_that_cannot_be_read_stay() -> None:
    text, _ = translated(
        "json", '{"a": "Name:\\tvalue"}', {"Name:": "名称：", "value": "值"}.__getitem__
    )
    assert text == '{"a": "名称：\\t值"}'
    broken = '{"a": "{n, plural, one {x} other {y}"}'
    text, work = translated("json", broken, str.upper)
    assert text == broken
    assert [left.why for left in work.report.left] == ["its plurals or choices cannot be read"]


def test_characters_that_an_old_encoding_lacks_are_escaped() -> None:
    page = '<meta charset="iso-8859-1"><p>Café</p>'.encode("latin-1")
    work = Work(DocumentFile(BY_NAME["html"], page, Asked()), Asked())
    assert work.written({"Café": Line("é中")}) == page.replace(b"Caf\xe9", b"\xe9&#20013;")
    values = "a=Café\n".encode("latin-1")
    work = Work(DocumentFile(BY_NAME["properties"], values, Asked()), Asked())
    assert work.written({"Café": Line("中")}) == b"a=\\u4e2d\n"


def test_the_pages_of_an_epub_are_translated() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("a.xhtml", "<html><p>One</p></html>")
    work = Work(DocumentFile(BY_NAME["epub"], packed.getvalue(), Asked()), Asked())
    with zipfile.ZipFile(io.BytesIO(work.written({"One": Line("一")}))) as archive:
        assert archive.read("a.xhtml") == "<html><p>一</p></html>".encode()


def test_modules_and_components_of_mdx_stay_however_long() -> None:
    page = (
        '---\ntitle: To\n---\nimport A from "a";\n\nOne.\n\n'
        "export function B() {\n  return (\n\n    <i>x</i>\n  );\n}\n\n"
        '<A\n  b={() => {\n    return "x";\n  }}\n/>\n\nTwo {a.map(i => <li key={i}>{i}</li>)}.\n'
    )
    work = Work(opened("mdx", page), Asked())
    assert work.lines() == ["To", "One.", "Two <x1/>."]


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("This is **very**important.", "This is <g1>very</g1>important."),
        ("Un*frigging*believable", "Un<g1>frigging</g1>believable"),
        ("**very**odd and **that** one", "<g1>very</g1>odd and <g2>that</g2> one"),
        ("a *b **c** d* e", "a <g1>b <g2>c</g2> d</g1> e"),
        ("**a *b***", "<g1>a <g2>b</g2></g1>"),
        ("*a **b***c", "<g1>a <g2>b</g2></g1>c"),
        ("***x*** ~~y~~ _z_", "<g1>x</g1> <g2>y</g2> <g3>z</g3>"),
        ("2 * 3 *s and *(no)*one", "2 * 3 *s and *(no)*one"),
        ("a_b_c, __init__, y~~z~~", "a_b_c, __init__, y~~z~~"),
        ("==new== and a == b == c", "<g1>new</g1> and a == b == c"),
        ("Hi ${user}, go to ${place}", "Hi <x1/>, go to <x2/>"),
    ],
)
def test_marks_of_markdown_are_emphasis_as_commonmark_has_it(markdown: str, words: str) -> None:
    (unit,) = BY_NAME["markdown"].reader()(markdown, Asked()).units
    assert [text.words for text in unit.texts] == [words]


def test_bars_in_a_cell_of_markdown_are_separators() -> None:
    table = "| a | b |\n|---|---|\n| Hot \\| Cold | `x \\| y` |\n"
    markdown, _ = translated("markdown", table, lambda line: f"「{line}」")
    assert markdown == "| 「a」 | 「b」 |\n|---|---|\n| 「Hot」 \\| 「Cold」 | `x \\| y` |\n"


def test_a_block_of_yaml_keeps_its_line_ends() -> None:
    text = "a: |\r\n  One.\r\n\r\n  Two.\r\nb: >\r\n  Three\r\n  four.\r\n"
    yaml, _ = translated("yaml", text, lambda line: f"「{line}」")
    assert yaml.count("\n") == yaml.count("\r\n") == 6
    assert yaml.endswith("  「Three four.」\r\n")


def test_a_memory_keeps_characters_that_only_some_take_for_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "memory.tsv"
    add_to_memory(path, {}, {"One\u2028two\x85": "一\u2028二"})
    assert read_memory(path) == {"One\u2028two\x85": "一\u2028二"}
