"""Lines of many requests share batches, and each request gets its own."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import Model

from nmt.errors import UserError
from nmt.serving.batching import Batcher, ClosedError, QueueFullError
from nmt.translate.translation import Translation

SECONDS = 20


def texts(result: "Future[list[Translation]]") -> list[str]:
    return [each.text for each in result.result(SECONDS)]


class Gate:
    """A model that waits at its door, so that requests come together behind it."""

    def __init__(self, model: Model) -> None:
        self.arrived, self.opened = threading.Event(), threading.Event()
        model.before = self._wait

    def _wait(self) -> None:
        self.arrived.set()
        assert self.opened.wait(SECONDS)


@pytest.fixture
def model() -> Model:
    return Model()


def test_lines_that_wait_are_translated_together(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=1000)
    first = batcher.submit(["a"], model)
    gate.arrived.wait(SECONDS)
    others = [batcher.submit([f"b{i}", f"c{i}"], model) for i in range(10)]
    assert batcher.waiting == 21
    gate.opened.set()
    assert texts(first) == ["译a"]
    assert [texts(each) for each in others] == [[f"译b{i}", f"译c{i}"] for i in range(10)]
    assert list(map(len, model.batches)) == [1, 20]
    assert batcher.waiting == 0


def test_a_long_request_does_not_keep_short_ones_waiting(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=10_000)
    batcher.submit(["first"], model)
    gate.arrived.wait(SECONDS)
    long = batcher.submit([f"l{i}" for i in range(1000)], model)
    short = batcher.submit(["s"], model)
    gate.opened.set()
    assert texts(short) == ["译s"]
    assert not long.done() or len(model.batches) > 5
    assert texts(long) == [f"译l{i}" for i in range(1000)]
    assert "s" in model.batches[1]
    assert max(map(len, model.batches)) <= 256


def test_a_long_line_does_not_keep_short_ones_waiting(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=1000)
    batcher.submit(["first"], model)
    gate.arrived.wait(SECONDS)
    submitted = [batcher.submit([text], model) for text in ("a", "l" * 100_000, "b")]
    gate.opened.set()
    assert [len(texts(result)[0]) for result in submitted] == [2, 100_001, 2]
    assert [len("".join(batch)) for batch in model.batches] == [5, 1, 100_000, 1]


def test_requests_for_another_way_have_their_own_batches(model: Model) -> None:
    gate = Gate(model)
    other = Model()
    batcher = Batcher(room=1000)
    batcher.submit(["first"], model)
    gate.arrived.wait(SECONDS)
    submitted = [
        (word, batcher.submit([word], way))
        for word, way in (("a", model), ("b", other), ("c", model), ("d", other))
    ]
    gate.opened.set()
    assert all(texts(result) == [f"译{word}"] for word, result in submitted)
    assert model.batches[1:] == [["a", "c"]]
    assert other.batches == [["b", "d"]]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.text(max_size=3), max_size=90), max_size=12))
def test_each_request_gets_its_own_lines_in_order(requests: list[list[str]]) -> None:
    model = Model()
    batcher = Batcher(room=100_000)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda lines: batcher.submit(lines, model), requests))
    for lines, result in zip(requests, results, strict=True):
        assert [each.source for each in result.result(SECONDS)] == lines
    batcher.close(SECONDS)


def test_a_line_that_fails_fails_its_request_alone(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=1000)
    batcher.submit(["first"], model)
    gate.arrived.wait(SECONDS)
    bad, good = batcher.submit(["x", "fail"], model), batcher.submit(["y"], model)
    gate.opened.set()
    with pytest.raises(UserError, match="no such word"):
        bad.result(SECONDS)
    assert texts(good) == ["译y"]
    assert texts(batcher.submit(["z"], model)) == ["译z"]


def test_too_many_lines_are_refused_and_one_request_alone_never(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=5)
    large = batcher.submit(["l"] * 9, model)
    gate.arrived.wait(SECONDS)
    with pytest.raises(QueueFullError):
        batcher.submit(["x"], model)
    gate.opened.set()
    assert len(texts(large)) == 9
    assert texts(batcher.submit(["x"], model)) == ["译x"]


def test_a_cancelled_request_frees_its_place(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=5)
    batcher.submit(["first"], model)
    gate.arrived.wait(SECONDS)
    gone = batcher.submit(["g"] * 4, model)
    with pytest.raises(QueueFullError):
        batcher.submit(["x"], model)
    assert gone.cancel()
    stays = batcher.submit(["x"], model)
    gate.opened.set()
    assert texts(stays) == ["译x"]
    assert all("g" not in batch for batch in model.batches)


def test_the_end_waits_for_what_was_begun(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=5)
    begun = batcher.submit(["a"], model)
    gate.arrived.wait(SECONDS)
    threading.Timer(0.1, gate.opened.set).start()
    batcher.close(SECONDS)
    assert texts(begun) == ["译a"]
    with pytest.raises(ClosedError):
        batcher.submit(["x"], model)


def test_what_does_not_end_in_time_is_cancelled(model: Model) -> None:
    gate = Gate(model)
    batcher = Batcher(room=50)
    batcher.submit(["a"], model)
    gate.arrived.wait(SECONDS)
    late = batcher.submit(["b"], model)
    batcher.close(0.01)
    assert late.cancelled()
    gate.opened.set()
