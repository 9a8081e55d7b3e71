"""Counts and times of a server, in the text format of Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from threading import Lock

TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class Metrics:
    """What has happened since the start."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0
        self.lines = 0
        self.characters = 0

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._lock:
            self._requests[path, status] += 1
            self._buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds += seconds

    def translated(self, lines: int, characters: int) -> None:
        """Count what was translated."""
        with self._lock:
            self.lines += lines
            self.characters += characters

    def text(self, waiting: int) -> str:
        """All of it; `waiting` are the lines that wait now."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines(waiting))

    def _lines(self, waiting: int) -> Iterator[str]:
        yield "# TYPE nmt_requests_total counter"
        for (path, status), count in sorted(self._requests.items()):
            yield f'nmt_requests_total{{path="{path}",status="{status}"}} {count}'
        yield "# TYPE nmt_request_seconds histogram"
        total = 0
        for bound, count in zip((*map(str, _BOUNDS), "+Inf"), self._buckets, strict=True):
            total += count
            yield f'nmt_request_seconds_bucket{{le="{bound}"}} {total}'
        yield f"nmt_request_seconds_sum {self._seconds:.6f}"
        yield f"nmt_request_seconds_count {total}"
        for name, value in (("lines", self.lines), ("characters", self.characters)):
            yield f"# TYPE nmt_translated_{name}_total counter"
            yield f"nmt_translated_{name}_total {value}"
        yield "# TYPE nmt_waiting_lines gauge"
        yield f"nmt_waiting_lines {waiting}"
