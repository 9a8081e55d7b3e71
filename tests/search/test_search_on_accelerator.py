"""A step of search on an accelerator that computes nothing: only reading who is done waits for it.

A dummy device of torch stands for a GPU, with fake tensors: they have a shape, a type and a device, and no values.
Whatever makes the program wait for a value raises, and so does every operation on tensors of two devices. The names
that make it are private to torch; constraints.txt pins the version that these tests were seen to work with.
"""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from nmt.config.schema import ModelConfig, SearchConfig
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.search import search
from nmt.search.active_sentences import ActiveSentences
from nmt.search.filters import ForbidTokens, TokenFilter, WriteEachOnce

NAME = "gpu"
B, S, V, LIMIT = 6, 9, 4000, 12


@pytest.fixture(scope="module", autouse=True)
def _device() -> None:
    if torch._C._get_privateuse1_backend_name() != NAME:  # a process can have only one, and once
        _setup_privateuseone_for_python_backend(NAME)


@pytest.fixture
def gpu() -> Iterator[torch.device]:
    with FakeTensorMode(allow_non_fake_inputs=True), torch.inference_mode():
        yield torch.device(NAME)


def ids(gpu: torch.device, *shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.int64, device=gpu)


def stepper_and_filters(gpu: torch.device, beams: int) -> tuple[ModelStepper, list[TokenFilter]]:
    shape = ModelConfig(d_model=32, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1)
    with gpu:
        model = Transformer(shape, V, V).eval()
    cache = model.encode(ids(gpu, B, S))
    cache.reserve(beams)
    owed = torch.zeros(B * beams, 3, dtype=torch.bool, device=gpu)
    each_once = WriteEachOnce(ids(gpu, 3), owed, ids(gpu, B * beams))
    return ModelStepper(model, cache), [ForbidTokens(ids(gpu, 4)), each_once]


def known_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest limit is read once a batch; here it has no value."""

    def empty_paths(limits: Tensor, *shape: int) -> Tensor:
        return ids(limits.device, *shape, LIMIT + 2)

    monkeypatch.setattr(search, "_empty_paths", empty_paths)


@pytest.mark.parametrize("no_repeat_ngram", [0, 2])
def test_steps_of_beam_search_wait_for_nothing(
    gpu: torch.device, no_repeat_ngram: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_limits(monkeypatch)
    config = SearchConfig(beam_size=5, n_best=2, no_repeat_ngram=no_repeat_ngram)
    limits = ids(gpu, B)
    model, filters = stepper_and_filters(gpu, beams=5)
    allowed = search.all_filters(filters, config)
    beams, finished = search.empty_beams(limits, 5)
    batch = ActiveSentences(limits)
    for length in range(1, 4):
        rows = search._lengthen(model, allowed, beams, finished, length, batch.limits, config)
        done = search.settled(beams, finished, length, batch.limits, config)
        assert done.shape == (len(batch),)
        with pytest.raises(DataDependentOutputException):
            batch.close(done)  # the one readout of a step
        if length == 2:
            places = batch.select([0, 2, 3])
            beams.select(places)
            finished.select(places)
            rows = rows[places]
        model.select(rows.flatten())
        allowed.select(rows.flatten())
    assert beams.paths.device.type == NAME


@pytest.mark.parametrize("options", [{}, {"top_k": 8}, {"top_k": 8, "no_repeat_ngram": 1}])
@pytest.mark.parametrize("method", ["greedy", "sample"])
def test_so_do_steps_of_greedy_search_and_of_sampling(
    gpu: torch.device, method: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    known_limits(monkeypatch)
    lengths: list[int] = []

    def close(batch: ActiveSentences, done: Tensor) -> list[int]:
        assert done.shape == (len(batch),)
        lengths.append(len(batch))
        return []

    def worth_keeping(batch: ActiveSentences) -> list[int]:
        return list(range(len(batch)))[: 3 if len(lengths) >= 2 else B]

    monkeypatch.setattr(ActiveSentences, "close", close)
    monkeypatch.setattr(ActiveSentences, "worth_keeping", worth_keeping)
    config = SearchConfig.model_validate({"method": method, **options})
    model, filters = stepper_and_filters(gpu, beams=1)
    if method == "greedy":
        search.greedy(model, ids(gpu, B), config, filters)
    else:
        uniforms = torch.zeros(B, LIMIT + 1, device=gpu)
        search.sample(model, ids(gpu, B), config, uniforms, filters)
    assert lengths == [B, B] + [3] * (LIMIT - 1)
