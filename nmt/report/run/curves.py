"""The course of a training in numbers, from a run's metrics.jsonl, train.log and validation folder."""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from nmt.errors import ModelError, Say, print_nothing
from nmt.files import read_bytes
from nmt.report.run.run_files import number, records
from nmt.run.folder import RunDir

_RESUMED = re.compile(
    r"^\d{4}-\d\d-\d\d [\d:]{8} resuming after update ([\d,]{1,20})$", re.MULTILINE
)
TRAIN = ("loss", "lr", "tokens_per_second", "gradient_norm")
DEV = ("loss", "bleu", "chrf")


@dataclass(frozen=True)
class Curve:
    """Values of one kind over the updates, and over the minutes of training behind each."""

    updates: list[int] = field(default_factory=list)
    minutes: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, update: int, minutes: float, value: float) -> None:
        """Append a point."""
        self.updates.append(update)
        self.minutes.append(minutes)
        self.values.append(value)


@dataclass(frozen=True)
class Course:
    """All curves of a run, by the name of what they show, such as `train loss`."""

    curves: dict[str, Curve]
    resumed: list[int]
    averages: dict[str, float]  # scores of the averaged checkpoint


@dataclass(frozen=True)
class _Record:
    kind: str
    update: int
    time: float  # seconds since 1970
    values: dict[str, float]


def resumptions(run: RunDir) -> list[int]:
    """The updates after which a training was interrupted and went on."""
    try:
        log = read_bytes(run.log).decode(errors="replace")
    except (OSError, ModelError):
        return []
    found = {int(text.replace(",", "") or 0) for text in _RESUMED.findall(log)}
    return sorted(found)


def read_course(run: RunDir, warn: Say = print_nothing) -> Course:
    """The curves of a run; empty ones where it has not trained. `warn` gets a line about those that are not records.

    Raises ModelError for a file that cannot be read.
    """
    found = sorted(_records(run, warn), key=lambda record: record.update)
    resumed = resumptions(run)
    elapsed = _minutes(found, resumed)
    curves: dict[str, Curve] = {}
    averages: dict[str, float] = {}
    for record, minutes in zip(found, elapsed, strict=True):
        names = {"train": TRAIN, "dev": DEV}.get(record.kind, ())
        for name in names:
            if name in record.values:
                curve = curves.setdefault(f"{record.kind} {name}", Curve())
                curve.add(record.update, minutes, record.values[name])
        if record.kind == "average":
            averages = record.values
    return Course(curves, resumed, averages)


def _records(run: RunDir, warn: Say) -> list[_Record]:
    found = []
    for line in records(run.metrics, warn):
        update, time = number(line.get("update")), number(line.get("time"))
        if update is None or time is None:
            continue
        values = {}
        for name, value in line.items():
            finite = number(value)
            if finite is not None and name not in ("update", "time"):
                values[name] = finite
        found.append(_Record(str(line.get("kind")), int(update), time, values))
    return found


def _minutes(found: list[_Record], resumed: list[int]) -> list[float]:
    """The minutes of training behind each record, without the time between an interruption and the resumption.

    How long the updates took that a resumption lies between is not known: the median pace stands for it.
    """
    paces = []
    for before, after in pairwise(found):
        if after.update > before.update and not _is_between(before, after, resumed):
            paces.append((after.time - before.time) / (after.update - before.update))
    pace = max(0.0, median(paces)) if paces else 0.0
    elapsed = [found[0].update * pace if found[0].update > 1 else 0.0] if found else []
    for before, after in pairwise(found):
        seconds = max(0.0, after.time - before.time)
        if _is_between(before, after, resumed):
            seconds = pace * (after.update - before.update)
        elapsed.append(elapsed[-1] + seconds)
    return [seconds / 60 for seconds in elapsed]


def _is_between(before: _Record, after: _Record, resumed: list[int]) -> bool:
    return any(before.update <= update < after.update for update in resumed)
