"""The numbers that a line of Chinese states."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from math import prod

from nmt.numbers.arithmetic import (
    Values,
    decade_values,
    figures_value,
    hour_values,
    ratio,
    scaled,
    spoken_terms,
)
from nmt.numbers.patterns import CLOCK, DIVIDED, FIGURES, FOLD, FRACTIONS
from nmt.numbers.reading import Number, Reader, read_clock, read_divided, read_figures

# --- what characters and words mean ---

_ONE_TO_NINE = "一二两三四五六七八九"
_DIGITS = f"零〇○{_ONE_TO_NINE}"
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_POWER = "".join(_POWERS)
_WORDS = {
    "一刻": ("15",),
    "三刻": ("45",),
    "半年": ("0.5", "6"),
    "半": ("0.5", "30", "50"),
    "双": ("2",),
    "俩": ("2",),
    "首": ("1",),
    "翻番": ("2", "100"),
    "翻倍": ("2", "100"),
}
# What a number may mean before these characters.
_READINGS: dict[str, Callable[[Decimal], Values]] = {
    "成": lambda tenths: (tenths, 10 * tenths),
    "折": lambda tenths: (tenths, 10 * tenths, 100 - 10 * tenths, 100 - tenths),  # paid, and saved
    "倍": lambda times: (times, times + 1, 100 * times),
    "打": lambda dozens: (dozens, 12 * dozens),
    "世纪": lambda century: (century, 100 * (century - 1)),
    "后": decade_values,  # 90后, who were born in the 1990s
    "点": hour_values,
    "时": hour_values,
}


# --- patterns ---

_ROUGHLY = "(?: [多余来几] | 个多? (?=亿(?!元)) )?"  # 20余万, 3个多亿
_HUNDRED = "百(?!分[位点])"  # not 百分点
_UNIT = f"(?: [十万亿] | {_HUNDRED} | 千(?![米克瓦卡帕伏赫焦升字]) )"  # 千米 is a unit of length
_NUMERAL = rf"""(?:
    {FIGURES}
    (?:                                                        # 120万, 1.2万亿, 1000多万
        [ ]? {_ROUGHLY} {_UNIT}
        (?: 零? (?: \d{{1,30}} (?: \.\d{{1,30}} )? | [{_ONE_TO_NINE}] ) )?   # 1亿零5, 3万5000, 3万五
    ){{0,9}}
  | (?: [{_DIGITS}十千廿卅] | {_HUNDRED} )                     # 一百二十三, 二〇一九
    (?: [{_DIGITS}十千万亿] | {_HUNDRED} ){{0,23}}
    (?:
        [多余来几] [{_POWER}]{{1,9}}                           # 三十多万
      | 点 [{_DIGITS}]{{1,9}}+ (?![十分刻]) [{_POWER}]{{0,9}}  # 三点五, 一点五亿; not 三点五分
    )?
)"""
_WORD = rf"""
    (?! 首 (?![次个位任届名批座家例场轮款]) )      # 首次, but not 首都
    (?P<word> {"|".join(_WORDS)} )
"""
_DECADE = r"""
    (?: (?P<century> (?<!\d) \d\d | [一二十]{1,3} ) [ ]? 世纪 [ ]? )?
    (?P<decade> (?<!\d) \d0 | [二三四五六七八九]{1,2}十 )
    (?= [ ]? (?: [-—、和至到] [ ]? .. )? [ ]? 年 [ ]? 代 )     # 90年代; the 60 of 60和70年代
"""
_QUOTIENT = f"(?P<bottom> {_NUMERAL} ) 分之 (?P<top> {_NUMERAL} )"  # 三分之二
_NUMBER = rf"""
    (?: (?P<number> (?> {FIGURES} | [{FRACTIONS}] ) ) (?! [ ]? {_ROUGHLY} {_UNIT} )
      | (?P<numeral> {_NUMERAL} )
    )
    (?= (?:                                                    # the 3 of 3到5万
        \s? [-–—~～至到或和、] \s?
        (?: [\d.,，]{{1,30}} | [{_DIGITS}]{{1,9}} | 十 ) [ ]?
        (?P<shared> [{_POWER}]{{1,9}} )
    )? )
"""
_CHINESE = re.compile(
    rf"""
    (?= [\d{FRACTIONS}{_DIGITS}十百千廿卅半双俩首翻] ) (?:
        {CLOCK}
      | {DIVIDED}
      | {_WORD}
      | {_DECADE}
      | {_QUOTIENT}
      | {_NUMBER}
    )
    """,
    re.ASCII | re.VERBOSE,
)
_COUNTED = re.compile(
    rf"""
    多? \s?
    (?P<counter> {"|".join(_READINGS)} | )     # 三成
    (?P<and_a_half> .{{0,2}}? 半 )?            # 三点半, 两年半, 6个半
    """,
    re.VERBOSE,
)
# A conversion in brackets: the 16 of 10 英里（约16 公里）.
_OPENING = re.compile(r"[(（]\s?约?\s?$")
_CLOSING = re.compile(r"[^()（）]{0,5}[里米度斤克磅顷升吨]\s?[)）]")
_TWO_DIGITS = re.compile(f"([{_ONE_TO_NINE}])([{_ONE_TO_NINE}])(?=[{_POWER}])")  # 三四百
_TOKEN = re.compile(
    rf"""
    \d+ (?: \.\d+ | [{FRACTIONS}] )?    # 3, 3.5, 2½
    | \.\d+                             # the 点五 of 二十点五
    | [{_POWER}]
    """,
    re.VERBOSE,
)
_TO_ARABIC = str.maketrans(f"{_DIGITS}点", "0001223456789.", "多余来几个 ,，")


def chinese(text: str) -> list[Number]:
    """The numbers of a line of Chinese, in order."""
    numbers: list[Number] = []
    folded = html.unescape(text).translate(FOLD)  # the 39 of &#39; is no number
    for match in _CHINESE.finditer(folded):
        read = next(read for kind, read in _READERS.items() if match[kind])
        found = read(match)
        if _is_conversion(match):
            found = map(_without_digits, found)
        numbers += found
    return numbers


def _is_conversion(match: re.Match[str]) -> bool:
    """Whether a number is what one before it makes in other units, which the source need not say."""
    before = match.string[max(match.start() - 3, 0) : match.start()]
    opens = _OPENING.search(before) is not None
    return opens and _CLOSING.match(match.string, match.end()) is not None


def _without_digits(number: Number) -> Number:
    parts = tuple(replace(part, digits=False) for part in number.parts)
    return replace(number, digits=False, parts=parts)


def _read_word(match: re.Match[str]) -> Iterator[Number]:
    yield Number(match[0], tuple(map(Decimal, _WORDS[match[0]])), digits=False)


def _read_decade(match: re.Match[str]) -> Iterator[Number]:
    number = _numeral(match["decade"])
    for year in number.values:
        values = decade_values(year)
        if match["century"]:
            values = (100 * (_numeral_value(match["century"]) - 1) + year,)
        yield replace(number, values=values)


def _read_quotient(match: re.Match[str]) -> Iterator[Number]:
    bottom = _numeral(match["bottom"])
    top = _numeral(match["top"])
    values = ratio(top.values[0], bottom.values[0])
    yield Number(match[0], values, bottom.digits or top.digits, (bottom, top))


def _read_number(match: re.Match[str]) -> Iterator[Number]:
    """Figures or a numeral: one number for each reading, so that 三四百 is 300 and 400."""
    if match["number"]:
        number = read_figures(match)
        readings = [number.values]
    else:
        number = _numeral(match[0])
        readings = [(value,) for value in number.values]
    for values in readings:
        yield replace(number, values=_with_context(values, match))


def _with_context(values: Values, match: re.Match[str]) -> Values:
    """What a number may mean together with what follows it."""
    if match["shared"]:
        values += scaled(values, prod(_POWERS[power] for power in match["shared"]))
    counted = _COUNTED.match(match.string, match.end())
    if counted is None:
        return values
    if counted["and_a_half"]:
        values += (values[0] + Decimal("0.5"),)
    if counted["counter"]:
        read = _READINGS[counted["counter"]]
        values = tuple(chain.from_iterable(map(read, values)))
    return values


_READERS: dict[str, Reader] = {
    "clock": read_clock,
    "divided": read_divided,
    "decade": _read_decade,
    "bottom": _read_quotient,
    "number": _read_number,
    "numeral": _read_number,
    "word": _read_word,
}


# --- numerals ---


def _numeral(text: str) -> Number:
    """一百二十三, 二〇一九, 3.5亿; 三四百 is 300 or 400; digits in a row may be single ones."""
    lower = _numeral_value(_TWO_DIGITS.sub(r"\1", text))
    upper = _numeral_value(_TWO_DIGITS.sub(r"\2", text))
    values = (lower,) if lower == upper else (lower, upper)
    digits = re.search("[0-9]", text) is not None
    if len(text) == 1 or not set(text) <= set(_DIGITS):
        return Number(text, values, digits)
    parts = tuple(Number(text, (_numeral_value(digit),), digits=False) for digit in text)
    return Number(text, values, digits, parts)


def _numeral_value(numeral: str) -> Decimal:
    """The value of one numeral: 三千五 is 3500."""
    numeral = numeral.replace("廿", "二十").replace("卅", "三十")
    tokens = _TOKEN.findall(numeral.translate(_TO_ARABIC))
    *rest, last = spoken_terms(tokens, _POWERS, figures_value)
    if rest and len(tokens[-1]) == 1 and tokens[-1] in "123456789":
        power = _POWERS[tokens[-2]]
        if power > 10:
            last *= Decimal(power) / 10
    return sum(rest, last)
