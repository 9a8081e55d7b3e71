"""A translation memory has its say in each token: distributions are computed here pair by pair, without any search."""

import math
from collections.abc import Sequence
from functools import cache

import pytest
import torch
from alike import assert_alike, ids
from echoes import CHINESE, ENGLISH
from torch import Tensor
from untrained import random_model

from nmt.config.schema import SearchConfig
from nmt.engines.decoder import Decoder
from nmt.model.batch import pad
from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
from nmt.neighbours import memory
from nmt.neighbours.memory import IdPair, TranslationMemory
from nmt.text.vocab import BOS, EOS

SOURCES = [[4 + (number * 7 + i) % 12 for i in range(1 + number % 6)] for number in range(12)]
PAIRS: list[IdPair] = [
    (
        [4 + (number * 5 + i) % 12 for i in range(1 + number % 5)],
        [4 + (number + 3 * i) % 14 for i in range(2 + number % 4)],
    )
    for number in range(20)
]
GREEDY = SearchConfig(method="greedy", max_length=9, memory_weight=0.6, memory_temperature=0.05)
BEAM = SearchConfig(
    beam_size=4, n_best=4, max_length=9, memory_weight=0.4, memory_pairs=5, memory_tokens=6
)


def decoder(pairs: Sequence[IdPair], *models: Transformer) -> Decoder:
    first, *others = models
    made = Decoder(first, ENGLISH, CHINESE, "fp32", others=others)
    if pairs:
        made.remember(TranslationMemory(pairs, len(ENGLISH.vocab)))
    return made


@cache
@torch.inference_mode()
def state(model: Transformer, source: tuple[int, ...], prefix: tuple[int, ...]) -> Tensor:
    """The decoder's state [d] before the token that follows this prefix."""
    read = model.encode(pad([[*source]]))
    return model.decode_states(torch.tensor([[BOS, *prefix]]), read)[0, -1]


def likeness(source: list[int]) -> float:
    """Of the most similar source of the memory; `test_similar_sources.py` computes it by itself."""
    return TranslationMemory(PAIRS, len(ENGLISH.vocab)).similar([source], 1)[0].likeness


def recalled(
    model: Transformer, source: list[int], prefix: list[int], search: SearchConfig
) -> Tensor:
    """The memory's distribution [V]."""
    [similar] = TranslationMemory(PAIRS, len(ENGLISH.vocab)).similar([source], search.memory_pairs)
    now = state(model, tuple(source), tuple(prefix))
    near = []
    for number in similar.numbers:
        src, tgt = PAIRS[number]
        for place, token in enumerate([*tgt, EOS]):
            difference = state(model, tuple(src), tuple(tgt[:place])) - now
            near.append((float(difference.square().mean()), token))
    near = sorted(near)[: search.memory_tokens]
    shares = [math.exp(-distance / search.memory_temperature) for distance, _ in near]
    distribution = torch.zeros(len(CHINESE.vocab))
    for share, (_, token) in zip(shares, near, strict=True):
        distribution[token] += share / sum(shares)
    return distribution


@torch.inference_mode()
def next_token(
    models: Sequence[Transformer], source: list[int], prefix: list[int], search: SearchConfig
) -> Tensor:
    """The log-probability of each next token [V]: of each model mixed with its memory, and of all the mean."""
    share = search.memory_weight * likeness(source)
    told = []
    for model in models:
        own = model(pad([source]), torch.tensor([[BOS, *prefix]]))[0, -1].softmax(dim=0)
        told.append((1 - share) * own + share * recalled(model, source, prefix, search))
    mean = torch.stack(told).mean(dim=0)
    mean[decoder([], models[0]).never_written] = 0
    return (mean / mean.sum()).log()


@pytest.fixture
def models() -> list[Transformer]:
    """Two models of other shapes."""
    return [random_model(1), random_model(2, d_model=16, decoder_layers=2)]


def test_each_token_is_the_likeliest_of_the_mixed_distribution(models: list[Transformer]) -> None:
    model = models[0]
    found = decoder(PAIRS, model).decode(SOURCES, GREEDY)
    for source, [hypothesis] in zip(SOURCES, found, strict=True):
        total = 0.0
        for place, token in enumerate([*hypothesis.ids, EOS]):
            told = next_token([model], source, hypothesis.ids[:place], GREEDY)
            assert place == GREEDY.max_length or told[token] > told.max() - 1e-4
            total += float(told[token])
        assert math.isclose(hypothesis.log_prob, total, rel_tol=1e-3)
    assert ids(found) != ids(decoder([], model).decode(SOURCES, GREEDY))


@pytest.mark.parametrize("count", [1, 2])
def test_hypotheses_of_a_beam_have_the_mixed_log_probabilities(
    models: list[Transformer], count: int
) -> None:
    deciding = models[:count]
    found = decoder(PAIRS, *deciding).decode(SOURCES, BEAM)
    for source, n_best in zip(SOURCES, found, strict=True):
        for hypothesis in n_best:
            total = 0.0
            for place, token in enumerate([*hypothesis.ids, EOS]):
                told = next_token(deciding, source, hypothesis.ids[:place], BEAM)
                total += float(told[token])
            assert math.isclose(hypothesis.log_prob, total, rel_tol=1e-3)


def test_what_is_in_the_memory_is_translated_as_there(models: list[Transformer]) -> None:
    search = SearchConfig(beam_size=3, memory_weight=0.99, memory_temperature=1e-4)
    different = list({tuple(src): (src, tgt) for src, tgt in PAIRS}.values())
    for model in models:
        found = decoder(different, model).decode([src for src, _ in different], search)
        assert [n_best[0].ids for n_best in found] == [tgt for _, tgt in different]


def test_a_sentence_that_no_pair_is_like_is_translated_as_without_a_memory(
    models: list[Transformer],
) -> None:
    alone = decoder([], models[0]).decode(SOURCES, BEAM)
    unlike = [([15], [4, 5])]  # 15 is the last word of the side
    sources_without = [number for number, source in enumerate(SOURCES) if 15 not in source]
    found = decoder(unlike, models[0]).decode(SOURCES, BEAM)
    assert sources_without
    for number in sources_without:
        assert_alike([found[number]], [alone[number]])
    together = decoder([([3], [4])], models[0]).decode(SOURCES, BEAM)
    assert_alike(together, alone)


def test_sentences_are_translated_alike_alone_and_together(models: list[Transformer]) -> None:
    with_memory = decoder(PAIRS, *models)
    alone = [with_memory.decode([source], BEAM)[0] for source in SOURCES]
    assert_alike(with_memory.decode(SOURCES, BEAM), alone)


def test_the_order_of_the_pairs_and_their_number_change_nothing(models: list[Transformer]) -> None:
    search = BEAM.model_copy(update={"memory_pairs": 100})
    found = decoder(PAIRS, models[0]).decode(SOURCES, search)
    twice = decoder([*reversed(PAIRS), *PAIRS], models[0]).decode(SOURCES, search)
    assert_alike(twice, found)


def test_pairs_are_read_some_at_a_time(
    models: list[Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = decoder(PAIRS, models[0]).decode(SOURCES, BEAM)
    monkeypatch.setattr(memory, "_READ_AT_ONCE", 12)
    assert_alike(decoder(PAIRS, models[0]).decode(SOURCES, BEAM), found)


def test_what_was_translated_before_changes_no_bit(models: list[Transformer]) -> None:
    fresh = decoder(PAIRS, *models).decode(SOURCES[6:], BEAM)
    used = decoder(PAIRS, *models)
    used.decode(SOURCES[:6], BEAM)
    assert used.decode(SOURCES[6:], BEAM) == fresh


def test_of_many_tokens_only_those_of_the_most_similar_pairs_are_looked_at(
    models: list[Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = BEAM.model_copy(update={"memory_pairs": 1})
    found = decoder(PAIRS, models[0]).decode(SOURCES, first)
    assert ids(found) != ids(decoder(PAIRS, models[0]).decode(SOURCES, BEAM))
    monkeypatch.setattr(memory, "_MOST_TOKENS", 1)
    assert_alike(decoder(PAIRS, models[0]).decode(SOURCES, BEAM), found)


def test_a_batch_that_does_not_fit_in_memory_is_searched_in_parts(
    models: list[Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = decoder(PAIRS, models[0]).decode(SOURCES, BEAM)
    encode = models[0].encode

    def encode_few(src: Tensor, *rest: object) -> Cache:
        if len(src) > 5 and not rest:  # pairs are read with a further argument
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return encode(src, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(models[0], "encode", encode_few)
    assert_alike(decoder(PAIRS, models[0]).decode(SOURCES, BEAM), found)


def test_samples_are_drawn_from_the_mixed_distribution(models: list[Transformer]) -> None:
    search = SearchConfig(
        method="sample", n_best=3, seed=5, memory_weight=0.99, memory_temperature=1e-4
    )
    src, tgt = PAIRS[0]
    [samples] = decoder(PAIRS[:1], models[0]).decode([src], search)
    assert sum(sample.ids == tgt for sample in samples) >= 2


def test_the_fingerprint_is_of_the_memory_too(models: list[Transformer]) -> None:
    memories: list[list[IdPair]] = [[], PAIRS, PAIRS[1:], [([4, 5], [6])], [([4], [5, 6])]]
    fingerprints = {decoder(pairs, models[0]).fingerprint() for pairs in memories}
    assert len(fingerprints) == len(memories)
