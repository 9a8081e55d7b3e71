"""Glossaries in the formats that people have, and what is wrong with some."""

from pathlib import Path

import pytest

from nmt.errors import DataError, UserError
from nmt.terms.glossary import Term
from nmt.terms.reading import read_glossaries, read_glossary

TBX = """<?xml version="1.0"?>
<martif type="TBX"><text><body>
<termEntry id="1"><langSet xml:lang="en"><tig><term>bank</term></tig></langSet>
<langSet xml:lang="zh-CN"><tig><term>银行</term></tig>
<tig><term>岸</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet></termEntry>
<termEntry id="2"><langSet xml:lang="en"><tig><term>alone</term></tig></langSet></termEntry>
</body></text></martif>
"""
TBX_3 = """<tbx xmlns="urn:iso:std:iso:30042:ed-2"><text><body><conceptEntry id="a">
<langSec xml:lang="en-US"><termSec><term>user</term></termSec></langSec>
<langSec xml:lang="zh"><termSec><term>用户</term></termSec><termSec><term>使用者</term></termSec></langSec>
</conceptEntry></body></text></tbx>
"""
PO = 'msgid ""\nmsgstr "Language: zh_CN\\n"\n\nmsgid "bank"\nmsgstr "银行"\n\nmsgid "new"\nmsgstr ""\n'


def read(tmp_path: Path, name: str, content: str | bytes) -> list[Term]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    terms = read_glossary(path).terms
    assert all(term.place.startswith(str(path)) for term in terms)
    return [Term(term.source, term.targets, "", term.case, term.forbidden) for term in terms]


@pytest.mark.parametrize(
    ("name", "content", "terms"),
    [
        (
            "a.tsv",
            "bank\t银行\n\nuser\t用户\ta comment\n",
            [("bank", ("银行",)), ("user", ("用户",))],
        ),
        ("a.tsv", "\ufeffbank\t银行\r\nuser\t用户\r\n", [("bank", ("银行",)), ("user", ("用户",))]),
        ("a.txt", "bank\t银行|商行\n", [("bank", ("银行", "商行"))]),
        ("a.tsv", "Linux\t\n", [("Linux", ())]),
        ("a.tsv", '"the ""bank"""\t银行\n', [('the "bank"', ("银行",))]),
        (
            "a.csv",
            'bank,银行,en,zh\n"a, b","甲、乙"\n',
            [("bank", ("银行",)), ("a, b", ("甲、乙",))],
        ),
        ("a.csv", "bank;银行\nuser;用户\n", [("bank", ("银行",)), ("user", ("用户",))]),
        ("a.csv", "note,target,source\nx,银行,bank\n", [("bank", ("银行",))]),
        ("a.csv", "en,zh\nbank,银行\n", [("bank", ("银行",))]),
        ("a.tsv", "Source\tTarget\nbank\t银行\n", [("bank", ("银行",))]),
        ("a.tbx", TBX_3, [("user", ("用户", "使用者"))]),
        ("a.po", PO, [("bank", ("银行",))]),
        ("a.tsv", "bank\t銀行\n", [("bank", ("銀行",))]),
    ],
)
def test_each_format_is_read(
    tmp_path: Path, name: str, content: str, terms: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert read(tmp_path, name, content) == [Term(*each) for each in terms]


def test_a_header_names_more_columns(tmp_path: Path) -> None:
    text = (
        "source\ttarget\tcase\tforbidden\tdo-not-translate\n"
        "WHO\t世卫组织\tyes\t谁|世界卫生组织\t\nit\t它\tno\t\t\nGo\t走\t\t\tyes\n"
    )
    assert read(tmp_path, "a.tsv", text) == [
        Term("WHO", ("世卫组织",), "", "exact", ("谁", "世界卫生组织")),
        Term("it", ("它",), "", "any"),
        Term("Go", (), ""),
    ]


def test_deprecated_terms_of_tbx_are_forbidden(tmp_path: Path) -> None:
    assert read(tmp_path, "a.tbx", TBX) == [Term("bank", ("银行",), "", "", ("岸",))]


def test_several_files_are_one_glossary(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("bank\t甲\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("bank,乙\n", encoding="utf-8")
    glossary = read_glossaries([tmp_path / "a.tsv", tmp_path / "b.csv"])
    assert [term.targets for term in glossary.terms] == [("甲",), ("乙",)]
    assert glossary.fingerprint() != read_glossaries([tmp_path / "b.csv"]).fingerprint()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "", "a.tsv: holds no term; write one a line, source<TAB>target"),
        ("a.tsv", "source\ttarget\n", "a.tsv: holds no term"),
        ("a.tsv", "bank\t银行\nuser\n", "a.tsv:2: one column, but source<TAB>target is needed"),
        ("a.tsv", "\t银行\n", "a.tsv:1: no source beside '银行'"),
        (
            "a.tsv",
            "x" * 10**6 + "\t银行\n",
            "a.tsv:1: a source of 1,000,000 characters; a term has at most 300",
        ),
        ("a.csv", 'bank,"银行\n', "a.csv:1: unexpected end of data"),
        ("a.tsv", b"bank\t\xff\xfe\n", "a.tsv: line 1: not UTF-8; convert the file to UTF-8"),
        (
            "a.tsv",
            "source\ttarget\tcase\nbank\t银行\tmaybe\n",
            'a.tsv:2: case "maybe" is neither yes nor no',
        ),
        ("a.tbx", "<martif>", "a.tbx: line 1: no element found"),
        ("a.tbx", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares entities"),
        ("a.po", 'msgid "a\n', "a.po: line 1"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, name, content)
    assert message in str(error.value).replace(f"{tmp_path}/", "")
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no\.tsv: no such file"):
        read_glossary(tmp_path / "no.tsv")
