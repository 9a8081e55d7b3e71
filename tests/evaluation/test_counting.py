"""Statistics of many lines at once are those that sacrebleu counts line by line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from sentences import HYPOTHESES, REFERENCES

from nmt.evaluation.counting import bleu_statistics, chrf_statistics, zh_tokens
from nmt.evaluation.metrics import new_metric, prepared

# Chinese, Latin, digits and the punctuation that the tokenizer's rules speak of, so that rules meet.
TEXT = st.text("天地人 a1.,-%&(){}@~`!？，。\u3000\t😀é0", max_size=40) | st.text(max_size=20)
PAIRS = st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6)


@given(TEXT)
def test_tokens_are_those_of_sacrebleu(line: str) -> None:
    assert zh_tokens(line) == TokenizerZh()(line).split()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("metric", ["bleu", "bleu_width", "chrf"])
@settings(max_examples=40)
@given(PAIRS)
def test_statistics_are_those_of_sacrebleu(metric: str, lines: list[tuple[str, str, str]]) -> None:
    one, other, reference = (list(column) for column in zip(*lines, strict=True))
    of_sacrebleu = new_metric(metric, references=[prepared(metric, reference)])
    expected = []
    for system in (one, other):
        expected.append(of_sacrebleu._extract_corpus_statistics(prepared(metric, system), None))
    np.testing.assert_array_equal(statistics(metric, [one, other], reference), expected)


def statistics(metric: str, systems: list[list[str]], reference: list[str]) -> object:
    if metric == "chrf":
        return chrf_statistics(systems, reference)
    return bleu_statistics(metric, systems, reference)


@pytest.mark.parametrize("metric", ["bleu", "bleu_width", "chrf"])
def test_many_lines_are_counted_as_few(metric: str) -> None:
    """The same lines a thousand times: no n-gram is taken for one of another line."""
    expected = statistics(metric, [HYPOTHESES], REFERENCES)
    found = statistics(metric, [HYPOTHESES * 1000], REFERENCES * 1000)
    np.testing.assert_array_equal(found, np.tile(expected, (1, 1000, 1)))
