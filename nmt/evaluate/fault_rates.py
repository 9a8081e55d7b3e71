"""What a reader would stumble over and no score sees: lines with such a fault, in percent of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.checks.faults import KINDS, faults
from nmt.evaluate.metrics import Lines, References
from nmt.text.scripts import is_traditional
from nmt.text.typography import repair

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
    theirs: Counter[str] = Counter()
    for reference in references:
        theirs += _lines_by_kind(reference, sources)
    found = []
    for hypotheses in systems:
        ours = _lines_by_kind(hypotheses, sources)
        lines = len(hypotheses)
        rates = []
        for kind in kinds:
            of_reference = 100 * theirs[kind] / (lines * len(references))
            rates.append(FaultRate(kind, 100 * ours[kind] / lines, of_reference))
        found.append(rates)
    return found


def _lines_by_kind(lines: Lines, sources: Lines | None) -> Counter[str]:
    """Count the lines that have at least one fault of each kind."""
    counts: Counter[str] = Counter()
    for number, line in enumerate(lines):
        if repair(line) != line:
            counts[PUNCTUATION] += 1
        if is_traditional(line):
            counts[TRADITIONAL] += 1
        if sources is not None:
            counts.update({fault.kind for fault in faults(sources[number], line)})
    return counts
