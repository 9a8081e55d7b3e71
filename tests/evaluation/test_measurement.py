"""Scores of several systems are those of the sacrebleu command."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from made_systems import BAD, EQUAL, GOOD, REFERENCES, SYSTEMS, sentences, spoilt
from sacrebleu import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from sentences import OUR_METRICS

from nmt.errors import ConfigError, DataError
from nmt.evaluation import resampling
from nmt.evaluation.formulas import bleu_rows, chrf_rows, formula_of
from nmt.evaluation.measurement import Measurement, measure, score
from nmt.evaluation.metrics import METRICS, new_metric, prepared_references, values
from nmt.evaluation.results import PairedTest as TestName
from nmt.evaluation.significance import compare, pairs

OPTIONS = ["-tok", "zh", "--ter-asian-support", "--ter-normalized", "-w", "4"]
OF_SACREBLEU = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}


def sacrebleu_command(folder: Path, texts: dict[str, list[str]], *options: str) -> str:
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", *options, *OPTIONS]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(
    scope="module", params=[("bootstrap", "--paired-bs"), ("randomisation", "--paired-ar")]
)
def printed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TestName, str]:
    """What the command prints of all systems by all metrics, each system compared with the first."""
    test, option = request.param
    folder = tmp_path_factory.mktemp(test)
    texts = {"ref": REFERENCES, **SYSTEMS}
    # not `-f json`: it fails for chrF and TER in sacrebleu 2.6
    options = ["ref", "-i", *SYSTEMS, "-m", "bleu", "chrf", "ter", option, "-f", "latex"]
    return test, sacrebleu_command(folder, texts, *options)


@pytest.mark.parametrize("metric", OF_SACREBLEU)
def test_scores_and_p_values_of_several_systems_are_those_of_the_command(
    metric: str, printed: tuple[TestName, str]
) -> None:
    test, text = printed
    measured = measure(metric, SYSTEMS, [REFERENCES])
    rows = [line.split("&") for line in text.splitlines() if "&" in line]
    column = next(n for n, title in enumerate(rows[0]) if OF_SACREBLEU[metric] in title)
    for place, value in enumerate(measured.values):
        row = rows[place + 1]
        assert float(row[column].split()[0]) == float(f"{value:.4f}")
        p_value = re.search(r"p = (\d\.\d+)", row[column])
        assert (p_value is None) == (place == 0)
        if p_value:
            assert float(p_value[1]) == float(f"{measured.p_values(test)[0, place]:.4f}")
    assert f"{measured.signed(test)}\n" in text


def test_each_pair_has_the_p_value_that_sacrebleu_gives_it_with_the_other_as_baseline() -> None:
    measured = measure("chrf", SYSTEMS, [REFERENCES])
    for test, kind in (("bootstrap", "bs"), ("randomisation", "ar")):
        matrix = measured.p_values(test)  # type: ignore[arg-type]  # a test's name
        assert np.array_equal(matrix, matrix.T)
        assert np.array_equal(matrix.diagonal(), np.ones(3))
        for first in range(2):
            named = list(SYSTEMS.items())[first:]
            columns = PairedTest(named, {"chrf": CHRF()}, [REFERENCES], test_type=kind)()[1]
            theirs = [getattr(result, "p_value", None) for result in columns["chrF2"]]
            assert matrix[first, first + 1 :].tolist() == theirs[1:]


def test_pairs_are_the_matrix_and_the_comparisons() -> None:
    measured = measure("bleu", SYSTEMS, [REFERENCES])
    found = pairs(measured)
    assert [(each.first, each.second) for each in found] == [
        ("good", "bad"),
        ("good", "nearly"),
        ("bad", "nearly"),
    ]
    [worse] = compare(BAD, GOOD, [REFERENCES], ["bleu"])
    assert (found[0].difference, found[0].p_value) == (-worse.difference, worse.p_value)
    assert found[0].is_significant


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++"])
def test_three_references_are_those_of_sacrebleu(metric: str) -> None:
    references = [REFERENCES, spoilt(REFERENCES, 0.1, seed=5), sentences(60, seed=6)]
    systems = {"good": GOOD, "equal": EQUAL}
    measured = measure(metric, systems, references)
    for test, kind in (("bootstrap", "bs"), ("randomisation", "ar")):
        theirs = PairedTest(
            list(systems.items()), {metric: new_metric(metric)}, references, test_type=kind
        )
        signatures, columns = theirs()
        ((name, signature),) = signatures.items()
        _, result = columns[name]
        assert measured.values[1] == getattr(result, "score", None)
        assert measured.p_values(test)[0, 1] == getattr(result, "p_value", None)  # type: ignore[arg-type]
        assert measured.signed(test) == str(signature)  # type: ignore[arg-type]
        assert measured.signed(test).startswith("nrefs:3|")  # type: ignore[arg-type]


def test_ter_against_three_references_counts_equal_trials_as_equal() -> None:
    """Mean lengths are thirds: sacrebleu's sums of them differ in the last bit, and many trials then seem larger."""
    references = [REFERENCES, spoilt(REFERENCES, 0.1, seed=5), sentences(60, seed=6)]
    in_thirds = measure("ter", {"good": GOOD, "equal": EQUAL}, references)
    whole = replace(in_thirds, statistics=(3 * in_thirds.statistics).round())
    p_values = in_thirds.p_values("randomisation")
    assert np.array_equal(p_values, whole.p_values("randomisation"))
    assert p_values[0, 1] == pytest.approx(0.0407, abs=0.015)  # sacrebleu 2.6


def test_two_references_are_those_of_the_command(tmp_path: Path) -> None:
    other = spoilt(REFERENCES, 0.1, seed=5)
    texts = {"ref1": REFERENCES, "ref2": other, "hyp": GOOD}
    options = [
        "ref1",
        "ref2",
        "-i",
        "hyp",
        "-m",
        "bleu",
        "chrf",
        "ter",
        "--confidence",
        "-f",
        "text",
    ]
    text = sacrebleu_command(tmp_path, texts, *options)
    for found in score(GOOD, [REFERENCES, other], OF_SACREBLEU):
        assert f"{OF_SACREBLEU[found.metric]}|{found.signature} = {found.value:.4f} " in text


def test_a_blank_line_among_several_references_is_none() -> None:
    """Sacrebleu, given "", would take it for a reference, and for the one nearest to a short hypothesis."""
    reference, other = ["我喜欢喝热茶。", "你好。", ""], ["我爱喝热茶。", "  ", ""]
    hypotheses = ["我爱喝茶。", "你们好。", ""]
    for metric in ("bleu", "chrf", "ter"):
        as_none = [["我喜欢喝热茶。", "你好。", ""], ["我爱喝热茶。", None, ""]]
        oracle = new_metric(metric)
        expected: Any = oracle.corpus_score(hypotheses, as_none)  # type: ignore[arg-type]
        measured = measure(metric, {"": hypotheses}, [reference, other])
        assert measured.values == [expected.score]
        assert measured.signature == str(oracle.get_signature())
        assert measured.signature.startswith("nrefs:var|")
        assert values(hypotheses, [reference, other], [metric]) == {metric: expected.score}
    assert prepared_references("bleu", [reference]) == [reference]


def test_texts_of_other_lengths_are_named() -> None:
    with pytest.raises(DataError, match=r"60 lines of hypothesis but 59 lines of reference 2;"):
        measure("bleu", {"good": GOOD}, [REFERENCES, REFERENCES[1:]])


ORACLES: dict[str, Callable[[], Any]] = {
    "bleu": lambda: BLEU(tokenize="zh", effective_order=True),
    "chrf": CHRF,
    "chrf++": lambda: CHRF(word_order=2),
    "ter": lambda: TER(normalized=True, asian_support=True),
}


@pytest.mark.parametrize("metric", ORACLES)
def test_sentences_are_scored_as_sacrebleu_scores_one(metric: str) -> None:
    hypotheses = ["", "好", *GOOD[:20]]
    references = [["你好。", "好", *REFERENCES[:20]], ["", "", *BAD[:20]]]
    found = measure(metric, {"": hypotheses}, references).sentences()
    oracle = ORACLES[metric]()
    for place, line in enumerate(hypotheses):
        versions = [each[place] for each in references if each[place]]
        assert found[0, place] == pytest.approx(oracle.sentence_score(line, versions).score)


def test_sentence_bleu_is_that_of_the_command(tmp_path: Path) -> None:
    texts = {"ref": REFERENCES, "hyp": BAD}
    text = sacrebleu_command(tmp_path, texts, "ref", "-i", "hyp", "-m", "bleu", "-sl", "-b")
    found = measure("bleu", {"": BAD}, [REFERENCES]).sentences()[0]
    assert [f"{value:.4f}" for value in found] == text.split()


@pytest.mark.parametrize("metric", OUR_METRICS)
def test_some_lines_have_the_scores_of_a_test_set_of_their_own(metric: str) -> None:
    lines = [3, 4, 7, 20, 59]
    part = measure(metric, SYSTEMS, [REFERENCES]).only(lines)
    alone = {name: [text[line] for line in lines] for name, text in SYSTEMS.items()}
    whole = measure(metric, alone, [[REFERENCES[line] for line in lines]])
    assert part.scores() == whole.scores()
    assert np.array_equal(part.p_values(), whole.p_values())


@pytest.mark.parametrize("metric", OUR_METRICS)
def test_many_rows_are_scored_as_sacrebleu_scores_one(metric: str) -> None:
    chance = np.random.default_rng(1)
    oracle = new_metric(metric)
    statistics = measure(metric, SYSTEMS, [REFERENCES]).statistics
    columns = statistics.shape[2]
    random_rows = chance.integers(0, 4, size=(300, columns)).astype(float)
    rows = np.vstack([statistics.reshape(-1, columns), random_rows, np.zeros((1, columns))])
    expected = [float(oracle._compute_score_from_stats(row.tolist()).score) for row in rows]
    assert formula_of(oracle)(rows) == pytest.approx(expected, rel=1e-12)
    if metric != "bleu" and metric != "bleu_width":  # no logarithm: equal to the last bit
        assert formula_of(oracle)(rows).tolist() == expected


def test_a_formula_takes_no_rows() -> None:
    assert bleu_rows(np.zeros((0, 10))).shape == chrf_rows(np.zeros((0, 18))).shape == (0,)


@pytest.mark.parametrize("test", get_args(TestName))
def test_drawing_in_parts_draws_the_same(test: TestName, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of long test sets, less than all is drawn at once."""
    measured = measure("chrf", SYSTEMS, [REFERENCES])
    at_once = measured.p_values(test)
    monkeypatch.setattr(resampling, "_DRAWN_AT_ONCE", 60 * 100)
    assert np.array_equal(measured.p_values(test), at_once)


@pytest.mark.parametrize("test", get_args(TestName))
def test_equal_systems_differ_by_chance_alone(test: TestName) -> None:
    for metric in ("bleu", "chrf"):
        measured = measure(metric, {"one": GOOD, "copy": GOOD}, [REFERENCES])
        assert measured.p_values(test).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("test", get_args(TestName))
def test_a_seed_of_the_environment_changes_the_draws_and_the_signature(
    test: TestName, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured() -> Measurement:
        return measure("bleu", {"good": GOOD, "equal": EQUAL}, [REFERENCES])

    usual = measured().p_values(test)
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    assert not np.array_equal(measured().p_values(test), usual)
    assert "|seed:7|" in measured().signed(test)
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    by_chance = {float(measured().p_values(test)[0, 1]) for _ in range(8)}
    assert len(by_chance) > 1  # two in a hundred pairs of them are equal
    assert "|seed:none|" in measured().signed(test)
    monkeypatch.setenv("SACREBLEU_SEED", "seven")
    with pytest.raises(ConfigError, match="SACREBLEU_SEED is 'seven'; give a whole number"):
        measured().p_values(test)


def test_every_metric_can_be_configured() -> None:
    from nmt.config.kinds import MetricName

    assert set(get_args(MetricName)) == set(METRICS)
