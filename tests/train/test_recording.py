"""Work that is recorded and replayed, with stand-ins for what only a GPU has; tests/cuda has the real thing."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nmt.train.recording import Recording

done: list[str] = []


class Stream:
    def wait_stream(self, _: "Stream") -> None:
        """Nothing runs."""


class Graph:
    def replay(self) -> None:
        done.append("replay")


@pytest.fixture(autouse=True)
def _gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def on(_: Stream) -> Iterator[None]:
        yield

    @contextmanager
    def recording(_: Graph, capture_error_mode: str) -> Iterator[None]:
        done.append(f"record {capture_error_mode}")
        yield

    done.clear()
    cuda = "nmt.train.recording.torch.cuda"
    for name, value in {
        "Stream": Stream,
        "CUDAGraph": Graph,
        "current_stream": Stream,
        "stream": on,
        "graph": recording,
        "empty_cache": lambda: None,
    }.items():
        monkeypatch.setattr(f"{cuda}.{name}", value)


def test_the_third_run_is_recorded_and_each_later_one_replayed() -> None:
    recording = Recording(lambda: done.append("work"), records=True)
    for _ in range(5):
        recording.run()
    expected = ["work", "work", "record thread_local", "work", "replay", "replay", "replay"]
    assert done == expected
    assert recording.is_replayed


def test_what_cannot_be_recorded_runs_as_it_is() -> None:
    def work() -> None:
        done.append("work")
        if done[-2:] == ["record thread_local", "work"]:
            raise RuntimeError("operation not permitted when stream is capturing\nand more")

    recording = Recording(work, records=True)
    for _ in range(5):
        recording.run()
    assert done == ["work", "work", "record thread_local", "work", "work", "work", "work"]
    assert not recording.is_replayed
    assert recording.failure == "operation not permitted when stream is capturing"


def test_without_a_gpu_nothing_is_recorded() -> None:
    recording = Recording(lambda: done.append("work"), records=False)
    for _ in range(4):
        recording.run()
    assert done == ["work"] * 4
