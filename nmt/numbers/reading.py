"""What English and Chinese numbers share: their type, figures, and the arithmetic of reading.

A number has several values where the languages differ: 3 p.m. is 下午3点 or 15时, 1990s is 90年代 or
20世纪90年代. Units are not converted. The Chinese forms are those of GB/T 15835-2011 (how to write
numerals), and what people say.

The patterns are fragments for `re.VERBOSE`. Their repetitions have bounds, for nobody writes more
digits: otherwise the time would grow as the square of a line's length.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from unicodedata import numeric

Values = tuple[Decimal, ...]


@dataclass(frozen=True)
class Number:
    """One number of a line: what it may mean, the most likely first, and parts it may fall into."""

    text: str
    values: Values
    digits: bool = True  # False for words, and for digits in a name, as in COVID-19
    parts: tuple["Number", ...] = ()


Reader = Callable[[re.Match[str]], Iterable[Number]]

FRACTIONS = "½¼¾⅓⅔⅛"
FIGURES = rf"""(?:
    (?: \d{{1,3}} (?: [,， ] \d{{3}} ){{1,9}} (?!\d)  # 1,000 or 1 000
      | \d{{1,30}}                                 # 1000
    )
    (?: \.\d{{1,30}}                               # 2.5
      | [{FRACTIONS}]                             # 2½
    )?
)"""
CLOCK = r"""(?P<clock>
    (?<!\d) \d\d?
    (?: [:.] \d\d (?= \s? [ap]\.?m\b )         # 4.40 a.m.
      | (?: :\d\d ){1,2} (?!\d)                # 15:30 or 15:30:59
    )
)"""
DIVIDED = r"""(?P<divided>
    \d{1,30}
    (?: (?: \.\d{1,30} ){2,3}                  # 1.2.3
      | / \d{1,3} (?: ,\d{3} ){1,9} (?!\d)    # 412/5,600
      | (?: /\d{1,30} ){1,2}                   # 2/3 or 3/4/2019
    )
)"""

# Full-width figures and marks, and narrow and no-break spaces, as ASCII.
# A full-width comma stays: 1，500 may be one number, but 2/3，120 is two.
FOLD = str.maketrans("０１２３４５６７８９．％：／－\xa0\u202f\u2009", "0123456789.%:/-   ")


# --- arithmetic ---


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
    """A decade by its first year: the '90s are the 1990s; the 1900s are the 20th century too."""
    if year < 100:
        return year, year + 1900, year + 2000
    if year % 100:
        return (year,)
    return year, year // 100 + 1


# --- readers of the patterns ---


def read_clock(match: re.Match[str]) -> Iterator[Number]:
    """Hours, minutes and seconds of a CLOCK, each a number; 00 need not be said."""
    hours, *rest = re.findall(r"\d+", match[0])
    yield Number(match[0], hour_values(Decimal(hours)))
    for figures in rest:
        yield Number(match[0], (Decimal(figures),), digits=int(figures) > 0)


def read_divided(match: re.Match[str]) -> Iterator[Number]:
    """One number for a DIVIDED, in parts; two parts are a fraction or run together: 9/11 is 911."""
    *first, last = re.split("[./]", match[0].replace(",", ""))
    values: Values = ()
    if len(first) == 1:
        values = (*ratio(Decimal(first[0]), Decimal(last)), Decimal(first[0] + last))
    digits = match[0] != "24/7"  # 全天候
    parts = [Number(match[0], (Decimal(figures),), digits) for figures in first]
    parts.append(Number(match[0], year_values(last), digits))
    yield Number(match[0], values, digits, tuple(parts))


def read_figures(match: re.Match[str]) -> Number:
    """The figures that a match has as its group "number".

    1 000 may be two numbers, 0230 a time, and the 96 of 1995-96 a year.
    """
    figures = match["number"]
    values: Values = (figures_value(figures),)
    if len(figures) == 2:
        before = match.string[max(match.start() - 5, 0) : match.start()]
        century = re.match(r"\d\d(?=\d\d[-–~/至到])", before)
        if century:
            values += (figures_value(century[0] + figures),)
    is_time = re.fullmatch(r"0\d{3}", figures)
    pieces = re.findall(r"\d\d" if is_time else r"[\d,，]+", figures)
    if len(pieces) < 2:
        return Number(figures, values)
    if is_time and pieces[1] == "00":  # 0900 hours: the minutes need not be told
        pieces.pop()
    parts = tuple(Number(figures, (figures_value(piece),)) for piece in pieces)
    return Number(figures, values, parts=parts)
