"""Several models decode as one: each token by the mean of their distributions, computed here without any search."""

import math
from itertools import combinations

import pytest
import torch
from alike import assert_alike, ids
from echoes import CHINESE, ENGLISH, PROTECTING
from torch import Tensor
from untrained import random_model

from nmt.config.schema import SearchConfig
from nmt.engines.decoder import Decoder
from nmt.model.batch import pad
from nmt.model.cache import Cache
from nmt.model.transformer import Transformer
from nmt.search.hypotheses import NBest
from nmt.text.vocab import BOS, EOS

SOURCES = [[4 + (number * 7 + i) % 12 for i in range(1 + number % 6)] for number in range(12)]
GREEDY = SearchConfig(method="greedy", max_length=9)
BEAM = SearchConfig(method="beam", beam_size=4, n_best=4, max_length=9)


def decoder(first: Transformer, *others: Transformer) -> Decoder:
    return Decoder(first, ENGLISH, CHINESE, "fp32", others=others)


@torch.inference_mode()
def next_token(models: list[Transformer], source: list[int], prefix: list[int]) -> Tensor:
    """The log-probability of each next token [V], by the mean of the models' distributions."""
    tgt_in = torch.tensor([[BOS, *prefix]])
    told = [each(pad([source]), tgt_in)[0, -1].softmax(dim=0) for each in models]
    mean = torch.stack(told).mean(dim=0)
    mean[decoder(models[0]).never_written] = 0
    return (mean / mean.sum()).log()


def greedily(models: list[Transformer], source: list[int], longest: int) -> tuple[list[int], float]:
    """The likeliest token again and again; with the log-probability of all, EOS included."""
    ids: list[int] = []
    total = 0.0
    while True:
        log_probs = next_token(models, source, ids)
        chosen = EOS if len(ids) == longest else int(log_probs.argmax())
        total += float(log_probs[chosen])
        if chosen == EOS:
            return ids, total
        ids.append(chosen)


@pytest.fixture
def models() -> list[Transformer]:
    """Three models, none of the shape of another."""
    return [
        random_model(1),
        random_model(2, d_model=16, decoder_layers=2),
        random_model(3, heads=4, encoder_layers=2),
    ]


def test_each_token_is_the_likeliest_by_the_mean_of_the_distributions(
    models: list[Transformer],
) -> None:
    found = decoder(*models).decode(SOURCES, GREEDY)
    expected = [greedily(models, source, 9) for source in SOURCES]
    assert [n_best[0].ids for n_best in found] == [ids for ids, _ in expected]
    for n_best, (_, log_prob) in zip(found, expected, strict=True):
        assert math.isclose(n_best[0].log_prob, log_prob, rel_tol=1e-4)
    for alone in models:
        assert ids(decoder(alone).decode(SOURCES, GREEDY)) != ids(found)


def test_hypotheses_of_a_beam_have_the_log_probabilities_of_the_mean(
    models: list[Transformer],
) -> None:
    sources = SOURCES[:4]
    for source, n_best in zip(sources, decoder(*models).decode(sources, BEAM), strict=True):
        for hypothesis in n_best:
            total = 0.0
            for place, token in enumerate([*hypothesis.ids, EOS]):
                total += float(next_token(models, source, hypothesis.ids[:place])[token])
            assert math.isclose(hypothesis.log_prob, total, rel_tol=1e-4)


def test_a_model_twice_is_the_model(models: list[Transformer]) -> None:
    for model in models:
        twice = decoder(model, model).decode(SOURCES, BEAM)
        assert_alike(twice, decoder(model).decode(SOURCES, BEAM))


def test_the_order_of_the_models_changes_nothing(models: list[Transformer]) -> None:
    for one, other in combinations(models, 2):
        found = decoder(one, other).decode(SOURCES, BEAM)
        assert_alike(found, decoder(other, one).decode(SOURCES, BEAM))


def test_a_sentence_fits_if_it_fits_every_model() -> None:
    ensemble = decoder(random_model(1, max_length=20), random_model(2, max_length=12))
    assert ensemble.longest == 11
    longest = [4 + number for number in range(11)]
    assert ensemble.decode([longest], GREEDY)


def test_samples_of_a_model_twice_are_those_of_the_model(models: list[Transformer]) -> None:
    options = SearchConfig(method="sample", n_best=3, seed=5, max_length=9)
    twice = decoder(models[0], models[0]).decode(SOURCES, options)
    assert_alike(twice, decoder(models[0]).decode(SOURCES, options))


def test_only_the_placeholders_of_a_source_are_written_each_at_most_once() -> None:
    one, other = (random_model(seed, len(PROTECTING.vocab)) for seed in (1, 2))
    first, second, *_ = PROTECTING.vocab.placeholders
    sources = [[5, first, 7], [second, 9, first], [8, 9]]

    def found(*others: Transformer) -> list[NBest]:
        return Decoder(one, PROTECTING, PROTECTING, "fp32", others=others).decode(sources, BEAM)

    assert_alike(found(one), found())
    for source, n_best in zip(sources, found(other), strict=True):
        for hypothesis in n_best:
            written = [token for token in hypothesis.ids if token in PROTECTING.vocab.placeholders]
            assert set(written) <= set(source)
            assert len(written) == len(set(written))


def test_a_batch_that_does_not_fit_in_memory_is_searched_in_parts(
    models: list[Transformer],
) -> None:
    plenty = decoder(*models).decode(SOURCES, BEAM)
    encode = models[1].encode

    def encode_few(src: Tensor) -> Cache:
        if len(src) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return encode(src)

    models[1].encode = encode_few  # type: ignore[method-assign, assignment]
    assert_alike(decoder(*models).decode(SOURCES, BEAM), plenty)


def test_the_fingerprint_is_of_all_the_weights(models: list[Transformer]) -> None:
    one, two, three = models
    fingerprints = {
        decoder(*each).fingerprint()
        for each in ([one], [one, two], [one, three], [one, two, three])
    }
    assert len(fingerprints) == 4
