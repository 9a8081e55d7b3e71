"""What is said where a cluster's CPUs are taken: whoever waits is told for what, from time to time."""

import time
from typing import Any

from nmt.errors import Say, counted

_AFTER = 30  # seconds of silence before the first line
_AGAIN = 60  # seconds between lines


class Waiting:
    """Asked again and again while nothing comes, it says so now and then."""

    def __init__(self, ray: Any, say: Say) -> None:
        self._ray = ray
        self._say = say
        self._next: float | None = None  # when the next line is due

    def goes_on(self, wanted: str) -> None:
        """Nothing has come; `wanted` is what needs room, in words."""
        now = time.monotonic()
        if self._next is None:
            self._next = now + _AFTER
        if now >= self._next:
            self._next = now + _AGAIN
            self._say(f"waiting for {wanted}; the cluster has {self._free()} free")

    def ends(self) -> None:
        """Something has come."""
        self._next = None

    def _free(self) -> str:
        free = self._ray.available_resources()
        cpus = counted(int(free.get("CPU", 0)), "CPU")
        gpus = int(free.get("GPU", 0))
        return f"{cpus} and {counted(gpus, 'GPU')}" if gpus else cpus
