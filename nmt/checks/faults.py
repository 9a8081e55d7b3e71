"""What is plainly wrong with a translation into Chinese, seen from the two lines alone.

A new kind of fault is a function and its line in `CHECKS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nmt.checks import marks, numbers, shape, tags
from nmt.spans import masking as spans

# What finds each kind of fault: it gets source and translation, and gives each thing that is
# wrong in few words.
CHECKS: dict[str, Callable[[str, str], list[str]]] = {
    "number missing": numbers.missing,
    "number invented": numbers.invented,
    "span mangled": spans.lost,
    "tag misplaced": tags.misplaced,
    "stray punctuation": marks.stray,
    "repetition": shape.repeated,
    "copy": shape.copied,
    "too short": shape.too_short,
    "too long": shape.too_long,
}
KINDS = tuple(CHECKS)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: `detail` names it in few words."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def faults(source: str, translation: str) -> list[Fault]:
    """All that is wrong with a translation of English into Chinese, in the order of `KINDS`."""
    found: list[Fault] = []
    for kind in KINDS:
        found += faults_of(kind, source, translation)
    return found


def faults_of(kind: str, source: str, translation: str) -> list[Fault]:
    """What is wrong of one kind; nothing twice."""
    details = CHECKS[kind](source, translation)
    return [Fault(kind, detail) for detail in dict.fromkeys(details)] if details else []


def mangled(source: str, translation: str) -> list[Fault]:
    """The protected spans that the translation does not have byte for byte."""
    return faults_of("span mangled", source, translation)


def repetition(source: str, translation: str) -> list[Fault]:
    """What stands four times in a row, if nothing in the source stands three times."""
    return faults_of("repetition", source, translation)
