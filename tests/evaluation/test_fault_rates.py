import pytest

from nmt.checks.faults import ANY_DIRECTION, CHECKS, ENGLISH_TO_CHINESE, Direction
from nmt.evaluation.fault_rates import PUNCTUATION, TRADITIONAL, fault_rates
from nmt.evaluation.metrics import Lines, References
from nmt.evaluation.results import FaultRate
from nmt.evaluation.test_set import TestSet

REFERENCES = ["你好。", "他有2只猫。", "谢谢。", "我喝茶。"]
SOURCES = ["Hello.", "He has 2 cats.", "Thank you.", "I drink tea."]


def rates_of(
    hypotheses: Lines,
    references: References,
    sources: Lines | None,
    direction: Direction = ENGLISH_TO_CHINESE,
) -> list[FaultRate]:
    return fault_rates(TestSet({"ours": hypotheses}, references, sources, direction))


def rate(kind: str, rates: list[FaultRate]) -> tuple[float, float]:
    (found,) = (each for each in rates if each.kind == kind)
    (translation,) = found.systems
    return translation, found.references


def test_without_sources_only_what_a_line_shows_is_looked_for() -> None:
    rates = rates_of(["你好.", *REFERENCES[1:]], [REFERENCES], None)
    assert [each.kind for each in rates] == [PUNCTUATION, TRADITIONAL]


def test_with_sources_every_kind_of_fault_has_a_rate() -> None:
    rates = rates_of(REFERENCES, [REFERENCES], SOURCES)
    assert [each.kind for each in rates] == [PUNCTUATION, TRADITIONAL, *CHECKS[ENGLISH_TO_CHINESE]]
    assert {rate(each.kind, rates) for each in rates} == {(0.0, 0.0)}


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
    assert rate(kind, rates_of(hypotheses, [REFERENCES], SOURCES)) == (percent, 0)


def test_a_line_with_a_fault_twice_counts_once() -> None:
    (translation, _) = rate("number missing", rates_of(["有。"], [["有2和3。"]], ["2 and 3."]))
    assert translation == 100


def test_several_references_are_averaged() -> None:
    faulty = ["你好.", "他有2只猫.", "谢谢。", "我喝茶。"]
    found = rate(PUNCTUATION, rates_of(REFERENCES, [REFERENCES, faulty], SOURCES))
    assert found == (0, 25)


def test_each_system_has_its_rate() -> None:
    systems = {"good": REFERENCES, "half": ["你好.", "他有2只猫.", *REFERENCES[2:]]}
    [punctuation, _] = fault_rates(TestSet(systems, [REFERENCES], None, ENGLISH_TO_CHINESE))
    assert punctuation == FaultRate(PUNCTUATION, [0, 50], 0)


def test_into_english_nothing_is_looked_for_that_was_made_for_chinese() -> None:
    numbers = ["I have 3 cats and two dogs.", "“Hello”, she said."]
    sources = ["我有三只猫和两条狗。", "她说：“你好。”"]
    found = rates_of(numbers, [numbers], sources, ("zh", "en"))
    assert found == [FaultRate(kind, [0], 0) for kind in ANY_DIRECTION]
    assert rates_of(numbers, [numbers], None, ("zh", "en")) == []
