"""What is given for each line beside its text: a label, and scores that others made (COMET, MetricX, people)."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from nmt.errors import DataError, counted
from nmt.evaluation.metrics import Lines

MOST_LABELS = 100  # each is a test set of its own


@dataclass(frozen=True)
class LabelledLines:
    """The lines, counted from 0, that have one label."""

    label: str
    lines: list[int]


def lines_by_label(file: object, labels: Lines) -> list[LabelledLines]:
    """Gather the lines of each label, in the order in which labels come first.

    Raises DataError, naming `file` and the line, for a line that is no label.
    """
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(labels):
        label = line.strip()
        if not label:
            raise DataError(f"{file}:{number + 1}: has no label; give each line one, such as news")
        if not label.isprintable():
            fix = "give one label per line, as cut -f1 does"
            raise DataError(f"{file}:{number + 1}: {label!r} has tabs or control characters; {fix}")
        numbers.setdefault(label, []).append(number)
        if len(numbers) > MOST_LABELS:
            fix = "give labels that many lines share, such as news"
            most = counted(MOST_LABELS, "label")
            raise DataError(f"{file}:{number + 1}: more than {most}; {fix}")
    return [LabelledLines(label, lines) for label, lines in numbers.items()]


# --- scores ---


@dataclass(frozen=True)
class SegmentScores:
    """One score a line of each system: `columns` system → scores. More is better unless `lower_is_better`."""

    name: str
    columns: dict[str, list[float]]
    lower_is_better: bool = False


def read_segment_scores(
    name: str, file: object, lines: Lines, systems: Sequence[str], lower_is_better: bool
) -> SegmentScores:
    """Read a table of numbers: a line for each line of text, a column, tab-separated, for each system.

    The first line may name the columns, and must where there are several systems; columns of other systems are left
    out. Raises DataError naming `file` and the line.
    """
    if not lines:
        raise DataError(f"{file}: is empty; it must have one score per line")
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
    with suppress(ValueError):
        float(text)
        return True
    return False


def _number(text: str, file: object, number: int) -> float:
    if not _is_number(text):
        raise DataError(
            f"{file}:{number}: {text.strip()!r} is not a number; give one score per line"
        )
    value = float(text)
    if not math.isfinite(value):
        raise DataError(f"{file}:{number}: {text.strip()!r} is not finite; give each line a number")
    return value
