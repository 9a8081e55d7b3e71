import pytest

from nmt.errors import ConfigError, GateError
from nmt.evaluation.gate import check_gate, parse_floors
from nmt.evaluation.results import Comparison, Score


def test_floors_are_read() -> None:
    assert parse_floors(["bleu=20", " chrf = 15.5 "]) == {"bleu": 20, "chrf": 15.5}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["blue=20"], "unknown metric 'blue'; did you mean 'bleu'"),
        (["bleu"], "'bleu' is not a threshold; write METRIC=X, such as bleu=20"),
        (["bleu=high"], "'bleu=high': 'high' is not a number"),
        (["chrf=nan"], "'nan' is not a number; write METRIC=X, such as chrf=20"),
        (["bleu="], "'' is not a number"),
        (["bleu=20", "bleu=30"], "'bleu=30': bleu already has the threshold 20"),
    ],
)
def test_a_floor_that_cannot_be_read_is_explained(texts: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_floors(texts)


def scored(**values: float) -> list[Score]:
    return [Score(metric, value, value, value, "") for metric, value in values.items()]


def test_the_gate_opens_where_every_bar_holds() -> None:
    worse_by_chance = Comparison("bleu", 20, 21, -1, 0.2, "")
    better = Comparison("bleu", 20, 10, 10, 0.001, "")
    check_gate(
        {"ours": scored(bleu=20, ter=60)}, {"bleu": 20, "ter": 60}, [worse_by_chance, better]
    )


def test_the_gate_names_everything_that_does_not_hold() -> None:
    lost = Comparison("chrf", 10, 15, -5, 0.001, "")
    with pytest.raises(GateError) as caught:
        check_gate(
            {"ours": scored(bleu=19.5, chrf=10, ter=70)}, {"bleu": 20, "chrf": 5, "ter": 60}, [lost]
        )
    assert str(caught.value) == (
        "bleu 19.5000 is under 20; ter 70.0000 is over 60; "
        "chrf 10.0000 is significantly worse than the baseline's 15.0000 (p = 0.0010)"
    )


def test_a_rise_of_ter_is_a_loss() -> None:
    with pytest.raises(GateError, match=r"ter 70\.0000 is significantly worse"):
        check_gate({}, {}, [Comparison("ter", 70, 60, 10, 0.001, "")])
    check_gate({}, {}, [Comparison("ter", 60, 70, -10, 0.001, "")])


def test_a_bar_on_a_metric_that_was_not_measured_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="ter has the bar 60 but was not measured"):
        check_gate({"ours": scored(bleu=20)}, {"ter": 60})


def test_segment_scores_have_bars_too() -> None:
    floors = parse_floors(["comet=0.8", "metricx=3"], ["comet", "metricx"])
    lower = {"ter", "metricx"}
    check_gate({"ours": scored(comet=0.8, metricx=2.5)}, floors, (), lower)
    with pytest.raises(GateError, match=r"^metricx 3\.5000 is over 3$"):
        check_gate({"ours": scored(comet=0.9, metricx=3.5)}, floors, (), lower)


def test_every_system_is_held_to_the_bars() -> None:
    systems = {"good": scored(bleu=30), "bad": scored(bleu=10), "worse": scored(bleu=9)}
    check_gate(systems, {"bleu": 9})
    with pytest.raises(GateError) as caught:
        check_gate(systems, {"bleu": 20})
    assert str(caught.value) == "bad: bleu 10.0000 is under 20; worse: bleu 9.0000 is under 20"
