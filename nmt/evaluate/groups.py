"""Scores of the lines that share a label: of a domain, a document, a kind."""

from dataclasses import dataclass

from nmt.errors import DataError, counted
from nmt.evaluate.metrics import Lines

MOST = 100  # labels; each is a test set of its own


@dataclass(frozen=True)
class Group:
    """The lines, counted from 0, that have one label."""

    label: str
    lines: list[int]


def group(file: object, labels: Lines) -> list[Group]:
    """Gather the lines of each label, in the order in which labels come first.

    Raises DataError, naming `file` and the line, for a line that is no label.
    """
    lines_by_label: dict[str, list[int]] = {}
    for number, line in enumerate(labels):
        label = line.strip()
        if not label:
            raise DataError(f"{file}:{number + 1}: has no label; give each line one, such as news")
        if not label.isprintable():
            fix = "give one label a line, as cut -f1 does"
            raise DataError(f"{file}:{number + 1}: {label!r} has tabs or control characters; {fix}")
        lines_by_label.setdefault(label, []).append(number)
        if len(lines_by_label) > MOST:
            fix = "give labels that many lines share, such as news"
            raise DataError(f"{file}:{number + 1}: more than {counted(MOST, 'label')}; {fix}")
    return [Group(label, lines) for label, lines in lines_by_label.items()]
