"""Anyone's score of each line: COMET's, MetricX's, people's. A table in, the mean and its tests out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmt.errors import DataError, counted
from nmt.evaluate.measurement import Measurement, Scale
from nmt.evaluate.metrics import Lines

WORST = 5  # lines that reports name


@dataclass(frozen=True)
class SegmentScores:
    """One score a line of each system: `columns` system → scores. More is better unless `lower_is_better`."""

    name: str
    columns: dict[str, list[float]]
    lower_is_better: bool = False


@dataclass(frozen=True)
class BadLine:
    """A line, counted from 1, and its score."""

    line: int
    score: float


def read_segment_scores(
    name: str, file: object, lines: Lines, systems: Sequence[str], lower_is_better: bool
) -> SegmentScores:
    """Read a table of numbers: a line for each line of text, a column, tab-separated, for each system.

    The first line may name the columns, and must where there are several systems; columns of other systems are left
    out. Raises DataError naming `file` and the line.
    """
    if not lines:
        raise DataError(f"{file}: is empty; it must hold one score a line")
    header = _header(lines[0], systems)
    first = 2 if header else 1
    columns = _columns(file, header, lines[0], systems)
    scores: dict[str, list[float]] = {system: [] for system in systems}
    width = lines[0].count("\t") + 1
    for number, line in enumerate(lines[first - 1 :], start=first):
        fields = line.split("\t")
        if len(fields) != width:
            found = counted(len(fields), "column")
            raise DataError(f"{file}:{number}: has {found}, the first line {width}; give as many")
        for system, column in columns.items():
            scores[system].append(_number(fields[column], file, number))
    return SegmentScores(name, scores, lower_is_better)


def _header(line: str, systems: Sequence[str]) -> list[str] | None:
    """The names of the columns, if the line holds anything but numbers, or the names of all systems."""
    fields = [field.strip() for field in line.split("\t")]
    are_numbers = all(_is_number(field) for field in fields)
    return None if are_numbers and not set(systems) <= set(fields) else fields


def _columns(
    file: object, header: list[str] | None, first_line: str, systems: Sequence[str]
) -> dict[str, int]:
    """The place of each system's column."""
    width = first_line.count("\t") + 1
    if len(systems) == 1 and width == 1:
        return {systems[0]: 0}
    if header is None:
        raise DataError(
            f"{file}: {counted(width, 'column')} of scores for {counted(len(systems), 'system')}; "
            f"name the columns in the first line: {', '.join(systems)}, separated by tabs"
        )
    places = {}
    for system in systems:
        if system not in header:
            names = ", ".join(map(repr, header))
            raise DataError(f"{file}:1: no column is called {system!r}, but {names}; name it so")
        if header.count(system) > 1:
            raise DataError(f"{file}:1: two columns are called {system!r}; give each its own name")
        places[system] = header.index(system)
    return places


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, file: object, number: int) -> float:
    if not _is_number(text):
        raise DataError(f"{file}:{number}: {text.strip()!r} is not a number; give one score a line")
    value = float(text)
    if not math.isfinite(value):
        raise DataError(f"{file}:{number}: {text.strip()!r} is not finite; give each line a number")
    return value


def measure_segments(given: SegmentScores) -> Measurement:
    """The means of the scores as a measurement, with interval and tests as metrics have them.

    Its statistics are each line's score and 1.
    """
    scores = np.array(list(given.columns.values()))  # [S, N]
    return Measurement(
        metric=given.name,
        systems=tuple(given.columns),
        statistics=np.stack([scores, np.ones_like(scores)], axis=2),
        scale=Scale(
            score=lambda lines: math.fsum(lines[:, 0]) / len(lines),
            sentence=lambda line: line[0],
            rows=lambda sums: sums[:, 0] / sums[:, 1],
            resampled=lambda sums: sums[:, 0] / sums[:, 1],
            lowest=-math.inf,
            highest=math.inf,
            lower_is_better=given.lower_is_better,
        ),
        signature="mean",
    )


def worst_lines(measured: Measurement) -> list[list[BadLine]]:
    """The worst lines of each system, the worst first."""
    found = []
    for scores in measured.sentences():
        badness = scores if measured.scale.lower_is_better else -scores
        order = np.argsort(-badness, kind="stable")[:WORST]
        found.append([BadLine(int(line) + 1, float(scores[line])) for line in order])
    return found
