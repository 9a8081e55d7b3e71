"""What a reader would stumble over and no score sees: lines with such a fault, in percent of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.checks.faults import KINDS, faults
from nmt.chinese.typography import repair
from nmt.evaluate.metrics import Lines, References
from nmt.text.scripts import is_traditional

PUNCTUATION = "punctuation to fix"
TRADITIONAL = "Traditional characters"


@dataclass(frozen=True)
class FaultRate:
    """How many lines have a fault of one kind, in percent: translations, and references to compare with."""

    kind: str
    translation: float
    reference: float


def fault_rates(
    hypotheses: Lines, references: References, sources: Lines | None
) -> list[FaultRate]:
    """Look at every line; without `sources`, only for faults that the line alone shows.

    Of several references, each counts for its part.
    """
    [rates] = fault_rates_of_systems([hypotheses], references, sources)
    return rates


def fault_rates_of_systems(
    systems: Sequence[Lines], references: References, sources: Lines | None
) -> list[list[FaultRate]]:
    """The same for each of several systems; the references are looked at once."""
    kinds = [PUNCTUATION, TRADITIONAL]
    if sources is not None:
        kinds.extend(KINDS)
    counts = _lines_by_kind([*systems, *references], sources)
    ours, of_references = counts[: len(systems)], counts[len(systems) :]
    theirs = sum(of_references, Counter[str]())
    found = []
    for hypotheses, own in zip(systems, ours, strict=True):
        lines = len(hypotheses)
        rates = []
        for kind in kinds:
            of_reference = 100 * theirs[kind] / (lines * len(references))
            rates.append(FaultRate(kind, 100 * own[kind] / lines, of_reference))
        found.append(rates)
    return found


def _lines_by_kind(texts: Sequence[Lines], sources: Lines | None) -> list[Counter[str]]:
    """Count the lines of each text that have at least one fault of each kind.

    All that stands for one source is looked at together: what is read of the source is then read once.
    """
    counts = [Counter[str]() for _ in texts]
    for number, versions in enumerate(zip(*texts, strict=True)):
        source = None if sources is None else sources[number]
        for counted, line in zip(counts, versions, strict=True):
            counted.update(kinds_of(source, line))
    return counts


def kinds_of(source: str | None, line: str) -> tuple[str, ...]:
    """The kinds of faults that a line has, each once; without its source, those that it shows alone."""
    kinds = []
    if repair(line) != line:
        kinds.append(PUNCTUATION)
    if is_traditional(line):
        kinds.append(TRADITIONAL)
    if source is not None:
        kinds += dict.fromkeys(fault.kind for fault in faults(source, line))
    return tuple(kinds)
