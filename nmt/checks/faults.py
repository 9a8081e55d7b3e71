"""What is plainly wrong with a translation into Chinese, seen from the two lines alone.

The source's own digits are what the translation is held to; number words, names of months and the like only explain
digits that the translation has. What may be right is let pass: a fault that is named should be one.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from nmt.text import spans
from nmt.text.chinese_numbers import chinese
from nmt.text.english_numbers import english
from nmt.text.numbers import Number, Values

KINDS = (
    "number missing",
    "number invented",
    "span mangled",
    "repetition",
    "copy",
    "too short",
    "too long",
)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: `detail` names it in few words."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


Numbers = list[Number]


def faults(source: str, translation: str) -> list[Fault]:
    """What is wrong with the Chinese translation of a line of English, as far as the lines alone show it."""
    return list(dict.fromkeys(fault for check in _CHECKS for fault in check(source, translation)))


def mangled(source: str, translation: str) -> list[Fault]:
    """The protected spans that the translation has not got byte for byte."""
    return [Fault("span mangled", span) for span in spans.lost(source, translation)]


def repetition(source: str, translation: str) -> list[Fault]:
    """Something that stands four times in a row, if nothing in the source stands three times."""
    repeated = _REPEATED.search(translation)
    return (
        [Fault("repetition", _short(repeated[1]))]
        if repeated and _TWICE.search(source) is None
        else []
    )


_DIGITS = re.compile("[\\d½¼¾⅓⅔⅛]")


def _numbers(source: str, translation: str) -> Iterator[Fault]:
    if _DIGITS.search(source + translation) is None:
        return
    told = chinese(translation)
    missing, invented = _unexplained(english(source), told)
    said = {value for number in told for value in number.values}
    for number in missing:
        if not number.text.isalpha() or (
            "月" in translation and number.values[0] not in said
        ):  # 27日, 当月27日
            yield Fault("number missing", number.text)
    yield from (Fault("number invented", number.text) for number in invented)


def _unexplained(stated: Numbers, told: Numbers) -> tuple[Numbers, Numbers]:
    """The numbers in digits, of the source and of the translation, that nothing on the other side explains."""
    missing, invented = _pair([n for n in stated if n.digits], [n for n in told if n.digits])
    hints = [
        n for n in stated if not n.digits
    ]  # single words say what numerals say: the 二 of "two" is not that of 2
    words = [n for n in hints if n.text.isalpha() and n.values[0] != 1]
    others = [n for n in hints if not (n.text.isalpha() and n.values[0] != 1)]
    words, numerals = _pair(words, [n for n in told if not n.digits], (1,))
    missing, numerals = _pair(missing, numerals)
    invented, words = _pair(invented, words + others)
    if missing or invented:
        missing, rest = _pair(_apart(missing), [*invented, *numerals])
        missing, rest = _pair(_apart(missing), _apart(rest))
        invented, _ = _pair([number for number in rest if number.digits], _apart(words))
    if (
        not missing
    ):  # what is said once may well be said again, with the noun that English leaves out
        again = {value for number in stated for value in number.values}
        invented = [number for number in invented if again.isdisjoint(number.values)]
    return missing, invented


def _pair(
    left: Numbers, right: Numbers, depths: Sequence[int | None] = (1, None)
) -> tuple[Numbers, Numbers]:
    """What is left over on both sides when each number has taken one that may mean the same, the likeliest first."""
    for likeliest in depths:
        places: defaultdict[Decimal, list[int]] = defaultdict(list)
        for place, number in reversed(list(enumerate(right))):
            for value in number.values[:likeliest]:
                places[value].append(place)
        taken: set[int] = set()
        left = [number for number in left if not _take(number.values[:likeliest], places, taken)]
        right = [number for place, number in enumerate(right) if place not in taken]
    return left, right


def _take(values: Values, places: dict[Decimal, list[int]], taken: set[int]) -> bool:
    for value in values:
        while places.get(value):
            if (place := places[value].pop()) not in taken:
                taken.add(place)
                return True
    return False


def _apart(numbers: Numbers) -> Numbers:
    return [part for number in numbers for part in number.parts or (number,)]


_WORD = re.compile(
    r"(?<![\w@#./:'-])[a-z]{2,}(?![\w@/:-]|\.\w)"
)  # neither a name nor within an address
_HAN = re.compile("[\u3400-\u9fff]")
_REPEATED = re.compile(r"([^\W\d].{0,59}?)([\s，,、。；！!]{0,2})(?:\1\2){2}\1")  # not 谢谢，谢谢
_TWICE = re.compile(r"([^\W\d].{0,59}?)(?:\W{0,2}\1){2}", re.IGNORECASE)


def _copy(source: str, translation: str) -> Iterator[Fault]:
    words = len(_WORD.findall(source))
    if (
        translation
        and _HAN.search(translation) is None
        and (words > 2 or (words and translation == source))
    ):
        yield Fault("copy", _short(translation))


def _length(source: str, translation: str) -> Iterator[Fault]:
    """Bounds that no human reference of two test sets comes near: 0.15 to 1.3 characters for one of the source."""
    detail = f"{len(translation)} characters for {len(source)}"
    if len(translation) < 0.12 * len(source) - 1 or (source.strip() and not translation.strip()):
        yield Fault("too short", detail)
    if len(translation) > 1.3 * len(source) + 10:
        yield Fault("too long", detail)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


_CHECKS: tuple[Callable[[str, str], Iterable[Fault]], ...] = (
    _numbers,
    mangled,
    repetition,
    _copy,
    _length,
)
