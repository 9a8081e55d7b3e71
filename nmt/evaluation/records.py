"""An evaluation as plain values: for JSON, and for the history."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from nmt.evaluation.results import Comparison, Evaluation, Score, SystemResult

Record = dict[str, Any]


def record_of(evaluation: Evaluation) -> Record:
    """The record of one system; or those of several by name, and each pair of them."""
    systems = {}
    for number, (name, result) in enumerate(evaluation.systems.items()):
        systems[name] = {**result.about, **_system(evaluation, number, result)}
    if len(systems) == 1:
        [record] = systems.values()
        return {**evaluation.about, **record}
    by_metric = {}
    for each in evaluation.pairs:
        pairs = [asdict(pair) for pair in each.pairs]
        by_metric[each.metric] = {"signature": each.signature, "pairs": pairs}
    significance = {"test": evaluation.test, "metrics": by_metric}
    return {**evaluation.about, "systems": systems, "significance": significance}


def _system(evaluation: Evaluation, number: int, result: SystemResult) -> Record:
    record: Record = {"warnings": result.warnings}
    if result.comparisons:
        record["comparisons"] = by_metric(result.comparisons)
    record["checks"] = {
        rate.kind: {"translation": rate.systems[number], "reference": rate.references}
        for rate in evaluation.fault_rates
    }
    if evaluation.term_rates:
        record["terms"] = {
            rate.kind: {"translation": rate.systems[number], "reference": rate.references}
            for rate in evaluation.term_rates
        }
    record["scores"] = by_metric(result.scores)
    if result.segment_scores:
        segment_scores = by_metric(each.score for each in result.segment_scores)
        for each in result.segment_scores:
            worst = [asdict(line) for line in each.worst]
            segment_scores[each.score.metric]["worst"] = worst
        record["segment_scores"] = segment_scores
    if result.labels:
        record["groups"] = {
            each.label: {"lines": each.lines, "scores": by_metric(each.scores)}
            for each in result.labels
        }
    return record


def by_metric(results: Iterable[Score | Comparison]) -> dict[str, Record]:
    """Results of one metric each: metric → the other fields."""
    fields_by_metric = {}
    for result in results:
        fields = asdict(result)
        metric = fields.pop("metric")
        fields_by_metric[metric] = fields
    return fields_by_metric
