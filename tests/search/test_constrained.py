"""Search for translations with given phrases; the oracle is enumeration."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from search_tables import Table, Tables, every_hypothesis, table

from nmt.config.schema import SearchConfig
from nmt.search.constrained import constrained_beam
from nmt.search.filters import ForbidTokens
from nmt.search.hypotheses import NBest
from nmt.search.search import beam
from nmt.text.vocab import EOS

TOKENS = 6  # PAD, UNK, BOS and EOS among them
Phrases = Sequence[Sequence[int]]


def search(
    tables: list[Table], phrases: list[Phrases], limits: list[int], width: int, n_best: int = 1
) -> list[NBest]:
    options = SearchConfig(beam_size=width, n_best=n_best)
    stepper = Tables(tables, width)
    return constrained_beam(stepper, torch.tensor(limits), options, phrases)


def has(ids: Sequence[int], phrases: Phrases) -> bool:
    return all(
        any(list(ids[at : at + len(phrase)]) == list(phrase) for at in range(len(ids)))
        for phrase in phrases
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("phrases", [[[4]], [[4, 5]], [[5], [4]], [[4, 2, 5]], [[2], [4, 5]]])
def test_with_room_for_all_hypotheses_the_best_with_the_phrases_is_found(
    seed: int, phrases: list[list[int]]
) -> None:
    log_probs = table(seed, TOKENS)
    [n_best] = search([log_probs], [phrases], [3], width=150, n_best=3)
    expected = [ids for _, ids in every_hypothesis(log_probs, TOKENS, 3, 1.0) if has(ids, phrases)]
    # What the limit cut off comes last.
    assert [hypothesis.ids for hypothesis in n_best][: len(expected)] == expected[:3]


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    width=st.integers(1, 5),
    wanted=st.lists(
        st.lists(
            st.lists(st.sampled_from([1, 2, 4, 5]), min_size=1, max_size=3, unique=True), max_size=3
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_the_best_translations_have_their_phrases(
    seed: int, width: int, wanted: list[list[list[int]]]
) -> None:
    tables = [table(seed + place, TOKENS) for place in range(len(wanted))]
    limits = [12 + place for place in range(len(wanted))]
    for phrases, n_best in zip(wanted, search(tables, wanted, limits, width, width), strict=True):
        assert has(n_best[0].ids, phrases)
        found = [has(hypothesis.ids, phrases) for hypothesis in n_best]
        assert found == sorted(found, reverse=True)
        assert len({tuple(hypothesis.ids) for hypothesis in n_best}) == len(n_best)


@pytest.mark.parametrize("seed", range(20))
def test_without_phrases_it_is_no_worse_than_beam_search(seed: int) -> None:
    tables = [table(seed, 30), table(seed + 1, 30)]
    options = SearchConfig(beam_size=4)
    limits = torch.tensor([8, 9])
    usual = beam(Tables(tables, 4), limits, options)
    found = constrained_beam(Tables(tables, 4), limits, options, [[], []])
    for first, second in zip(usual, found, strict=True):
        assert second[0].score >= first[0].score - 1e-6


def test_what_is_forbidden_is_written_in_no_phrase() -> None:
    options = SearchConfig(beam_size=3)
    stepper = Tables([table(1, TOKENS)], 3)
    forbidden = [ForbidTokens(torch.tensor([5]))]
    [n_best] = constrained_beam(stepper, torch.tensor([6]), options, [[[4, 5]]], forbidden)
    assert 5 not in n_best[0].ids
    assert EOS not in n_best[0].ids
