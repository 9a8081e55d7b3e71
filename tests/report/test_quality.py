"""Scores of systems beside each other."""

import numpy as np
import pytest
from made_texts import HYPOTHESES, REFERENCES, SOURCES, WORSE

from nmt.checks.faults import ENGLISH_TO_CHINESE
from nmt.evaluation.annotations import SegmentScores
from nmt.evaluation.fault_rates import fault_rates
from nmt.evaluation.measurement import Measurement, measure, measure_segments, score
from nmt.evaluation.test_set import TestSet
from nmt.report.page.page import leaders
from nmt.report.systems import lines
from nmt.report.systems.buckets import by_frequency, by_length, by_ratio
from nmt.report.systems.lines import Seen, look
from nmt.report.systems.ngrams import Gram, advantages
from nmt.report.systems.quality import quality_of
from nmt.report.systems.sentences import sentences_of
from nmt.report.systems.words import WordCounts

BOTH = TestSet({"ours": HYPOTHESES, "half": WORSE}, [REFERENCES], SOURCES, ENGLISH_TO_CHINESE)


def seen(test_set: TestSet) -> Seen:
    return look(test_set, [], None)


def measured(metric: str, test_set: TestSet) -> Measurement:
    return measure(metric, test_set.systems, test_set.references)


@pytest.mark.parametrize(
    ("metric", "count"), [("bleu", 1), ("bleu_width", 1), ("chrf", 1), ("chrf", 2), ("ter", 1)]
)
def test_scores_are_those_of_evaluate(metric: str, count: int) -> None:
    """Which a test of its own compares with the sacrebleu command's."""
    references = [REFERENCES, HYPOTHESES[::-1]][:count]
    test_set = TestSet(BOTH.systems, references, None, ENGLISH_TO_CHINESE)
    found = quality_of(test_set, [measured(metric, test_set)], seen(test_set), None)
    (part,) = found.metrics
    assert part.scores[0] == score(HYPOTHESES, references, [metric])[0]
    expected = measure(metric, BOTH.systems, references)
    assert part.bootstrap == expected.p_values("bootstrap").tolist()
    assert part.randomisation == expected.p_values("randomisation").tolist()
    assert [sum(counts) for counts in part.distribution.counts] == [1000, 1000]


@pytest.mark.parametrize("metric", ["bleu", "bleu_width", "chrf", "ter"])
def test_parts_of_a_test_set_add_up(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = look(BOTH, [metric], None)
    monkeypatch.setattr(lines, "_CHUNK", 3)
    parts = look(BOTH, [metric], None)
    expected = measured(metric, BOTH).statistics
    for found in (whole, parts):
        np.testing.assert_array_equal(found.statistics[metric], expected)
    assert parts.faults == whole.faults
    assert parts.words.said == whole.words.said
    assert parts.words.wanted == whole.words.wanted
    assert parts.words.differing == whole.words.differing
    for ngram in whole.words.wanted:
        assert parts.words.right(ngram) == whole.words.right(ngram)


def test_scores_that_are_all_equal_have_a_distribution() -> None:
    equal = measure_segments(SegmentScores("comet", {"ours": [0.7] * len(SOURCES)}))
    alone = TestSet({"ours": HYPOTHESES}, [REFERENCES], None, ENGLISH_TO_CHINESE)
    (part,) = quality_of(alone, [equal], seen(alone), None).metrics
    assert sum(part.distribution.counts[0]) == 1000
    assert len({*part.distribution.edges}) == len(part.distribution.edges)


def test_fault_rates_are_those_of_evaluate() -> None:
    found = quality_of(BOTH, [measured("bleu", BOTH)], seen(BOTH), None).faults
    assert found == fault_rates(BOTH)


def test_a_system_alone_has_no_matrix_and_no_advantages() -> None:
    alone = TestSet({"ours": HYPOTHESES}, [REFERENCES], None, ENGLISH_TO_CHINESE)
    found = quality_of(alone, [measured("bleu", alone)], seen(alone), None)
    assert found.metrics[0].bootstrap == []
    assert found.advantages == []


def test_the_score_of_a_length_is_that_of_its_lines_alone() -> None:
    sources = ["word " * (5 if number < 4 else 15) for number in range(10)]
    test_set = TestSet(BOTH.systems, [REFERENCES], sources, ENGLISH_TO_CHINESE)
    found = by_length(test_set, measured("bleu", test_set))
    assert found.labels[:2] == ["1–10", "11–20"]
    assert found.sizes[:3] == [4, 6, 0]
    expected = score(HYPOTHESES[:4], [REFERENCES[:4]], ["bleu"])[0].value
    assert found.values[0][0] == pytest.approx(expected)
    assert found.values[0][2] is None


def words_of(*lines: tuple[str, ...]) -> WordCounts:
    """Lines: a reference, then what systems make of it."""
    counts = WordCounts(len(lines[0]) - 1)
    for line in lines:
        reference, *systems = [text.split() for text in line]
        counts.count(reference, systems)
    return counts


def test_f1_by_frequency_in_train() -> None:
    """Rare words: one of two right, of two said. Frequent ones: all right, but one said too often."""
    words = words_of(("a a r s", "a a a r x"))
    counts = {"a": 5000, "r": 3, "s": 3, "x": 3}
    found = by_frequency(words, counts)
    row = dict(zip(found.labels, found.values[0], strict=True))
    assert row["1–9"] == pytest.approx(50.0)
    assert row["1,000–9,999"] == pytest.approx(100 * 2 * 1 * (2 / 3) / (1 + 2 / 3))
    assert row["not listed"] is None
    assert found.sizes == [0, 2, 0, 0, 2, 0]


def test_f1_without_a_model_counts_in_the_references() -> None:
    found = by_frequency(words_of(("a b", "a c"), ("a", "a")), None)
    assert dict(zip(found.labels, found.sizes, strict=True))["1"] == 1
    assert dict(zip(found.labels, found.values[0], strict=True))["2"] == pytest.approx(100.0)


def test_words_that_no_reference_has_count_in_a_bucket_of_their_own() -> None:
    invented = " ".join(f"x{number}" for number in range(8))
    found = by_frequency(words_of(("a b", f"a b {invented}")), None)
    row = dict(zip(found.labels, found.values[0], strict=True))
    assert row["1"] == pytest.approx(100.0)
    assert row["in none"] is None


def test_ratios_of_lengths() -> None:
    references = ["一二三四五六七八九十"] * 2
    test_set = TestSet({"ours": ["一" * 10, "一" * 20]}, [references], None, ENGLISH_TO_CHINESE)
    found = by_ratio(test_set)
    shares = dict(zip(found.labels, found.values[0], strict=True))
    assert shares["0.9–1.1"] == 50.0
    assert shares["≥ 1.5"] == 50.0


def test_ngrams_that_one_has_and_another_has_not() -> None:
    counts = words_of(("a b c", "a b x", "a x c"), ("a b", "a b", "a b"))
    ours, theirs = advantages(["one", "other"], counts)
    assert (ours.system, ours.other) == ("one", "other")
    assert sorted(ours.grams, key=lambda gram: gram.words) == [
        Gram("a b", 2, 1, 2),
        Gram("b", 2, 1, 2),
    ]
    assert [gram.words for gram in theirs.grams] == ["c"]


def test_sentences_that_differ_most_come_first() -> None:
    chrf = measured("chrf", BOTH)
    found = sentences_of(BOTH, chrf, seen(BOTH).faults)
    differences = [sentence.difference for sentence in found]
    assert differences == sorted(differences, reverse=True)
    first = found[0]
    line = first.number - 1
    assert first.references == (REFERENCES[line],)
    assert first.outputs[1].text == WORSE[line]
    expected = chrf.sentences()[:, line]
    assert [output.chrf for output in first.outputs] == expected.tolist()


def test_leaders_are_those_that_none_beats_by_more_than_chance() -> None:
    test_set = TestSet(
        {"a": HYPOTHESES, "b": HYPOTHESES, "c": WORSE}, [REFERENCES], None, ENGLISH_TO_CHINESE
    )
    for metric in ("bleu", "ter"):
        facts = seen(test_set)
        (part,) = quality_of(test_set, [measured(metric, test_set)], facts, None).metrics
        assert leaders(part) == [0, 1]
