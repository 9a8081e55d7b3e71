"""Search is driven by tables of next-token probabilities; the oracles are enumeration and textbook loops.

A prefix is a tuple of tokens without BOS.
"""

import math
from collections.abc import Sequence
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from search_tables import Prefix, Table, Tables, every_hypothesis, log_prob_of, score_of, table
from torch import Tensor

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.model.batch import pad
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.search.filters import ForbidTokens, TokenFilter
from nmt.search.hypotheses import Hypothesis, NBest
from nmt.search.search import SEARCHES, sample
from nmt.search.stepper import Stepper
from nmt.text.vocab import BOS, EOS, PAD, UNK
from nmt.train.start.initialise import initialise

METHODS = [*sorted(SEARCHES), "sample"]


def search(method: str, tables: list[Table], limits: list[int], **config: object) -> list[NBest]:
    options = SearchConfig.model_validate({"method": method, **config})
    beams = options.beam_size if method == "beam" else 1
    return search_through(Tables(tables, beams), torch.tensor(limits), options)


def search_through(
    stepper: Stepper,
    limits: Tensor,
    options: SearchConfig,
    filters: Sequence[TokenFilter] = (),
) -> list[NBest]:
    """Search; what is drawn follows torch's seed."""
    if options.method == "sample":
        uniforms = torch.rand(len(limits), int(limits.max()) + 1)
        return sample(stepper, limits, options, uniforms, filters)
    return SEARCHES[options.method](stepper, limits, options, filters)


def beaten(live: list[tuple[float, Prefix]], best: float, alpha: float) -> bool:
    """Whether the likeliest open prefix would score no better than `best` by ending now."""
    total, prefix = max(live)
    return total / ((5 + len(prefix) + 1) / 6) ** alpha <= best


def beam_by_the_book(
    log_probs: Table, limit: int, width: int, alpha: float, n_best: int
) -> list[list[int]]:
    """One sentence, whole prefixes, sorted lists: as the docstrings of `beam` and `_advance` put it."""
    live: list[tuple[float, Prefix]] = [(0.0, ())]
    finished: list[tuple[float, Prefix]] = []
    while live and not (len(finished) == width and beaten(live, finished[0][0], alpha)):
        candidates = [
            (total + log_prob, prefix, token)
            for total, prefix in live
            for token, log_prob in enumerate(log_probs(prefix))
            if log_prob > -math.inf
        ]
        ranked = sorted(candidates, reverse=True)
        if len(live[0][1]) == limit:
            ends = [candidate for candidate in ranked if candidate[2] == EOS]
            ranked = []
        else:
            ends = [candidate for candidate in ranked[:width] if candidate[2] == EOS]
        for total, prefix, _ in ends:
            finished.append((total / ((5 + len(prefix) + 1) / 6) ** alpha, prefix))
        finished = sorted(finished, reverse=True)[:width]
        live = [(total, (*prefix, token)) for total, prefix, token in ranked if token != EOS][
            :width
        ]
    return [list(prefix) for _, prefix in finished[:n_best]]


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-5, abs=1e-5)  # sums of float32


def assert_honest(found: NBest, log_probs: Table, limit: int, alpha: float) -> None:
    """What a hypothesis says of itself is so."""
    for hypothesis in found:
        assert len(hypothesis.ids) <= limit
        assert EOS not in hypothesis.ids
        assert hypothesis.log_prob == close(log_prob_of(log_probs, hypothesis.ids))
        assert hypothesis.score == close(score_of(log_probs, hypothesis.ids, alpha))
    scores = [hypothesis.score for hypothesis in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(hypothesis.ids) for hypothesis in found}) == len(found)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.5])
@pytest.mark.parametrize(
    ("tokens", "limit", "forbidden", "width"),
    [(4, 3, 0.0, 170), (5, 2, 0.4, 100), (7, 2, 0.0, 270), (4, 0, 0.0, 5)],
)
def test_a_wide_beam_finds_what_enumeration_finds(
    tokens: int, limit: int, forbidden: float, width: int, alpha: float
) -> None:
    for seed in range(3):
        log_probs = table(seed, tokens, forbidden)
        possible = every_hypothesis(log_probs, tokens, limit, alpha)
        for n_best in (1, 3, width):
            options = {"beam_size": width, "length_penalty": alpha, "n_best": min(n_best, width)}
            (found,) = search("beam", [log_probs], [limit], **options)
            assert [hypothesis.ids for hypothesis in found] == [ids for _, ids in possible[:n_best]]
            assert_honest(found, log_probs, limit, alpha)


LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@given(st.integers(0, 10**6), LENGTHS, st.integers(1, 4), st.floats(0, 3), st.data())
@settings(max_examples=60, deadline=None)
def test_a_narrow_beam_is_the_one_of_the_book(
    seed: int, limits: list[int], width: int, alpha: float, data: st.DataObject
) -> None:
    n_best = data.draw(st.integers(1, width))
    tables = [table(seed + b, tokens=6, forbidden=0.2) for b in range(len(limits))]
    found = search("beam", tables, limits, beam_size=width, length_penalty=alpha, n_best=n_best)
    for log_probs, limit, hypotheses in zip(tables, limits, found, strict=True):
        expected = beam_by_the_book(log_probs, limit, width, alpha, n_best)
        assert [hypothesis.ids for hypothesis in hypotheses] == expected
        assert_honest(hypotheses, log_probs, limit, alpha)


@given(st.integers(0, 10**6), LENGTHS)
@settings(max_examples=60, deadline=None)
def test_greedy_takes_the_likeliest_token_until_it_is_eos_or_the_limit_is_reached(
    seed: int, limits: list[int]
) -> None:
    tables = [table(seed + b, tokens=6) for b in range(len(limits))]
    for log_probs, limit, found in zip(
        tables, limits, search("greedy", tables, limits), strict=True
    ):
        path: list[int] = []
        while len(path) < limit:
            probabilities = log_probs(tuple(path))
            likeliest = probabilities.index(max(probabilities))
            if likeliest == EOS:
                break
            path.append(likeliest)
        assert [hypothesis.ids for hypothesis in found] == [path]
        assert_honest(found, log_probs, limit, alpha=1.0)


def test_a_beam_of_one_is_greedy() -> None:
    limits = [seed % 8 for seed in range(100)]
    tables = [table(seed, tokens=7, forbidden=0.1) for seed in range(100)]
    narrow, straight = (
        search(method, tables, limits, beam_size=1) for method in ("beam", "greedy")
    )
    for (one,), (other,) in zip(narrow, straight, strict=True):
        assert one.ids == other.ids
        assert one.score == close(other.score)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_sentence_finds_in_company_what_it_finds_alone(method: str) -> None:
    limits = [7, 0, 3, 12, 1, 5, 9, 2] * 3
    tables = [table(seed, tokens=8) for seed in range(len(limits))]
    n_best = 4 if method == "beam" else 1
    together = search(method, tables, limits, beam_size=4, n_best=n_best)
    for log_probs, limit, found in zip(tables, limits, together, strict=True):
        assert [found] == search(method, [log_probs], [limit], beam_size=4, n_best=n_best)
    assert (
        len({len(found[0].ids) for found in together}) > 4
    )  # they left the batch at different times


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_where_candidates_tie_none_comes_twice(seed: int, width: int, limit: int) -> None:
    log_probs = table(seed, tokens=6, grid=1.5)
    (found,) = search("beam", [log_probs], [limit], beam_size=width, n_best=width)

    assert 1 <= len(found) <= width
    assert_honest(found, log_probs, limit, alpha=1.0)


@pytest.mark.parametrize("grid", [0.0, 1.5])
def test_a_wide_beam_finds_the_best_scores_where_hypotheses_tie(grid: float) -> None:
    log_probs = table(3, tokens=4, grid=grid)
    (found,) = search("beam", [log_probs], [3], beam_size=170, n_best=40)
    possible = every_hypothesis(log_probs, tokens=4, limit=3, alpha=1.0)
    assert [hypothesis.score for hypothesis in found] == [
        close(score) for score, _ in possible[:40]
    ]
    assert_honest(found, log_probs, 3, alpha=1.0)


def only_eos(_prefix: Prefix) -> list[float]:
    return [-math.inf, -math.inf, -math.inf, 0.0]


def never_eos(_prefix: Prefix) -> list[float]:
    return torch.tensor([-9.0, -9.0, -9.0, -20.0, 0.0]).log_softmax(0).tolist()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [0, 4])
def test_where_only_eos_is_allowed_the_target_is_empty(method: str, limit: int) -> None:
    n_best = 3 if method == "beam" else 1
    assert search(method, [only_eos], [limit], n_best=n_best) == [[Hypothesis([], 0.0, 0.0)]]


@pytest.mark.parametrize("method", METHODS)
def test_a_limit_of_zero_leaves_the_empty_target(method: str) -> None:
    log_probs = table(1, tokens=9)
    (found,) = search(method, [log_probs], [0])
    assert [hypothesis.ids for hypothesis in found] == [[]]
    assert_honest(found, log_probs, 0, alpha=1.0)


@pytest.mark.parametrize("method", METHODS)
def test_who_never_wants_to_end_ends_at_the_limit(method: str) -> None:
    limits = [5, 2, 9]
    found = search(method, [never_eos] * 3, limits, temperature=0.01)
    assert [n_best[0].ids for n_best in found] == [[4] * limit for limit in limits]
    for n_best, limit in zip(found, limits, strict=True):
        assert_honest(n_best, never_eos, limit, alpha=1.0)


class Constant:
    """The same distribution at every step."""

    def __init__(self, log_probs: Tensor, rows: int) -> None:
        self.log_probs, self.rows = log_probs, rows

    def step(self, last: Tensor) -> Tensor:
        assert len(last) == self.rows
        return self.log_probs.expand(self.rows, -1)

    def select(self, rows: Tensor) -> None:
        self.rows = len(rows)


PROBABILITIES = [0.02, 0.08, 0.05, 0.25, 0.1, 0.3, 0.2, 0.0]


def drawn(count: int, log_probs: Tensor, **config: object) -> list[int]:
    """How often each token came first among `count` draws; EOS: the empty target."""
    options = SearchConfig.model_validate({"method": "sample", **config})
    found = search_through(Constant(log_probs, count), torch.full((count,), 1), options)
    first = torch.tensor([(*n_best[0].ids, EOS)[0] for n_best in found])
    return torch.bincount(first, minlength=log_probs.shape[0]).tolist()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("top_k", [0, 1, 3, 7, 100])
def test_samples_are_as_frequent_as_the_table_says(temperature: float, top_k: int) -> None:
    torch.manual_seed(5)
    count = 10_000
    counts = drawn(count, torch.tensor(PROBABILITIES).log(), temperature=temperature, top_k=top_k)
    weights = [p ** (1 / temperature) for p in PROBABILITIES]
    least = sorted(weights)[-top_k] if 0 < top_k < len(weights) else 0.0
    weights = [weight if weight >= least else 0.0 for weight in weights]
    for observed, weight in zip(counts, weights, strict=True):
        share = weight / sum(weights)
        assert abs(observed - count * share) <= 5 * math.sqrt(count * share * (1 - share))


def test_top_k_keeps_k_tokens_though_more_are_as_likely() -> None:
    torch.manual_seed(5)
    even = torch.full((8,), 1 / 8).log()
    assert sum(count > 0 for count in drawn(2000, even, top_k=3)) == 3


@pytest.mark.parametrize("options", [{"top_k": 1}, {"temperature": 1e-6}, {"temperature": 1e-30}])
def test_sampling_from_one_or_cold_is_greedy(options: dict[str, float]) -> None:
    limits = [seed % 8 for seed in range(60)]
    tables = [table(seed, tokens=6, forbidden=0.2) for seed in range(60)]
    assert search("sample", tables, limits, **options) == search("greedy", tables, limits)


def test_samples_are_functions_of_their_random_numbers_and_honest() -> None:
    limits = [seed % 8 for seed in range(60)]
    tables = [table(seed, tokens=6) for seed in range(60)]

    def samples(seed: int) -> list[NBest]:
        torch.manual_seed(seed)
        return search("sample", tables, limits, length_penalty=0.6)

    assert samples(1) == samples(1) != samples(2)
    for log_probs, limit, found in zip(tables, limits, samples(3), strict=True):
        assert_honest(found, log_probs, limit, alpha=0.6)


def without_repeats(log_probs: Table, size: int) -> Table:
    """The distribution without the tokens that would end a sequence of `size` a second time.

    EOS is always left: beams of no hypothesis go on behind it.
    """

    @cache
    def allowed(prefix: Prefix) -> list[float]:
        written = {prefix[i : i + size] for i in range(len(prefix) - size + 1)}
        newest = prefix[len(prefix) - size + 1 :]
        left = [
            -math.inf if token != EOS and (*newest, token) in written else log_prob
            for token, log_prob in enumerate(log_probs(prefix))
        ]
        total = math.log(sum(map(math.exp, left)))
        return [log_prob - total for log_prob in left]

    return allowed


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("method", "width"), [("greedy", 1), ("sample", 1), ("beam", 3)])
def test_no_sequence_comes_twice_and_the_rest_is_searched_as_before(
    method: str, width: int, size: int
) -> None:
    limits = [seed % 16 for seed in range(80)]
    tables = [table(seed, tokens=6, forbidden=0.2) for seed in range(80)]
    kept = [without_repeats(log_probs, size) for log_probs in tables]
    options = {"beam_size": width, "n_best": width}

    def found(tables: list[Table], no_repeat_ngram: int) -> list[NBest]:
        torch.manual_seed(5)
        return search(method, tables, limits, no_repeat_ngram=no_repeat_ngram, **options)

    by_setting = found(tables, size)
    for log_probs, limit, one, other in zip(kept, limits, by_setting, found(kept, 0), strict=True):
        assert [hypothesis.ids for hypothesis in one] == [hypothesis.ids for hypothesis in other]
        assert_honest(one, log_probs, limit, alpha=1.0)
    assert by_setting != found(tables, 0)


SRC_TOKENS, TGT_TOKENS = 11, 13


@cache
def random_model(seed: int, dtype: torch.dtype) -> Transformer:
    """Weights large enough that distributions differ, and an EOS that comes every few tokens."""
    torch.manual_seed(seed)
    shape = {
        "d_model": 16,
        "heads": 2,
        "d_ff": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_length": 16,
    }
    model = Transformer(
        ModelConfig(**shape, tie_embeddings="none", output_bias=True), SRC_TOKENS, TGT_TOKENS
    )
    initialise(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
        model.output.bias[EOS] = 1.0
    return model.to(dtype).eval()


@cache
@torch.inference_mode()
def without_cache(model: Transformer, source: Prefix, prefix: Prefix) -> Tensor:
    """The logits of the next token, the whole prefix decoded anew."""
    return model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *prefix]]))[0, -1].double()


def table_of(model: Transformer, source: list[int], forbidden: list[int]) -> Table:
    """The log-probabilities of all tokens that are not forbidden."""

    @cache
    def log_probs(prefix: Prefix) -> list[float]:
        logits = without_cache(model, tuple(source), prefix).clone()
        logits[forbidden] = -math.inf
        return (logits - logits.exp().sum().log()).tolist()

    return log_probs


SOURCES = [[4, 5, 6, 7, 8], [9], [10, 4, 10], [5, 5, 5, 5, 5, 5, 5], []]
LIMITS = [9, 4, 12, 6, 3]


@torch.inference_mode()
def model_search(model: Transformer, forbid_unknown: bool, options: SearchConfig) -> list[NBest]:
    kv = model.encode(pad(SOURCES))
    kv.reserve(options.beam_size if options.method == "beam" else 1)
    forbidden = torch.tensor([PAD, BOS, UNK] if forbid_unknown else [PAD, BOS])
    filters = [ForbidTokens(forbidden)]
    return search_through(ModelStepper(model, kv), torch.tensor(LIMITS), options, filters)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("forbid_unknown", [True, False])
@pytest.mark.parametrize(("method", "width"), [("greedy", 1), ("beam", 1), ("beam", 4)])
def test_search_over_the_cache_equals_search_over_whole_prefixes(
    dtype: torch.dtype, forbid_unknown: bool, method: str, width: int
) -> None:
    forbidden = [PAD, BOS, UNK] if forbid_unknown else [PAD, BOS]
    options = SearchConfig.model_validate({"method": method, "beam_size": width, "n_best": width})
    lengths = set()
    for seed in range(3):
        model = random_model(seed, dtype)
        found = model_search(model, forbid_unknown, options)
        for source, limit, hypotheses in zip(SOURCES, LIMITS, found, strict=True):
            log_probs = table_of(model, source, forbidden)
            expected = beam_by_the_book(log_probs, limit, width, alpha=1.0, n_best=width)
            assert [hypothesis.ids for hypothesis in hypotheses] == expected
            assert_honest(hypotheses, log_probs, limit, alpha=1.0)
            lengths |= {len(ids) for ids in expected}
    assert len(lengths) > 4


def test_unknown_is_proposed_only_where_it_may_be_read() -> None:
    proposed: dict[bool, set[int]] = {True: set(), False: set()}
    options = SearchConfig(method="sample", temperature=2.0)
    for forbid in (True, False):
        for seed in range(5):
            found = model_search(random_model(seed, torch.float32), forbid, options)
            proposed[forbid] |= {token for n_best in found for token in n_best[0].ids}
    assert UNK in proposed[False] - proposed[True]
    assert not (proposed[True] | proposed[False]) & {PAD, BOS, EOS}
