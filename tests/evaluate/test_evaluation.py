import json

from sentences import HYPOTHESES, REFERENCES

from nmt.evaluate.evaluation import by_metric, evaluate
from nmt.evaluate.measurement import score
from nmt.evaluate.significance import compare


def test_json_holds_scores_by_metric_beside_what_else_is_known() -> None:
    scores = score(HYPOTHESES, [REFERENCES], ["bleu", "chrf"])
    record = evaluate(
        HYPOTHESES, [REFERENCES], None, ["bleu", "chrf"], {"model": "runs/x"}, None
    ).as_json()
    assert record["model"] == "runs/x"
    assert json.loads(json.dumps(record))["scores"] == by_metric(scores)
    assert record["scores"]["bleu"] == {
        "value": scores[0].value,
        "low": scores[0].low,
        "high": scores[0].high,
        "signature": scores[0].signature,
    }


def test_json_holds_comparisons_only_with_a_baseline() -> None:
    alone = evaluate(HYPOTHESES, [REFERENCES], None, ["chrf"], {}, None).as_json()
    compared = evaluate(HYPOTHESES, [REFERENCES], REFERENCES, ["chrf"], {}, None).as_json()
    assert list(alone) == ["warnings", "checks", "scores"]
    assert list(compared) == ["warnings", "comparisons", "checks", "scores"]
    assert compared["comparisons"] == by_metric(
        compare(HYPOTHESES, REFERENCES, [REFERENCES], ["chrf"])
    )


def test_text_has_a_table_of_comparisons_only_with_a_baseline() -> None:
    alone = evaluate(HYPOTHESES, [REFERENCES], None, ["chrf"], {}, None).as_text()
    compared = evaluate(HYPOTHESES, [REFERENCES], REFERENCES, ["chrf"], {}, None).as_text()
    assert len(alone.split("\n\n")) == 2
    assert len(compared.split("\n\n")) == 3
