"""How sentences become batches: threads, memory, and samples, none of which changes what is found."""

from collections.abc import Callable
from threading import Thread

import pytest
import torch
from echoes import CHINESE, ENGLISH, random_model
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.engines.decoder import Decoder
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.search.hypotheses import NBest

SOURCES = [[4 + (number * 7 + i) % 12 for i in range(1 + number % 9)] for number in range(30)]
NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to …"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
]


def options(**settings: object) -> SearchConfig:
    return SearchConfig.model_validate({"max_length": 12, **settings})


def decoder(warnings: list[str] | None = None) -> Decoder:
    warn = [].append if warnings is None else warnings.append
    return Decoder(random_model(), ENGLISH, CHINESE, "fp32", warn)


def ids(found: list[NBest]) -> list[list[list[int]]]:
    return [[hypothesis.ids for hypothesis in n_best] for n_best in found]


# --- threads ---


@pytest.fixture
def threads() -> object:
    """Three threads of torch's, whatever this machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield 3
    torch.set_num_threads(before)


def seen_by_a_fresh_thread() -> int:
    seen: list[int] = []
    thread = Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return seen[0]


def test_a_fresh_thread_has_as_many_threads_of_torch_as_before_decoding(threads: int) -> None:
    at_work: list[int] = []
    watched = decoder()
    encode = watched.model.encode

    def encode_and_note(src: Tensor) -> object:
        at_work.append(torch.get_num_threads())
        return encode(src)

    watched.model.encode = encode_and_note  # type: ignore[method-assign, assignment]
    watched.decode(SOURCES * 40, options(method="greedy"))
    assert len(at_work) >= threads
    assert set(at_work) == {1}
    assert seen_by_a_fresh_thread() == threads
    assert torch.get_num_threads() == threads


# --- memory ---


def short_of_memory(model: Transformer, most_rows: int, error: RuntimeError, at: str) -> list[int]:
    """Let a model fail where more than `most_rows` rows are read at a time; gives the rows, call by call."""
    rows: list[int] = []
    work: Callable[..., object] = getattr(model, at)

    def fail(tokens: Tensor, *others: object) -> object:
        rows.append(len(tokens))
        if len(tokens) > most_rows:
            raise error
        return work(tokens, *others)

    setattr(model, at, fail)
    return rows


@pytest.mark.parametrize("error", NO_MEMORY)
@pytest.mark.parametrize("at", ["encode", "decode"])
@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_a_batch_too_large_for_the_memory_is_searched_in_parts(
    error: RuntimeError, at: str, method: str
) -> None:
    settings = options(method=method, beam_size=3, seed=1, max_length=5)
    plenty = decoder().decode(SOURCES, settings)
    warnings: list[str] = []
    short = decoder(warnings)
    rows = short_of_memory(short.model, 9, error, at)
    assert ids(short.decode(SOURCES, settings)) == ids(plenty)
    assert ids(short.decode(SOURCES, settings)) == ids(plenty)
    assert max(rows) > 9
    (warning,) = warnings
    assert "a batch of 30 sentences did not fit in memory" in warning
    assert "search.batch_tokens" in warning


def test_what_did_not_fit_is_not_tried_again() -> None:
    short = decoder()
    rows = short_of_memory(short.model, 9, NO_MEMORY[0], "encode")
    short.decode(SOURCES, options(method="greedy"))
    failed = sum(count > 9 for count in rows)
    short.decode(SOURCES, options(method="greedy"))
    assert sum(count > 9 for count in rows) == failed == 2  # 30 and 15 sentences, then 7


def test_a_sentence_too_large_for_the_memory_is_one_line_with_a_fix() -> None:
    short = decoder()
    short_of_memory(short.model, 0, NO_MEMORY[0], "encode")
    with pytest.raises(
        UserError,
        match=r"a sentence of 3 tokens does not fit in memory; lower search.beam_size or search.max",
    ):
        short.decode([[4, 5, 6]], options())


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    broken = decoder()
    short_of_memory(broken.model, 0, RuntimeError("device-side assert triggered"), "encode")
    with pytest.raises(RuntimeError, match="device-side"):
        broken.decode(SOURCES, options())


# --- samples ---


def samples(sources: list[list[int]], **settings: object) -> list[NBest]:
    return decoder().decode(sources, options(method="sample", **settings))


@pytest.mark.parametrize("top_k", [0, 5])
def test_with_a_seed_samples_are_the_same_on_every_run_in_every_batch(top_k: int) -> None:
    together = ids(samples(SOURCES, seed=7, n_best=3, top_k=top_k))
    assert together == ids(samples(SOURCES, seed=7, n_best=3, top_k=top_k, batch_tokens=20))
    backwards = samples(SOURCES[::-1], seed=7, n_best=3, top_k=top_k)
    assert together == ids(backwards)[::-1]
    for source, found in zip(SOURCES, together, strict=True):
        assert [found] == ids(samples([source], seed=7, n_best=3, top_k=top_k))
    assert together != ids(samples(SOURCES, seed=8, n_best=3, top_k=top_k))


def test_without_a_seed_equal_sentences_get_samples_of_their_own() -> None:
    found = ids(samples([SOURCES[0]] * 20, temperature=3.0))
    assert len({str(each) for each in found}) > 1


def test_without_a_seed_samples_differ_from_call_to_call() -> None:
    assert ids(samples(SOURCES)) != ids(samples(SOURCES))


def test_n_best_of_sampling_are_n_samples_the_likeliest_first() -> None:
    found = samples(SOURCES, seed=1, n_best=4, temperature=3.0)
    for n_best in found:
        assert len(n_best) == 4
        log_probs = [hypothesis.log_prob for hypothesis in n_best]
        assert log_probs == sorted(log_probs, reverse=True)
    assert len({tuple(hypothesis.ids) for n_best in found for hypothesis in n_best}) > 60


def test_the_samples_of_a_sentence_begin_as_those_of_a_smaller_n() -> None:
    few = ids(samples(SOURCES, seed=1, n_best=2))
    many = ids(samples(SOURCES, seed=1, n_best=5))
    for some, more in zip(few, many, strict=True):
        assert all(drawn in more for drawn in some)
