"""Where terms are in a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.terms.glossary import Case, Glossary, Term
from nmt.terms.matching import Matcher


def found(line: str, *sources: str, case: Case = "") -> list[str]:
    terms = tuple(Term(source, ("词",), case=case) for source in sources)
    return [line[start:end] for start, end, _ in Matcher(Glossary(terms)).find(line)]


@pytest.mark.parametrize(
    ("line", "source", "words"),
    [
        ("The bank is shut.", "bank", ["bank"]),
        ("Banks and BANKS", "bank", ["Banks", "BANKS"]),
        ("the bank's rate, the banks’ rates", "bank", ["bank", "banks"]),
        ("embankment, bankers, snowbank", "bank", []),
        ("policies and boxes", "policy", ["policies"]),
        ("policies and boxes", "box", ["boxes"]),
        ("her children", "child", ["children"]),
        ("two analyses", "analysis", ["analyses"]),
        ("a class of status", "clas", []),
        ("three heads of state", "head of state", ["heads of state"]),
        ("mothers-in-law", "mother-in-law", []),
        ("the  central\tbank", "central bank", ["central\tbank"]),
        ("flu-like, anti-flu, flu.", "flu", ["flu"]),
        ("COVID-19-related, non-COVID-19", "COVID-19", ["COVID-19", "COVID-19"]),
        ("in C++ and C", "C++", ["C++"]),
        ("with .NET 8", ".NET", [".NET"]),
        ("a.*b( is one", "a.*b(", ["a.*b("]),
        ("well 😀 done", "😀", ["😀"]),
        ("AT&T pays", "AT&T", ["AT&T"]),
        ("see https://bank.com/bank and `bank`", "bank", []),
        ("<b>bank</b> at bank@bank.com", "bank", ["bank"]),
    ],
)
def test_terms_stand_on_the_borders_of_words(line: str, source: str, words: list[str]) -> None:
    assert (
        found(line, source) == [" ".join(each.split("\t")) for each in words]
        or found(line, source) == words
    )


@pytest.mark.parametrize(
    ("line", "source", "case", "words"),
    [
        ("Apple, APPLE, apple", "Apple", "", ["Apple", "APPLE"]),
        ("Apple, APPLE, apple", "apple", "", ["Apple", "APPLE", "apple"]),
        ("Who is WHO?", "WHO", "", ["WHO"]),
        ("Who is WHO?", "WHO", "any", ["Who", "WHO"]),
        ("Apple, APPLE, Apples", "Apple", "exact", ["Apple", "Apples"]),
    ],
)
def test_a_capital_of_the_term_is_one_in_the_text(
    line: str, source: str, case: Case, words: list[str]
) -> None:
    assert found(line, source, case=case) == words


def test_the_longest_is_taken_and_none_within_it() -> None:
    line = "the central bank of the bank"
    assert found(line, "bank", "central bank", "the central") == ["central bank", "bank"]


def test_of_two_with_one_source_the_first_is_taken() -> None:
    matcher = Matcher(Glossary((Term("bank", ("甲",)), Term("bank", ("乙",)))))
    assert [match.term.targets for match in matcher.find("a bank")] == [("甲",)]


@given(
    st.lists(st.text("ab c-'.", min_size=1, max_size=6), max_size=6),
    st.text("abc -'.\t", max_size=40),
)
def test_matches_do_not_overlap_and_are_words_of_their_terms(sources: list[str], line: str) -> None:
    end = 0
    for match in Matcher(Glossary(tuple(Term(each, ("词",)) for each in sources))).find(line):
        assert end <= match.start < match.end
        end = match.end
        words = " ".join(line[match.start : match.end].split()).casefold()
        assert words.startswith(" ".join(match.term.source.split()).casefold()[:-1])
