"""The numbers that a line of English or of Chinese states, in digits or in words.

A number has several readings where the languages differ: 3 p.m. is 下午3点 or 15时, 1990s is 90年代 or 20世纪90年代.
Units are not converted. The Chinese forms are those of GB/T 15835-2011 (how to write numerals), and what people say.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from unicodedata import numeric

Values = tuple[Decimal, ...]


@dataclass(frozen=True)
class Number:
    """One number of a line: what it may mean, likeliest first, and the parts that it may fall into instead."""

    text: str
    values: Values
    digits: bool = True  # False for words, and for digits in a name, as in COVID-19
    parts: tuple["Number", ...] = ()


Reader = Callable[[re.Match[str]], Iterable[Number]]

# --- what both languages write in digits ---

# 1,000 · 1 000 · 2.5 · 2½; lengths are bounded, for nobody states a number of more digits
FIGURES = r"(?:\d{1,3}(?:[, ]\d{3}){1,9}(?!\d)|\d{1,30})(?:\.\d{1,30}|[½¼¾⅓⅔⅛])?"
SHARED = (
    r"(?P<clock>(?<!\d)\d\d?(?:[:.]\d\d(?=\s?[ap]\.?m\b)|(?::\d\d){1,2}(?!\d)))"
    r"|(?P<pieces>\d{1,30}(?:(?:\.\d{1,30}){2,3}|(?:/\d{1,30}){1,2}))"  # 1.2.3, 3/4/2019, 2/3
)
FOLD = str.maketrans("０１２３４５６７８９．，％：／－\xa0\u202f\u2009", "0123456789.,%:/-   ")
FACTORS = {
    "十": 10,
    "百": 100,
    "千": 1000,
    "万": 10**4,
    "亿": 10**8,
    "decade": 10,
    "dozen": 12,
    "century": 100,
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
LETTERS = {
    "k": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
    "tn": 10**12,
    "trn": 10**12,
}
FACTORS |= SCALES | LETTERS


def value(figures: str) -> Decimal:
    plain = re.sub(r"[^\d.]", "", figures)
    return Decimal(plain or 0) + (
        0 if figures[-1].isdecimal() else Decimal(str(numeric(figures[-1])))
    )


def times(values: Values, factor: Decimal | int) -> Values:
    return tuple(value * factor for value in values)


def terms_of(words: Iterable[str], terms: Callable[[str], Decimal]) -> list[Decimal]:
    """Terms and factors as they are spoken; a factor multiplies whatever smaller is before it: 二百零五万."""
    spoken: list[Decimal] = []
    term = False
    for word in words:
        before = spoken.pop() if term else Decimal(0)
        term = word not in FACTORS
        if term:
            spoken += [before, terms(word)] if before else [terms(word)]
            continue
        factor = FACTORS[word]
        while spoken and spoken[-1] < factor:
            before += spoken.pop()
        spoken.append((before or Decimal(1)) * factor)
    return spoken


def fraction(top: Decimal, bottom: Decimal) -> Values:
    """In percent and as a quotient: a quarter is 25%."""
    return (100 * top / bottom, top / bottom) if bottom else ()


def hour(hour: Decimal) -> Values:
    """On clocks of 12 and of 24 hours."""
    return (
        (hour, (hour + 12) % 24, *((Decimal(24),) if hour in (0, 12) else ()))
        if hour <= 24
        else (hour,)
    )


def year(figures: str) -> Values:
    """A year may lack its century: 3/4/19."""
    return tuple(
        map(Decimal, (figures, f"20{figures}", f"19{figures}") if len(figures) == 2 else (figures,))
    )


def decade(years: Decimal) -> Values:
    """1990s, '90s; the 1900s are the 20th century."""
    if years < 100:
        return years, years + 1900, years + 2000
    return (years,) if years % 100 else (years, years // 100 + 1)


def clock(match: re.Match[str]) -> Iterator[Number]:
    """Hours, minutes, seconds, of which 00 need not be said."""
    hours, *rest = re.findall(r"\d+", match[0])
    yield Number(match[0], hour(Decimal(hours)))
    yield from (Number(match[0], (Decimal(figures),), int(figures) > 0) for figures in rest)


def pieces(match: re.Match[str]) -> Iterator[Number]:
    *first, last = re.split("[./]", match[0])
    parts = [*((Decimal(figures),) for figures in first), year(last)]
    values = (
        (*fraction(parts[0][0], parts[1][0]), Decimal(first[0] + last)) if len(parts) == 2 else ()
    )  # 9/11 is 911
    digits = match[0] != "24/7"  # 全天候
    yield Number(match[0], values, digits, tuple(Number(match[0], part, digits) for part in parts))


def figures(match: re.Match[str]) -> Number:
    """Figures alone: 10 000 may be two numbers, 0230 a time, the 96 of 1995-96 a year."""
    figures, before = match["number"], match.string[max(match.start() - 5, 0) : match.start()]
    century = re.match(r"\d\d(?=\d\d[-–~/至到])", before) if len(figures) == 2 else None
    pieces = re.findall(r"\d\d" if re.fullmatch(r"0\d{3}", figures) else r"[\d,]+", figures)
    parts = tuple(Number(figures, (value(piece),)) for piece in pieces) if pieces[1:] else ()
    return Number(
        figures, (value(figures), *((value(century[0] + figures),) if century else ())), parts=parts
    )
