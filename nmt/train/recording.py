"""CUDA graphs: work on a GPU that is recorded once and then replayed, without the CPU starting each kernel anew."""

from collections.abc import Callable

import torch

# In the first run torch compiles, and optimizers get their state; the second shows what remains.
_EAGER_RUNS = 2


class Recording:
    """Work that always reads and writes the same memory.

    It runs as it is at first, then it is recorded, and from then on replayed.
    """

    def __init__(self, work: Callable[[], None], records: bool) -> None:
        """Without `records`, it always runs as it is."""
        self._work = work
        self._records = records
        self._runs = 0
        self._aside = torch.cuda.Stream() if records else None
        self._graph: torch.cuda.CUDAGraph | None = None
        self.failure = ""  # why it could not be recorded

    @property
    def is_replayed(self) -> bool:
        """Whether the work is recorded by now."""
        return self._graph is not None

    def run(self) -> None:
        """Do the work once. It may still go on when this returns."""
        if self._records and self._runs == _EAGER_RUNS:
            self._record()
        self._runs += 1
        if self._graph is not None:
            self._graph.replay()
        elif self._records:
            self._run_aside()
        else:
            self._work()

    def _run_aside(self) -> None:
        """On another stream, as torch asks of the runs before a recording."""
        assert self._aside is not None  # noqa: S101 - it records
        here = torch.cuda.current_stream()
        self._aside.wait_stream(here)
        with torch.cuda.stream(self._aside):
            self._work()
        here.wait_stream(self._aside)

    def _record(self) -> None:
        """Record the work, which does not do it."""
        torch.cuda.empty_cache()  # a recording has memory of its own
        graph = torch.cuda.CUDAGraph()
        try:
            # A thread that reads batches ahead may go on meanwhile.
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self._work()
        except RuntimeError as error:
            self._records = False
            self.failure = str(error).strip().splitlines()[0]
        else:
            self._graph = graph
