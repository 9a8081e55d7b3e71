import json

from sentences import HYPOTHESES, REFERENCES

from nmt.checks.faults import ENGLISH_TO_CHINESE
from nmt.evaluation.evaluate import EvaluationOptions, evaluate, measure_systems
from nmt.evaluation.measurement import score
from nmt.evaluation.records import by_metric, record_of
from nmt.evaluation.results import Evaluation
from nmt.evaluation.significance import compare
from nmt.evaluation.tables import format_evaluation
from nmt.evaluation.test_set import TestSet

ALONE = EvaluationOptions()
COMPARED = EvaluationOptions(baseline=REFERENCES)


def evaluated(metrics: list[str], options: EvaluationOptions) -> Evaluation:
    test_set = TestSet({"ours": HYPOTHESES}, [REFERENCES], None, ENGLISH_TO_CHINESE)
    return evaluate(measure_systems(test_set, metrics, options), {"model": "runs/x"}, {})


def test_a_record_holds_scores_by_metric_beside_what_else_is_known() -> None:
    scores = score(HYPOTHESES, [REFERENCES], ["bleu", "chrf"])
    record = record_of(evaluated(["bleu", "chrf"], ALONE))
    assert record["model"] == "runs/x"
    assert json.loads(json.dumps(record))["scores"] == by_metric(scores)
    assert record["scores"]["bleu"] == {
        "value": scores[0].value,
        "low": scores[0].low,
        "high": scores[0].high,
        "signature": scores[0].signature,
    }


def test_a_record_holds_comparisons_only_with_a_baseline() -> None:
    alone = record_of(evaluated(["chrf"], ALONE))
    compared = record_of(evaluated(["chrf"], COMPARED))
    assert list(alone) == ["model", "warnings", "checks", "scores"]
    assert list(compared) == ["model", "warnings", "comparisons", "checks", "scores"]
    assert compared["comparisons"] == by_metric(
        compare(HYPOTHESES, REFERENCES, [REFERENCES], ["chrf"])
    )


def test_text_has_a_table_of_comparisons_only_with_a_baseline() -> None:
    alone = format_evaluation(evaluated(["chrf"], ALONE))
    compared = format_evaluation(evaluated(["chrf"], COMPARED))
    assert len(alone.split("\n\n")) == 2
    assert len(compared.split("\n\n")) == 3
