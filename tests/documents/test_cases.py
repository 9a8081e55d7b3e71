"""Each format by example: the files beside this one show inputs, and what becomes of them.

A case is a heading and two blocks in the format that their fence names: a document, and the same when every text in it
is translated into itself within 「」.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nmt.documents.asked import Asked
from nmt.documents.document import with_edits
from nmt.documents.files import DocumentFile
from nmt.documents.pipeline import Line, Work
from nmt.documents.registry import BY_NAME

_BLOCK = re.compile(
    r"^(?P<fence>`{3,4})(?P<format>\w+)(?P<asked>[^\n]*)\n(?P<text>.*?)^(?P=fence)$", re.S | re.M
)
_CASES = Path(__file__).parent


class Case(NamedTuple):
    form: str
    asked: Asked
    source: str
    expected: str


def _cases() -> Iterator[Any]:
    for path in sorted(_CASES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        blocks = list(_BLOCK.finditer(text))
        end = 0
        for source, expected in zip(blocks[::2], blocks[1::2], strict=True):
            title = text[end : source.start()].rpartition("## ")[2].strip()
            end = expected.end()
            asked = Asked(bilingual="bilingual" in source["asked"])
            case = Case(source["format"], asked, source["text"], expected["text"])
            yield pytest.param(case, id=f"{path.stem}: {title}")


CASES = list(_cases())


@pytest.mark.parametrize("case", CASES)
def test_every_text_is_replaced_and_nothing_else(case: Case) -> None:
    document = BY_NAME[case.form].reader()(case.source, case.asked)
    edits = []
    for unit in document.units:
        if not unit.existing:
            filled = [text.filled(lambda leaf: f"「{leaf.words}」") for text in unit.texts]
            edits += unit.write(filled)
    about = document.about if edits else []
    assert with_edits(document.text, [*edits, *about]) == case.expected


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_translation_that_is_the_source_changes_no_byte(case: Case, end: str) -> None:
    data = case.source.replace("\n", end).encode()
    form = BY_NAME[case.form]
    if form.is_archive:  # the case is a member of one
        document = form.reader()(data.decode(), case.asked)
        assert document.text.encode() == data
        return
    work = Work(DocumentFile(form, data, case.asked), case.asked)
    assert work.written({line: Line(line) for line in work.lines()}) == data
