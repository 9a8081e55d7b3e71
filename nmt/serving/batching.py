"""Lines of many requests, translated together by the one thread that owns the model.

Browser tools send hundreds of small requests a second, and a model is faster with many lines at a time. A batch begins
as soon as its first line has waited for others long enough, and takes a share of each request, so that a long one
does not keep the short ones waiting. Requests that are translated in different ways, such as with different glossaries,
do not share a batch.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import monotonic
from typing import NamedTuple

from nmt.translate.translation import Translation

Translate = Callable[[list[str]], list[Translation]]
_WAIT = 0.01  # seconds that the first line of a batch waits for others


class _Size(NamedTuple):
    """A number of lines, and of characters in them."""

    lines: int
    characters: int


_BATCH = _Size(256, 40_000)
_SHARE = _Size(64, 10_000)  # of a batch, for one request while others wait


class QueueFullError(Exception):
    """More lines wait than there is room for."""


class ClosedError(Exception):
    """Nothing is translated any more."""


@dataclass(eq=False)
class _Job:
    """The lines of a request, how they are translated, what is done, and where the result goes."""

    lines: list[str]
    translate: Translate
    result: "Future[list[Translation]]" = field(default_factory=Future)
    done: list[Translation] = field(default_factory=list)
    arrived: float = field(default_factory=monotonic)

    @property
    def left(self) -> int:
        return len(self.lines) - len(self.done)

    def next_lines(self, most: _Size) -> list[str]:
        """The next lines; the first one may be longer than all may be together."""
        first = len(self.done)
        found: list[str] = []
        characters = 0
        for line in self.lines[first : first + most.lines]:
            characters += len(line)
            if found and characters > most.characters:
                break
            found.append(line)
        return found


class Batcher:
    """Takes lines from any thread, and translates them in its own."""

    def __init__(self, room: int) -> None:
        """`room` is the number of lines that may wait."""
        self._room = room
        self._jobs: deque[_Job] = deque()
        self._changed = Condition()
        self._is_closed = False
        self._thread = Thread(target=self._run, name="nmt-model", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The lines that wait."""
        with self._changed:
            return self._count()

    def _count(self) -> int:
        """The lines that wait, without those that nobody waits for any more."""
        self._jobs = deque(job for job in self._jobs if not job.result.cancelled())
        return sum(job.left for job in self._jobs)

    def submit(self, lines: Sequence[str], translate: Translate) -> "Future[list[Translation]]":
        """The translations of lines, in order; cancel it to free their places.

        Raises QueueFullError if there is no room for them now, ClosedError after `close`.
        """
        job = _Job(list(lines), translate)
        with self._changed:
            if self._is_closed:
                raise ClosedError
            waiting = self._count()
            if waiting and waiting + len(job.lines) > self._room:
                raise QueueFullError
            if not job.lines:
                job.result.set_result([])
            else:
                self._jobs.append(job)
                self._changed.notify()
        return job.result

    def close(self, patience: float) -> None:
        """Take no more lines, and wait so many seconds for those that were taken; the rest is cancelled."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(patience)
        with self._changed:
            for job in self._jobs:
                job.result.cancel()
            self._jobs.clear()

    # --- the thread of the model ---

    def _run(self) -> None:
        while (shares := self._next_batch()) is not None:
            if not shares:  # whoever sent them went away
                continue
            lines = [line for _, of_job in shares for line in of_job]
            try:
                translations = iter(shares[0][0].translate(lines))
            except BaseException as error:  # an engine in Rust panics with one that is no Exception
                self._try_alone(shares, error)
                continue
            for job, of_job in shares:
                job.done += [next(translations) for _ in of_job]
                self._finish(job)

    def _next_batch(self) -> list[tuple[_Job, list[str]]] | None:
        """The lines of each job that are translated next; None at the end."""
        with self._changed:
            while not self._jobs:
                if self._is_closed:
                    return None
                self._changed.wait()
            begins = self._jobs[0].arrived + _WAIT
            while not self._is_closed and (pause := begins - monotonic()) > 0:
                self._changed.wait(pause)
            self._count()
            return self._shares()

    def _shares(self) -> list[tuple[_Job, list[str]]]:
        """The next lines of the first job, and of those that are translated in the same way."""
        jobs = list(self._jobs)
        alike = [job for job in jobs if job.translate == jobs[0].translate] if jobs else []
        most = _SHARE if len(jobs) > 1 else _BATCH
        lines, characters = _BATCH
        shares: list[tuple[_Job, list[str]]] = []
        for job in alike:
            of_job = job.next_lines(_Size(min(most.lines, lines), min(most.characters, characters)))
            lines -= len(of_job)
            characters -= sum(map(len, of_job))
            is_too_much = characters < 0 or not of_job
            if shares and is_too_much:
                break
            shares.append((job, of_job))
        begun = dict.fromkeys(job for job, _ in shares)
        self._jobs = deque([*(job for job in jobs if job not in begun), *begun])
        return shares

    def _try_alone(self, shares: list[tuple[_Job, list[str]]], error: BaseException) -> None:
        """After a batch that failed, give each job a batch of its own: one bad line fails one request."""
        for job, of_job in shares:
            try:
                job.done += job.translate(of_job)
            except BaseException as own:
                self._forget(job)
                _end(job, error=own if len(shares) > 1 else error)
            else:
                self._finish(job)

    def _finish(self, job: _Job) -> None:
        if job.left == 0:
            self._forget(job)
            _end(job)

    def _forget(self, job: _Job) -> None:
        with self._changed:
            if job in self._jobs:
                self._jobs.remove(job)


def _end(job: _Job, error: BaseException | None = None) -> None:
    if not job.result.set_running_or_notify_cancel():
        return
    if error is None:
        job.result.set_result(job.done)
    else:
        is_usual = isinstance(error, Exception)
        job.result.set_exception(error if is_usual else RuntimeError(repr(error)))
