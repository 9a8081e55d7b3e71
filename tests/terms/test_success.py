"""Which terms a translation has, and how often systems have them."""

import pytest

from nmt.terms.checking import oddities
from nmt.terms.glossary import Glossary, Term
from nmt.terms.matching import Matcher
from nmt.terms.rates import term_rates
from nmt.terms.success import uses, wrong

GLOSSARY = Glossary(
    (
        Term("bank", ("银行", "商行"), forbidden=("岸",)),
        Term("central bank", ("中央银行",)),
        Term("RNA", ("RNA",)),
        Term("Linux", ()),
    )
)


def found(source: str, translation: str) -> list[str]:
    return [use.found for use in uses(source, Matcher(GLOSSARY).find(source), translation)]


@pytest.mark.parametrize(
    ("source", "translation", "targets"),
    [
        ("the bank", "这家银行", ["银行"]),
        ("the bank", "这家商行", ["商行"]),
        ("the bank", "岸", [""]),
        ("bank and bank", "银行", ["银行", ""]),
        ("bank and bank", "银行和商行", ["银行", "商行"]),
        ("the central bank and a bank", "中央银行", ["中央银行", ""]),
        ("the central bank and a bank", "银行和中央银行", ["中央银行", "银行"]),
        ("RNA and Linux", "rna和Linux", ["RNA", "Linux"]),
        ("nothing", "银行", []),
    ],
)
def test_a_stretch_stands_for_one_term_only(
    source: str, translation: str, targets: list[str]
) -> None:
    assert found(source, translation) == targets


def test_what_is_wrong_is_said_in_few_words() -> None:
    source = "the central bank and the bank"
    of_line = uses(source, Matcher(GLOSSARY).find(source), "央行和河岸")
    assert wrong(of_line, "央行和河岸") == [
        "central bank is not 中央银行",
        "bank is not 银行 or 商行",
        "bank must not be 岸",
    ]


def test_rates_are_those_of_wmt() -> None:
    sources = ["a bank", "a bank", "the central bank"]
    systems = [["银行", "银行", "央行"], ["银行", "商行", "中央银行"]]
    references = [["银行", "岸", "中央银行"]]
    rates, in_sources, in_reference = term_rates(GLOSSARY, sources, systems, references)
    assert (in_sources, in_reference) == (3, 2)
    by_kind = {
        rate.kind: ([round(each) for each in rate.systems], round(rate.references))
        for rate in rates
    }
    assert by_kind == {
        "as in the glossary": ([67, 100], 67),
        "those in the reference": ([50, 100], 100),
        "consistent": ([100, 50], 50),
    }
    assert term_rates(GLOSSARY, ["none"], [["无"]], [["无"]]).rates == []


@pytest.mark.parametrize(
    ("terms", "remark"),
    [
        ([("bank", "银行"), ("bank", "银行")], "t:2: 'bank' stands in t:1 too"),
        (
            [("bank", "银行"), ("bank", "岸")],
            "t:2: 'bank' has two translations, 银行 and 岸; t:1 is taken",
        ),
        (
            [("bank", "银行"), ("Bank", "岸")],
            "t:2: 'Bank' differs from 'bank' (t:1) in capitals only",
        ),
        ([("the", "这")], "t:1: 'the' is a word of almost every sentence"),
        ([("x", "叉")], "t:1: 'x' has one character"),
        ([("银行", "bank")], "t:1: '银行' is Chinese; are the columns the wrong way round?"),
        ([("guide", "用戶指南")], "t:1: 'guide': '用戶指南' is in Traditional characters"),
        ([("bank", "Bank AG")], "t:1: 'bank': 'Bank AG' has no Chinese character"),
        (
            [("central bank", "央行"), ("bank", "银行")],
            "t:1: 'central bank' has 'bank' in it, whose '银行' is not in '央行'",
        ),
    ],
)
def test_what_is_odd_in_a_glossary_is_said(terms: list[tuple[str, str]], remark: str) -> None:
    glossary = Glossary(
        tuple(Term(source, (target,), f"t:{n}") for n, (source, target) in enumerate(terms, 1))
    )
    assert remark in list(oddities(glossary))


def test_nothing_is_odd_about_usual_terms() -> None:
    assert list(oddities(GLOSSARY)) == []
