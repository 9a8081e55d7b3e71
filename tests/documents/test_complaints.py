"""What users of other programs complain about: twenty kinds of damage, each with the threads that report it.

The texts are made up. A translator that answers in Chinese and keeps its tags stands for a model.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from nmt.documents.asked import Asked
from nmt.documents.files import DocumentFile
from nmt.documents.pipeline import Line, Work
from nmt.documents.registry import BY_NAME, format_of
from nmt.errors import ConfigError


def in_chinese(line: str) -> str:
    """Each word outside of tags as 词."""
    return re.sub(r"(<[^<>]*>)|[A-Za-z']+ ?", lambda match: match[1] or "词", line)


def work_on(
    form: str, data: bytes, translate: Callable[[str], str] = in_chinese
) -> tuple[bytes, Work]:
    work = Work(DocumentFile(BY_NAME[form], data, Asked()), Asked())
    return work.written({line: Line(translate(line)) for line in work.lines()}), work


def translated(form: str, text: str, translate: Callable[[str], str] = in_chinese) -> str:
    return work_on(form, text.encode(), translate)[0].decode()


def asked_for(form: str, data: bytes) -> list[str]:
    """The lines that a translator gets."""
    return Work(DocumentFile(BY_NAME[form], data, Asked()), Asked()).lines()


def docx(paragraphs: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        text = f'<w:document xmlns:w="{space}"><w:body>{paragraphs}</w:body></w:document>'
        archive.writestr("word/document.xml", text)
    return packed.getvalue()


def test_1_a_document_does_not_come_back_in_english() -> None:
    """LibreTranslate#947, #683, #599."""
    data, _ = work_on("docx", docx("<w:p><w:r><w:t>Good morning</w:t></w:r></w:p>"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        text = archive.read("word/document.xml").decode()
    assert "词词" in text
    assert "morning" not in text


def test_2_a_sentence_is_not_cut_where_its_style_changes() -> None:
    """DocumentTranslator-Legacy#91, #86; DocumentTranslation#59; Ebook-Translator#236."""
    run = "<w:r>{}<w:t xml:space='preserve'>{}</w:t></w:r>"
    bold = "<w:rPr><w:b/></w:rPr>"
    runs = run.format("", "My name ") + run.format(bold, "is") + run.format("", " Michael.")
    lines = asked_for("docx", docx(f"<w:p>{runs}</w:p>"))
    assert lines == ["My name <g1>is</g1> Michael."]


def test_3_a_sentence_is_not_cut_at_nested_tags() -> None:
    """LibreTranslate#806, translate-html#19."""
    lines = asked_for("html", b"<p>One <b>two <i>three</i></b> four.</p>")
    assert lines == ["One <g1>two <g2>three</g2></g1> four."]


def test_4_tags_are_neither_lost_nor_doubled() -> None:
    """bergamot-translator#288, translatelocally-web-ext#28, PR#266."""
    page = "<p>Go <u>fast</u> <b>now</b></p>"
    for bad in ("快<g1>走</g1>", "<g1>快</g1><g1>走</g1><g2></g2>", "<g1>快<g2>走</g1></g2>"):
        assert translated("html", page, lambda _, bad=bad: bad) == page


def test_5_no_debris_of_tags_is_in_the_text() -> None:
    """SubtitleEdit#8223, LibreTranslate#144, argos-translate#190."""
    cue = "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i> there<br />you\n"
    text = translated("srt", cue)
    assert re.findall(r"<[^<>]*>", text) == ["<i>", "</i>", "<br />"]


def test_6_what_is_escaped_stays_escaped_and_the_head_stays() -> None:
    """AiNiee#169, apertium#169."""
    text = '<?xml version="1.0" encoding="utf-8"?>\n<resources><string name="a">A &amp; B</string></resources>\n'
    out = translated("android", text, lambda _: "甲, 乙 & 丙 < 丁")
    assert out.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    assert "".join(ElementTree.fromstring(out.encode()).itertext()) == "甲, 乙 & 丙 < 丁"  # noqa: S314


def test_7_comments_stay() -> None:
    """LibreTranslate#552, #636."""
    page = '<!-- wp:paragraph {"a":1} -->\n<p>Hello</p>\n<!-- /wp:paragraph -->'
    assert translated("html", page) == page.replace("Hello", "词")


def test_8_cues_keep_their_number_their_order_and_their_times() -> None:
    """llm-subtrans#6, srt-ai#20 and others."""
    cues = "".join(
        f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nwords and more\n\n" for n in range(1, 40)
    )
    text = translated("srt", cues)
    times = r"\d+\n\S+ --> \S+\n(?=\S)"
    assert re.findall(times, text) == re.findall(times, cues)


def test_9_a_plural_has_the_one_form_of_chinese() -> None:
    """gptpo#2, dennis#79, Potomatic#8, translatebot-django PR#92."""
    text = 'msgid "%d cat"\nmsgid_plural "%d cats"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    out = translated("po", text, lambda line: line.replace(" cats", "只猫"))
    assert out.endswith('msgstr[0] "%d只猫"\n')
    assert "msgstr[1]" not in out


def test_10_a_guess_is_marked_as_one() -> None:
    """commcare-hq PR#37877."""
    assert "#, fuzzy\n" in translated("po", 'msgid "Cat"\nmsgstr ""\n')


def test_11_placeholders_stay_with_their_keys() -> None:
    """json-autotranslate#23, #1, #78, i18n-auto-translation#65, stat.ink#739."""
    messages = {f"k{n}": f'See {{{{v{n}}}}} <a href="{{url{n}}}">here</a> now' for n in range(300)}
    values = json.loads(translated("json", json.dumps(messages)))
    for n in range(300):
        assert f"{{{{v{n}}}}}" in values[f"k{n}"]
        assert f'<a href="{{url{n}}}">' in values[f"k{n}"]


def test_12_a_percent_sign_in_a_text_is_no_placeholder() -> None:
    """pgadmin4#9583, caja#1511, bleachbit#2305."""
    lines = asked_for("po", b'msgid "50% off"\nmsgstr ""\n')
    assert lines == ["50% off"]
    flagged = b'#, c-format\nmsgid "%d%% of %s"\nmsgstr ""\n'
    assert asked_for("po", flagged) == ["<x1/> of <x2/>"]


def test_13_line_breaks_stay() -> None:
    """weblate#10145, WPTranslationFiller#15, deepltranslate-core#65."""
    assert translated("json", '{"a": "One.\\nTwo.\\n"}') == '{"a": "词.\\n词.\\n"}'
    assert translated("html", "<p>One<br>Two</p>") == "<p>词<br>词</p>"


def test_14_codes_of_xliff_stay_as_they_are() -> None:
    """pootle#4762, Swordfish#8, MateCat PR#2014, weblate#4946, lit#2271."""
    source = '<source>A <g id="1">b</g> <x id="2"/> <ph id="3">%s</ph></source>'
    text = f'<xliff version="1.2"><file><body><trans-unit id="1">{source}</trans-unit></body></file></xliff>'
    out = translated("xliff", text)
    assert source in out
    target = ElementTree.fromstring(out).find(".//target")  # noqa: S314
    assert target is not None
    assert [element.tag for element in target] == ["g", "x", "ph"]


def test_15_markdown_keeps_its_marks_and_its_code() -> None:
    """LocalTranslate#56, gpt-translate#24, Markdown_translation#3, openformats#69."""
    page = (
        "---\nlayout: post\ntitle: Hello\n---\n## Two words\n\n"
        "```js\nlet word = 1\n```\n\n| A | B |\n|---|:-:|\n| C | `d` |\n"
    )
    assert translated("markdown", page) == (
        "---\nlayout: post\ntitle: 词\n---\n## 词词\n\n"
        "```js\nlet word = 1\n```\n\n| 词 | 词 |\n|---|:-:|\n| 词 | `d` |\n"
    )


def test_16_a_translation_that_was_given_is_used_on_every_page() -> None:
    """PDFMathTranslate#995, #966."""
    page = b"# Cell\n\n" + b"Text.\n\n" * 500 + b"| Cell |\n|---|\n| x |\n\nCell\n"
    work = Work(DocumentFile(BY_NAME["markdown"], page, Asked()), Asked(), {"Cell": "细胞"})
    out = work.written({line: Line(in_chinese(line)) for line in work.lines()}).decode()
    assert out.count("细胞") == 3


def test_17_pdf_is_refused_with_what_to_do_instead() -> None:
    """BabelDOC#535, #363, #502, #375, #593."""
    with pytest.raises(ConfigError, match="convert it to DOCX or HTML first"):
        format_of("pdf", None, b"%PDF-1.7")


def test_18_what_could_not_be_translated_is_still_there() -> None:
    """codex-editor PR#1115."""
    out, work = work_on(
        "json", b'{"a": "One", "b": "Two"}', lambda line: "" if line == "One" else "二"
    )
    assert json.loads(out) == {"a": "One", "b": "二"}
    assert [left.name for left in work.report.left] == ["a"]


def test_19_terms_can_be_given() -> None:
    """LibreTranslate#775, #820, LTEngine#11: whole texts by a memory; terms within sentences are yet to come."""
    work = Work(
        DocumentFile(BY_NAME["json"], b'{"a": "Cart"}', Asked()), Asked(), {"Cart": "购物车"}
    )
    assert json.loads(work.written({})) == {"a": "购物车"}


def test_20_words_in_html_are_translated_as_they_are_elsewhere() -> None:
    """jefs42/libretranslate PR#12."""
    of_html = asked_for("html", b"<p>olive olive olive</p>")
    assert of_html == asked_for("text", b"olive olive olive") == ["olive olive olive"]
