"""What is plainly wrong with a translation, seen from the two lines alone.

What is looked for depends on the direction. A new kind of fault is a function and its line in `CHECKS`, whose order is
that of reports. Such a function

- takes source and translation, and gives each thing that is wrong in few words, or one thing where many would say the
  same;
- lets pass what the source has as well: a source with marks in a row may have a translation with marks in a row;
- reads the translation through `with_letters_for_spans`, in which letters stand for URLs, code and emoticons, unless it
  looks for these;
- keeps what it has read of the source (`lru_cache(maxsize=1)`): with `verify: retry` many translations of one source
  are checked one after another;
- takes time in proportion to the line, however long.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nmt.checks import amounts, marks, numbers, shape, tags
from nmt.spans import exact

Direction = tuple[str, str]  # the languages of source and translation, such as ("en", "zh")
ENGLISH_TO_CHINESE: Direction = ("en", "zh")

# What finds each kind of fault.
Checks = Mapping[str, Callable[[str, str], list[str]]]

# What holds for any two languages.
ANY_DIRECTION: Checks = {
    "span mangled": exact.lost,
    "tag misplaced": tags.misplaced,
    "repetition": shape.repeated,
    "too short": shape.blank,
}
CHECKS: dict[Direction, Checks] = {
    ENGLISH_TO_CHINESE: {
        "number missing": numbers.missing,
        "number invented": numbers.invented,
        "fraction missing": amounts.fraction_missing,
        "currency missing": amounts.currency_missing,
        "sign missing": amounts.sign_missing,
        "day missing": amounts.day_missing,
        "span mangled": exact.lost_from_english,
        "tag misplaced": tags.misplaced,
        "stray punctuation": marks.stray,
        "repetition": shape.repeated,
        "copy": shape.copied,
        "too short": shape.too_short,
        "too long": shape.too_long,
    },
}
# What does damage where nobody looks: it is told without being asked for.
DAMAGE: dict[Direction, Checks] = {
    ENGLISH_TO_CHINESE: {
        "number missing": amounts.changed,
        "fraction missing": amounts.fraction_missing,
        "currency missing": amounts.currency_missing,
        "span mangled": exact.lost,
    }
}
_DAMAGE_ANYWHERE: Checks = {"span mangled": exact.lost}
TERM = "term"  # of a glossary, which is looked for where there is one
# The kinds of faults of all directions.
KINDS = (
    *dict.fromkeys(kind for checks in (*CHECKS.values(), ANY_DIRECTION) for kind in checks),
    TERM,
)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: `detail` names it in few words."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def checks_of(direction: Direction) -> Checks:
    """The checks of a direction, by kind of fault."""
    return CHECKS.get(direction, ANY_DIRECTION)


def faults(source: str, translation: str, direction: Direction) -> list[Fault]:
    """All that is wrong with a translation, in the order of the checks of its direction."""
    return _found_by(checks_of(direction), source, translation)


def damage(source: str, translation: str, direction: Direction) -> list[Fault]:
    """The protected spans, amounts of money and large numbers that the translation does not have as they are."""
    return _found_by(DAMAGE.get(direction, _DAMAGE_ANYWHERE), source, translation)


def mangled(source: str, translation: str) -> list[Fault]:
    """The protected spans that the translation does not have byte for byte."""
    return _found_by(_DAMAGE_ANYWHERE, source, translation)


def repetition(source: str, translation: str) -> list[Fault]:
    """What occurs four times in a row, if nothing in the source occurs three times in a row."""
    return _found_by({"repetition": shape.repeated}, source, translation)


def _found_by(checks: Checks, source: str, translation: str) -> list[Fault]:
    found: list[Fault] = []
    for kind, check in checks.items():
        details = dict.fromkeys(check(source, translation))  # nothing twice
        found += [Fault(kind, detail) for detail in details]
    return found
