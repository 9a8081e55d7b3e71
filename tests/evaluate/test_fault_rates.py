import pytest

from nmt.checks.faults import KINDS
from nmt.evaluate.fault_rates import PUNCTUATION, TRADITIONAL, FaultRate, fault_rates

REFERENCES = ["你好。", "他有2只猫。", "谢谢。", "我喝茶。"]
SOURCES = ["Hello.", "He has 2 cats.", "Thank you.", "I drink tea."]


def rate(kind: str, rates: list[FaultRate]) -> tuple[float, float]:
    (found,) = (each for each in rates if each.kind == kind)
    return found.translation, found.reference


def test_without_sources_only_what_a_line_shows_is_looked_for() -> None:
    rates = fault_rates(["你好.", *REFERENCES[1:]], [REFERENCES], None)
    assert [each.kind for each in rates] == [PUNCTUATION, TRADITIONAL]


def test_with_sources_every_kind_of_fault_has_a_rate() -> None:
    rates = fault_rates(REFERENCES, [REFERENCES], SOURCES)
    assert [each.kind for each in rates] == [PUNCTUATION, TRADITIONAL, *KINDS]
    assert {(each.translation, each.reference) for each in rates} == {(0.0, 0.0)}


@pytest.mark.parametrize(
    ("kind", "hypotheses", "percent"),
    [
        (PUNCTUATION, ["你好.", "他有2只猫.", "谢谢。", "我喝茶。"], 50),
        (TRADITIONAL, ["你好。", "他有2隻貓。", "謝謝。", "我喝茶。"], 50),
        ("number missing", ["你好。", "他有猫。", "谢谢。", "我喝茶。"], 25),
    ],
)
def test_a_rate_is_the_percentage_of_lines_with_the_fault(
    kind: str, hypotheses: list[str], percent: float
) -> None:
    assert rate(kind, fault_rates(hypotheses, [REFERENCES], SOURCES)) == (percent, 0)


def test_a_line_with_a_fault_twice_counts_once() -> None:
    (translation, _) = rate("number missing", fault_rates(["有。"], [["有2和3。"]], ["2 and 3."]))
    assert translation == 100


def test_several_references_are_averaged() -> None:
    faulty = ["你好.", "他有2只猫.", "谢谢。", "我喝茶。"]
    found = rate(PUNCTUATION, fault_rates(REFERENCES, [REFERENCES, faulty], SOURCES))
    assert found == (0, 25)
