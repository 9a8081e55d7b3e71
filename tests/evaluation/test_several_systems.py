"""Several systems side by side: the scores are those of each alone, and of each pair."""

import json

import pytest
from made_systems import REFERENCES, SYSTEMS

from nmt.checks.faults import ENGLISH_TO_CHINESE
from nmt.errors import ConfigError, DataError
from nmt.evaluation.annotations import SegmentScores, lines_by_label
from nmt.evaluation.evaluate import EvaluationOptions, evaluate, measure_systems
from nmt.evaluation.measurement import measure
from nmt.evaluation.records import by_metric, record_of
from nmt.evaluation.results import Evaluation
from nmt.evaluation.significance import pairs
from nmt.evaluation.tables import format_evaluation, format_warnings, sentence_table
from nmt.evaluation.test_set import TestSet

METRICS = ["bleu", "chrf"]
LABELS = ["news", "law"] * 30
LABELLED = lines_by_label("by", LABELS)
COMET = SegmentScores("comet", {name: [len(name) / 8] * 60 for name in SYSTEMS})
ABOUT = {name: {"hypothesis": f"{name}.zh"} for name in SYSTEMS}


def set_of(systems: dict[str, list[str]]) -> TestSet:
    return TestSet(systems, [REFERENCES], None, ENGLISH_TO_CHINESE)


def evaluated(systems: dict[str, list[str]]) -> Evaluation:
    return evaluate(measure_systems(set_of(systems), ["chrf"], EvaluationOptions()), {}, {})


OPTIONS = EvaluationOptions("randomisation", None, LABELLED, [COMET])
MEASURED = measure_systems(set_of(SYSTEMS), METRICS, OPTIONS)
FOUND = evaluate(MEASURED, {"lines": 60}, ABOUT)


def test_each_system_has_the_evaluation_that_it_has_alone() -> None:
    for name, lines in SYSTEMS.items():
        comet = SegmentScores("comet", {name: COMET.columns[name]})
        options = EvaluationOptions(labels=LABELLED, segment_scores=[comet])
        measured = measure_systems(set_of({name: lines}), METRICS, options)
        alone = record_of(evaluate(measured, ABOUT[name], {}))
        assert record_of(FOUND)["systems"][name] == alone


def test_json_holds_the_systems_by_name_and_each_pair_once() -> None:
    record = json.loads(json.dumps(record_of(FOUND)))
    assert list(record) == ["lines", "systems", "significance"]
    assert list(record["systems"]) == list(SYSTEMS)
    measured = measure("bleu", SYSTEMS, [REFERENCES])
    assert record["systems"]["bad"]["scores"]["bleu"] == by_metric([measured.scores()[1]])["bleu"]
    found = record["significance"]
    assert (found["test"], list(found["metrics"])) == ("randomisation", ["bleu", "chrf", "comet"])
    assert found["metrics"]["bleu"] == {
        "signature": measured.signed("randomisation"),
        "pairs": [vars(pair) for pair in pairs(measured, "randomisation")],
    }


def test_text_has_a_row_a_system_and_a_matrix_a_metric() -> None:
    blocks = [block.splitlines() for block in format_evaluation(FOUND).split("\n\n")]
    scores, signatures, by_bleu, by_chrf, by_comet, worst, groups, faults = blocks
    assert scores[0].split() == ["system", "bleu", "chrf", "comet"]
    good = FOUND.systems["good"].scores[0]
    row = f"1  good    {good.value:.2f} [{good.low:.2f}, {good.high:.2f}]  "
    assert scores[1].startswith(row)
    assert "  0.5000 [0.5000, 0.5000]" in scores[1]
    assert len(signatures) == 3
    assert by_bleu[0] == "p of each pair by bleu, approximate randomisation; * under 0.05"
    p = FOUND.pairs[0].pairs[0].p_value
    assert by_bleu[2].split()[:4] == ["1", "good", "–", f"{p:.4f}*"]
    assert by_bleu[3].split()[:4] == ["2", "bad", f"{p:.4f}*", "–"]
    assert by_chrf[1].split() == ["chrf", "1", "2", "3"]
    assert by_comet[2].split() == ["1", "good", "–", "0.0001*", "0.0001*"]
    assert worst[0].startswith("worst lines by comet  good    1 (0.5000), 2 (0.5000)")
    assert groups[0].split() == ["label", "lines", "system", "bleu", "chrf", "comet"]
    assert groups[1].split()[:3] == ["news", "30", "good"]
    assert faults[0].split() == ["lines", "with,", "in", "%", "1", "2", "3", "reference"]


def test_groups_are_test_sets_of_their_own() -> None:
    law = [line for line, label in zip(SYSTEMS["bad"], LABELS, strict=True) if label == "law"]
    references = [line for line, label in zip(REFERENCES, LABELS, strict=True) if label == "law"]
    alone = measure("chrf", {"bad": law}, [references]).scores()
    _, found = FOUND.systems["bad"].labels
    assert (found.label, found.lines, found.scores[1]) == ("law", 30, alone[0])


def test_a_table_of_sentences_has_a_line_for_each_sentence_of_each_system() -> None:
    header, *rows = sentence_table(MEASURED).splitlines()
    assert header.split("\t") == ["line", "system", "label", "bleu", "chrf", "comet"]
    assert len(rows) == 3 * 60
    chrf = measure("chrf", SYSTEMS, [REFERENCES]).sentences()
    fields = rows[60 + 6].split("\t")
    assert fields[:3] == ["7", "bad", "news"]
    assert fields[4:] == [f"{chrf[1, 6]:.4f}", "0.3750"]


def test_a_doubtful_system_is_named() -> None:
    systems = {"good": SYSTEMS["good"], "empty": ["", *SYSTEMS["bad"][1:]]}
    found = format_warnings(evaluated(systems))
    assert found == ["empty: 1 of 60 lines of hypothesis are blank, first line 1"]
    segmented = {"good": SYSTEMS["good"], "cut": [" ".join(line) for line in SYSTEMS["bad"]]}
    with pytest.raises(DataError, match=r"^cut: 100% of the hypothesis lines are segmented"):
        evaluated(segmented)


def test_more_than_ten_systems_are_refused() -> None:
    systems = {str(number): SYSTEMS["good"] for number in range(11)}
    with pytest.raises(ConfigError, match="11 systems; at most 10 are compared at a time"):
        evaluated(systems)
