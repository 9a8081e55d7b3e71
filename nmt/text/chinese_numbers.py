"""The numbers that a line of Chinese states."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from math import prod

from nmt.text.numbers import (
    FACTORS,
    FIGURES,
    FOLD,
    SHARED,
    Number,
    Reader,
    Values,
    clock,
    decade,
    figures,
    fraction,
    hour,
    pieces,
    terms_of,
    times,
)

_ONE, _DIGIT, _LARGE = "一二两三四五六七八九", "零〇○一二两三四五六七八九", "十百千万亿"
_UNIT = r"(?:[十百万亿]|千(?![米克瓦卡帕伏赫焦升字]))"  # 千米 is a unit of length
_SOME = "(?:[多余来几]|个多?(?=亿(?!元)))?"
_NUMERAL = (
    rf"(?:{FIGURES}(?: ?{_SOME}{_UNIT}(?:零?(?:\d{{1,30}}(?:\.\d{{1,30}})?|[{_ONE}]))?){{0,9}}"
    rf"|[{_DIGIT}十百千廿卅][{_DIGIT}{_LARGE}]{{0,23}}(?:[多余来几][{_LARGE}]+|点[{_DIGIT}]{{1,9}}+(?![十分刻])[{_LARGE}]*)?)"
)
_SAID = {
    "一刻": (15,),
    "三刻": (45,),
    "半年": (".5", 6),
    "半": (".5", 30, 50),
    "双": (2,),
    "俩": (2,),
    "首": (1,),
}
_SAID |= {"翻番": (2, 100), "翻倍": (2, 100)}
_CHINESE = re.compile(
    rf"(?=[\d{_DIGIT}十百千廿卅半双俩首翻])(?:{SHARED}|(?!首(?![次个位任届名批座家例场轮款]))(?P<word>{'|'.join(_SAID)})"
    r"|(?:(?P<century>(?<!\d)\d\d|[一二十]{1,3}) ?世纪 ?)?(?P<decade>(?<!\d)\d0|[二三四五六七八九]{1,2}十)"
    r"(?= ?(?:[-—、和至到] ?..)? ?年 ?代)"
    rf"|(?P<bottom>{_NUMERAL})分之(?P<top>{_NUMERAL})"
    rf"|(?:(?P<number>(?>{FIGURES}))(?! ?{_SOME}{_UNIT})|(?P<numeral>{_NUMERAL}))"
    rf"(?=(?:\s?[-–—~～至到或和、]\s?(?:[\d.,]{{1,30}}|[{_DIGIT}]{{1,9}}|十) ?(?P<shared>[{_LARGE}]+))?))",
    re.ASCII,
)
_TO_ARABIC = str.maketrans(f"{_DIGIT}点", "0001223456789.", "多余来几个 ,")
_AFTER = re.compile(r"多?\s?(成|折|倍|打|世纪|后|点|时|)(.{0,2}?半)?")
_OPEN, _CLOSED = (
    re.compile(r"[(（]\s?约?\s?$"),
    re.compile(r"[^()（）]{0,5}[里米度斤克磅顷升吨]\s?[)）]"),
)
_READINGS: dict[str, Callable[[Decimal], Values]] = {
    "成": lambda value: (value, 10 * value),
    "折": lambda value: (
        value,
        10 * value,
        100 - 10 * value,
        100 - value,
    ),  # what is paid, and what is not
    "倍": lambda value: (value, value + 1, 100 * value),
    "打": lambda value: (value, 12 * value),
    "世纪": lambda value: (value, 100 * (value - 1)),
}
_READINGS |= {"后": decade, "点": hour, "时": hour}  # 90后, who were born in the 1990s


def chinese(text: str) -> list[Number]:
    """The numbers of a line of Chinese, in order."""
    numbers: list[Number] = []
    for match in _CHINESE.finditer(html.unescape(text).translate(FOLD)):
        numbers += next(read for kind, read in _CHINESE_READERS.items() if match[kind])(match)
    return numbers


def _chinese_number(match: re.Match[str]) -> Iterator[Number]:
    number = figures(match) if match["number"] else _numeral(match[0])
    opened = _OPEN.search(match.string[max(match.start() - 3, 0) : match.start()])
    digits = number.digits and not (
        opened and _CLOSED.match(match.string, match.end())
    )  # 10 英里（16 公里）
    # all values of figures are of one number
    readings = [number.values] if match["number"] else [(value,) for value in number.values]
    yield from (replace(number, values=_said(values, match), digits=digits) for values in readings)


def _said(values: Values, match: re.Match[str]) -> Values:
    """What a number says together with what stands after it."""
    if match["shared"]:
        values += times(values, prod(map(FACTORS.__getitem__, match["shared"])))
    if after := _AFTER.match(match.string, match.end()):
        if after[2]:
            values += (values[0] + Decimal("0.5"),)
        if after[1]:
            values = tuple(reading for value in values for reading in _READINGS[after[1]](value))
    return values


def _numeral(text: str) -> Number:
    """一百二十三, 二〇一九, 3.5亿; 三四百 is 300 or 400; digits in a row may be single ones."""
    either = [
        re.sub(rf"([{_ONE}])([{_ONE}])(?=[{_LARGE}])", which, text) for which in (r"\1", r"\2")
    ]
    values = tuple(dict.fromkeys(map(_numeral_value, either)))
    parts = (
        tuple(Number(text, (_numeral_value(one),), False) for one in text)
        if set(text) <= set(_DIGIT)
        else ()
    )
    return Number(text, values, re.search("[0-9]", text) is not None, parts if text[1:] else ())


def _numeral_value(numeral: str) -> Decimal:
    numeral = numeral.replace("廿", "二十").replace("卅", "三十").translate(_TO_ARABIC)
    tokens = re.findall(rf"\d+(?:\.\d+)?|[{_LARGE}]", numeral)
    *rest, last = terms_of(tokens, Decimal)
    if rest and tokens[-1] in "123456789" and (unit := FACTORS[tokens[-2]]) > 10:  # 三千五 is 3500
        last *= Decimal(unit) / 10
    return sum(rest, last)


def _quotient(match: re.Match[str]) -> Iterator[Number]:
    bottom, top = _numeral(match["bottom"]), _numeral(match["top"])
    yield Number(
        match[0],
        fraction(top.values[0], bottom.values[0]),
        bottom.digits or top.digits,
        (bottom, top),
    )


def _chinese_decade(match: re.Match[str]) -> Iterator[Number]:
    number = _numeral(match["decade"])
    before = 100 * (_numeral_value(match["century"]) - 1) if match["century"] else None
    for years in number.values:
        yield replace(number, values=decade(years) if before is None else (before + years,))


_CHINESE_READERS: dict[str, Reader] = {"clock": clock, "pieces": pieces, "decade": _chinese_decade}
_CHINESE_READERS |= {"bottom": _quotient, "number": _chinese_number, "numeral": _chinese_number}
_CHINESE_READERS["word"] = lambda match: [
    Number(match[0], tuple(map(Decimal, _SAID[match[0]])), digits=False)
]
