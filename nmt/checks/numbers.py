"""Numbers that a translation into Chinese leaves out, and numbers that it makes up.

The digits of the source are what the translation is held to. Number words, names of months and the
like only explain digits of the translation. What may be right is let pass: a fault that is named
should be one.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from nmt.numbers.arithmetic import Values
from nmt.numbers.chinese import chinese
from nmt.numbers.english import english
from nmt.numbers.patterns import FRACTIONS
from nmt.numbers.reading import Number

Numbers = list[Number]


class Unexplained(NamedTuple):
    """The numbers of two lines that nothing on the other side explains."""

    missing: Numbers  # digits of the source
    invented: Numbers  # digits of the translation
    words: Numbers  # of the source
    numerals: Numbers  # of the translation


class Differences(NamedTuple):
    """The numbers of two lines that are not in both, as they are written."""

    missing: tuple[str, ...]
    invented: tuple[str, ...]


def missing(source: str, translation: str) -> list[str]:
    """The numbers in digits of a source that its translation does not have."""
    return list(_differences(source, translation).missing)


def invented(source: str, translation: str) -> list[str]:
    """The numbers in digits of a translation that its source does not have."""
    return list(_differences(source, translation).invented)


_DIGITS = re.compile(rf"[\d{FRACTIONS}]")


@lru_cache(maxsize=1)  # both kinds of fault ask about the same two lines
def _differences(source: str, translation: str) -> Differences:
    """The numbers that are missing and those that are invented, as they are written."""
    if _DIGITS.search(source + translation) is None:
        return Differences((), ())
    stated = _stated(source)
    said = chinese(translation)
    left = _left_over(stated, said)
    if left.missing or left.invented:
        in_parts = _left_over(stated, _with_stated_parts(said, stated))
        left = min(left, in_parts, key=lambda each: len(each.missing) + len(each.invented))
    invented = left.invented
    if not left.missing:
        # What is said once may be said again, with the noun that English leaves out.
        known = _values(stated)
        invented = [number for number in invented if known.isdisjoint(number.values)]
    values_said = _values(said)
    missing: list[str] = []
    for number in left.missing:
        if not _is_implied_month(number, translation, values_said):
            missing.append(number.text)
    return Differences(
        missing=tuple(missing),
        invented=tuple(number.text for number in invented),
    )


@lru_cache(maxsize=1)  # a source may have the translations of several systems, one after the other
def _stated(source: str) -> Numbers:
    return english(source)


def _with_stated_parts(said: Numbers, stated: Numbers) -> Numbers:
    """The numbers of a translation; a fraction falls into its parts if the source has both.

    1 in 10 is 十分之一, and 68 of 100 is 68/100.
    """
    figures = {number.values[:1] for number in stated if number.digits}
    numbers: Numbers = []
    for number in said:
        is_fraction = "分之" in number.text or "/" in number.text
        is_stated = is_fraction and all(part.values[:1] in figures for part in number.parts)
        numbers += number.parts if is_stated else (number,)
    return numbers


def _values(numbers: Numbers) -> set[Decimal]:
    values: set[Decimal] = set()
    for number in numbers:
        values.update(number.values)
    return values


def _is_implied_month(number: Number, translation: str, values_said: set[Decimal]) -> bool:
    """Whether a month was named before and may be left out: August 14 as 14日, or as 当月14日."""
    is_month = number.text.isalpha()
    return is_month and ("月" not in translation or number.values[0] in values_said)


# --- which number explains which ---

_LIKELIEST = (1,)  # only by what a number means first
_ANY = (1, None)  # by what it means first, then by whatever it may mean


def _left_over(stated: Numbers, said: Numbers) -> Unexplained:
    """What is left when numbers are paired as they are, and then by their parts."""
    left = _pair_whole(stated, said)
    return _pair_parts(left) if left.missing or left.invented else left


def _pair_whole(stated: Numbers, said: Numbers) -> Unexplained:
    """Pair numbers as they are, in four passes."""
    source_digits: Numbers = []
    single_words: Numbers = []  # two, March
    other_words: Numbers = []  # a, one, two thirds, COVID-19
    for number in stated:
        if number.digits:
            source_digits.append(number)
        elif number.text.isalpha() and number.values[0] != 1:
            single_words.append(number)
        else:
            other_words.append(number)
    target_digits = [number for number in said if number.digits]
    target_numerals = [number for number in said if not number.digits]

    # 1. Digits and digits: 1,500 and 1500.
    missing, invented = _pair(source_digits, target_digits, _ANY)
    # 2. Single words and numerals: the 二 that says "two" cannot explain a 2 as well.
    free_words, numerals = _pair(single_words, target_numerals, _LIKELIEST)
    # 3. Digits of the source and numerals: 10 o'clock and 十时.
    missing, numerals = _pair(missing, numerals, _ANY)
    # 4. Digits of the translation and words: 20年 and two decades.
    invented, words = _pair(invented, free_words + other_words, _ANY)
    return Unexplained(missing, invented, words, numerals)


def _pair_parts(left: Unexplained) -> Unexplained:
    """Pair what is left by the parts that it may fall into, in three more passes."""
    # 5. Parts of the source and whole numbers of the translation: 8.11 and 8·11.
    missing, rest = _pair(_parts(left.missing), left.invented + left.numerals, _ANY)
    # 6. Parts of both: July 19 and 7.19.
    missing, rest = _pair(_parts(missing), _parts(rest), _ANY)
    # 7. Digits of the translation and parts of what the source has in a name: v1.2.3 and 1.2版.
    digits = [number for number in rest if number.digits]
    numerals = [number for number in rest if not number.digits]
    invented, words = _pair(digits, _parts(left.words), _ANY)
    return Unexplained(missing, invented, words, numerals)


def _parts(numbers: Numbers) -> Numbers:
    """The parts of numbers; a number without parts stays whole."""
    parts: Numbers = []
    for number in numbers:
        parts += number.parts or (number,)
    return parts


def _pair(left: Numbers, right: Numbers, depths: Sequence[int | None]) -> tuple[Numbers, Numbers]:
    """What is left over on both sides when each number has taken one that may mean the same.

    Each depth is a turn: a number counts with this many of its values, likeliest first, or with all
    (None).
    """
    for depth in depths:
        places = _places(right, depth)
        taken: set[int] = set()
        unpaired: Numbers = []
        for number in left:
            place = _free_place(number.values[:depth], places, taken)
            if place is None:
                unpaired.append(number)
            else:
                taken.add(place)
        left = unpaired
        right = [number for place, number in enumerate(right) if place not in taken]
    return left, right


def _places(numbers: Numbers, depth: int | None) -> dict[Decimal, list[int]]:
    """The place of each value among numbers; the first place comes last, to be popped."""
    places: defaultdict[Decimal, list[int]] = defaultdict(list)
    for place in reversed(range(len(numbers))):
        for value in numbers[place].values[:depth]:
            places[value].append(place)
    return places


def _free_place(values: Values, places: dict[Decimal, list[int]], taken: set[int]) -> int | None:
    for value in values:
        candidates = places.get(value, [])
        while candidates:
            place = candidates.pop()
            if place not in taken:
                return place
    return None
