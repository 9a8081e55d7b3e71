"""What a reader would stumble over and no score sees: lines with such a fault, in percent of all.

Shapes: S systems, R references, N lines.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from nmt.checks.faults import Direction, checks_of, faults
from nmt.chinese.typography import repair
from nmt.evaluation.results import FaultRate
from nmt.evaluation.test_set import TestSet
from nmt.text.scripts import is_traditional

PUNCTUATION = "punctuation to fix"
TRADITIONAL = "Traditional characters"

Kinds = tuple[str, ...]


@dataclass(frozen=True)
class LineFaults:
    """The kinds of faults in one line, in order: of each system [S], and of each reference [R]."""

    systems: list[Kinds]
    references: list[Kinds]


def kinds_of(test_set: TestSet) -> list[str]:
    """The kinds of faults that are looked for; without sources, those that a line shows alone."""
    source, target = test_set.direction
    kinds = [PUNCTUATION, TRADITIONAL] if target == "zh" else []
    if test_set.sources is not None:
        kinds += checks_of((source, target))
    return kinds


def faults_of_line(
    direction: Direction, source: str | None, references: Sequence[str], systems: Sequence[str]
) -> LineFaults:
    """Look at all translations of one source: what is read of the source is then read once."""
    found = {line: _faults_of(direction, source, line) for line in (*systems, *references)}
    return LineFaults(
        systems=[found[line] for line in systems],
        references=[found[line] for line in references],
    )


def fault_rates(test_set: TestSet, lines: Iterable[LineFaults] | None = None) -> list[FaultRate]:
    """The rate of each kind of fault; `lines` are those of the test set, where they are known.

    Of several references, each counts for its part.
    """
    if lines is None:
        lines = (faults_of_line(test_set.direction, *line) for line in test_set.lines())
    of_systems = [Counter[str]() for _ in test_set.systems]
    of_references = Counter[str]()
    for line in lines:
        for counts, kinds in zip(of_systems, line.systems, strict=True):
            counts.update(kinds)
        of_references.update(chain.from_iterable(line.references))
    total = len(test_set)
    rates = []
    for kind in kinds_of(test_set):
        systems = [100 * counts[kind] / total for counts in of_systems]
        references = 100 * of_references[kind] / (total * len(test_set.references))
        rates.append(FaultRate(kind, systems, references))
    return rates


def _faults_of(direction: Direction, source: str | None, line: str) -> Kinds:
    """The kinds of faults that a line has, each once; without its source, those that it shows alone."""
    kinds: list[str] = []
    if direction[1] == "zh":
        if repair(line) != line:
            kinds.append(PUNCTUATION)
        if is_traditional(line):
            kinds.append(TRADITIONAL)
    if source is not None:
        kinds += dict.fromkeys(fault.kind for fault in faults(source, line, direction))
    return tuple(kinds)
