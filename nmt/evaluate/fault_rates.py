"""What a reader would stumble over and no score sees: lines with such a fault, in percent of all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmt.checks.faults import KINDS, faults
from nmt.text.scripts import is_traditional
from nmt.text.typography import repair

PUNCTUATION, TRADITIONAL = "punctuation to mend", "Traditional characters"


@dataclass(frozen=True)
class Check:
    """How many lines of the translations, and of the references for comparison, have a fault of one kind; percent."""

    kind: str
    translation: float
    reference: float


def check(
    hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None
) -> list[Check]:
    """Look at every line; for what has to do with the source only where the sources are given."""
    kinds = [PUNCTUATION, TRADITIONAL, *(KINDS if sources is not None else ())]
    ours, theirs = (_shares(lines, sources) for lines in (hypotheses, references))
    return [Check(kind, ours[kind], theirs[kind]) for kind in kinds]


def _shares(lines: Sequence[str], sources: Sequence[str] | None) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for number, line in enumerate(lines):
        counts.update(set(_kinds(line, sources[number] if sources is not None else None)))
    return {kind: 100 * counts[kind] / len(lines) for kind in (PUNCTUATION, TRADITIONAL, *KINDS)}


def _kinds(line: str, source: str | None) -> Iterator[str]:
    if repair(line) != line:
        yield PUNCTUATION
    if is_traditional(line):
        yield TRADITIONAL
    if source is not None:
        yield from (fault.kind for fault in faults(source, line))


def format_checks(checks: Sequence[Check]) -> str:
    """A table for people."""
    rows = [
        f"{check.kind:<24}{check.translation:>10.1f} %{check.reference:>10.1f} %"
        for check in checks
    ]
    return "\n".join([f"{'lines with':<24}{'translation':>12}{'reference':>12}", *rows])
