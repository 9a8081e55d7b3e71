"""What the parts of a number come to, in English and in Chinese."""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from unicodedata import numeric

Values = tuple[Decimal, ...]


def figures_value(figures: str) -> Decimal:
    """The value of FIGURES: 1,000 is 1000, 2½ is 2.5."""
    whole = Decimal(re.sub(r"[^\d.]", "", figures) or 0)
    last = figures[-1]
    fraction = 0 if last.isdecimal() else Decimal(str(numeric(last)))
    return whole + fraction


def scaled(values: Values, factor: Decimal | int) -> Values:
    """Every value times a factor."""
    return tuple(value * factor for value in values)


def ratio(top: Decimal, bottom: Decimal) -> Values:
    """A fraction in percent and as a quotient: a quarter is 25 % and 0.25. Nothing if by 0."""
    if not bottom:
        return ()
    return 100 * top / bottom, top / bottom


def spoken_terms(
    words: Iterable[str], factors: Mapping[str, int], value_of: Callable[[str], Decimal]
) -> list[Decimal]:
    """The terms of a number as it is spoken; their sum is its value.

    A factor multiplies all that is smaller and is before it: 二百零五万 is (200 + 5) × 10000. Words
    that are not among the factors are read by `value_of`.
    """
    terms: list[Decimal] = []
    ends_in_plain = False  # the last term is a word that no factor has multiplied
    for word in words:
        pending = terms.pop() if ends_in_plain else Decimal(0)
        ends_in_plain = word not in factors
        if ends_in_plain:
            if pending:
                terms.append(pending)
            terms.append(value_of(word))
            continue
        factor = factors[word]
        while terms and terms[-1] < factor:
            pending += terms.pop()
        terms.append((pending or Decimal(1)) * factor)
    return terms


def hour_values(hour: Decimal) -> Values:
    """An hour on clocks of 12 and of 24 hours: 3 may be 15, and 12 midnight."""
    if hour > 24:
        return (hour,)
    later = (hour + 12) % 24
    if hour in (0, 12):
        return hour, later, Decimal(24)
    return hour, later


def year_values(figures: str) -> Values:
    """A year, which may lack its century: 19 may be 2019 or 1919."""
    if len(figures) != 2:
        return (Decimal(figures),)
    return Decimal(figures), Decimal(f"20{figures}"), Decimal(f"19{figures}")


def decade_values(year: Decimal) -> Values:
    """A decade by its first year: the '90s are the 1990s; the 1900s are the 20th century too.

    Of ages, the mid-40s are about 45 and the late 40s nearly 50.
    """
    if year < 100:
        return year, year + 1900, year + 2000, year + 5, year + 10
    if year % 100:
        return (year,)
    return year, year // 100 + 1
