"""CUDA graphs: work on a GPU that is recorded once and then replayed, without the CPU starting each kernel anew."""

from collections.abc import Callable

import torch

_EAGER_RUNS = (
    2  # in the first, torch compiles and optimizers get their state; the second shows what remains
)


class Recording:
    """Work that always reads and writes the same memory.

    It runs as it is at first, then it is recorded, and from then on replayed.
    """

    def __init__(self, work: Callable[[], None], records: bool) -> None:
        """Without `records`, it always runs as it is."""
        self._work = work
        self._records = records
        self._runs = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def is_replayed(self) -> bool:
        """Whether the work is recorded by now."""
        return self._graph is not None

    def run(self) -> None:
        """Do the work once. It may still go on when this returns."""
        if not self._records:
            self._work()
        elif self._runs < _EAGER_RUNS:
            self._runs += 1
            self._run_aside()
        else:
            self._graph = self._graph or self._recorded()
            self._graph.replay()

    def _run_aside(self) -> None:
        """On another stream, as torch asks of the runs before a recording."""
        here = torch.cuda.current_stream()
        aside = torch.cuda.Stream()
        aside.wait_stream(here)
        with torch.cuda.stream(aside):
            self._work()
        here.wait_stream(aside)

    def _recorded(self) -> torch.cuda.CUDAGraph:
        torch.cuda.empty_cache()  # a recording has memory of its own
        graph = torch.cuda.CUDAGraph()
        # A thread that reads batches ahead may go on meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._work()
        return graph
