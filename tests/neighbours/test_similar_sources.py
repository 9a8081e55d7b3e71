"""Which sources are like a sentence, beside cosines that are computed here one by one."""

import math
from random import Random

import pytest
import torch

from nmt.neighbours import similar_sources
from nmt.neighbours.similar_sources import SimilarSources

TOKENS = 20


def sentences(count: int, seed: int) -> list[list[int]]:
    chance = Random(seed)
    return [chance.choices(range(4, TOKENS), k=chance.randint(1, 9)) for _ in range(count)]


def cosine(one: list[int], other: list[int], sources: list[list[int]]) -> float:
    """Of two sentences as sets of tokens, each of which weighs log(1 + sources / sources that have it)."""

    def weight(token: int) -> float:
        having = sum(token in source for source in sources)
        return math.log(1 + len(sources) / max(1, having))

    def norm(sentence: list[int]) -> float:
        return math.sqrt(sum(weight(token) ** 2 for token in set(sentence)))

    shared = sum(weight(token) ** 2 for token in set(one) & set(other))
    return shared / norm(one) / norm(other)


@pytest.mark.parametrize("count", [1, 5, 100])
def test_the_most_similar_sources_come_first(count: int) -> None:
    sources = sentences(60, seed=1)
    queries = sentences(30, seed=2)
    for query, found in zip(queries, SimilarSources(sources, TOKENS)(queries, count), strict=True):
        cosines = [cosine(query, source, sources) for source in sources]
        best = sorted((each for each in cosines if each > 0), reverse=True)[:count]
        assert [cosines[number] for number in found.numbers] == pytest.approx(best, rel=1e-4)
        assert len(set(found.numbers)) == len(found.numbers)
        assert found.likeness == pytest.approx(max(cosines), rel=1e-4)


def test_what_shares_no_token_is_not_similar() -> None:
    similar = SimilarSources([[4, 5], [6], [5, 5, 7]], TOKENS)
    found = similar([[8, 9], [5], [6, 8]], 10)
    assert [each.numbers for each in found] == [[], [0, 2], [1]]
    assert found[0].likeness == 0


def test_the_same_tokens_are_as_alike_as_can_be() -> None:
    similar = SimilarSources([[4, 5, 6], [4]], TOKENS)
    [same, other_order, part] = similar([[4, 5, 6], [6, 4, 5, 5], [4, 5]], 1)
    assert [same.numbers, other_order.numbers] == [[0], [0]]
    assert [same.likeness, other_order.likeness] == pytest.approx([1, 1])
    assert part.likeness < 1
    sources = sentences(500, seed=6)
    likenesses = [each.likeness for each in SimilarSources(sources, TOKENS)(sources, 1)]
    assert likenesses == pytest.approx([1] * len(sources))
    assert max(likenesses) <= 1  # rounding brings some cosines above it


def test_a_token_of_every_source_still_finds_them() -> None:
    [found] = SimilarSources([[4]], TOKENS)([[4]], 10)
    assert found.numbers == [0]


def test_many_queries_are_looked_for_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    similar = SimilarSources(sentences(50, seed=3), TOKENS)
    queries = sentences(40, seed=4)
    at_once = similar(queries, 7)
    monkeypatch.setattr(similar_sources, "_SCORES_AT_ONCE", 3 * 50)
    assert similar(queries, 7) == at_once


def test_no_warning_is_printed(recwarn: pytest.WarningsRecorder) -> None:
    SimilarSources(sentences(5, seed=5), TOKENS)(torch.tensor([[4, 5]]).tolist(), 2)
    assert not recwarn.list
