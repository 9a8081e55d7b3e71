"""What English and Chinese numbers share: their type, and how figures are read.

A number has several values where the languages differ: 3 p.m. is 下午3点 or 15时, 1990s is 90年代 or
20世纪90年代. Units are not converted. The Chinese forms are those of GB/T 15835-2011 (how to write
numerals), and what people say.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from nmt.numbers.arithmetic import Values, figures_value, hour_values, ratio, year_values


@dataclass(frozen=True)
class Number:
    """One number of a line: what it may mean, the most likely first, and parts it may fall into."""

    text: str
    values: Values
    digits: bool = True  # False for words, and for digits in a name, as in COVID-19
    parts: tuple["Number", ...] = ()


Reader = Callable[[re.Match[str]], Iterable[Number]]


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
