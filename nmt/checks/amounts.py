"""What a translation loses beside figures: currencies, minus and percent signs, fractions in words, weekdays."""

import re

from nmt.checks import numbers
from nmt.numbers.chinese import chinese
from nmt.numbers.currencies import currencies
from nmt.numbers.fractions import Fraction, fractions

_MINUS = re.compile(r"(?<! [\w.,)°%-] ) [-−] (?= [$£€¥]? \d )", re.VERBOSE)  # -5 °C, not 3-5
_MINUS_IN_CHINESE = re.compile("[-−–—负减]|零下|低于|下降|下跌|亏损")
_PERCENT = re.compile(r"\d [ ]? (?: [%％‰] | percent\b | per[ ]cent\b )", re.VERBOSE)
_PERCENT_IN_CHINESE = re.compile(r"[%％‰成折半倍]|百分|千分|分之|percent|\d/\d")
_DAYS = {
    "Mon": "一",
    "Tue": "二",
    "Wed": "三",
    "Thu": "四",
    "Fri": "五",
    "Sat": "六",
    "Sun": "日天末",
}
_DAY = re.compile(
    r"""
    (?<! [\w-] )
    (?: (?: Mon | Tues | Wednes | Thurs | Fri | Satur | Sun ) days?
      | (?: Mon | Tue | Wed | Thu | Fri ) \b (?! [ ][A-Z] )       # not Mon Ami
      | (?: (?<= and[ ] ) | (?<= or[ ] ) | (?<= to[ ] ) | (?<= ,[ ] ) ) (?: Sat | Sun ) \b     # not the Sun
    )
    (?! [\w'’-] )
    """,
    re.VERBOSE,
)
_DAY_IN_CHINESE = re.compile("(?:周|星期|礼拜|週|主)([一二三四五六日天末])")
_DAYS_TOGETHER = re.compile(
    "((?:周|星期)[一二三四五六日天])[、和至到或]?([一二三四五六日])"
)  # 周六日
# Repetitions have bounds: a match could begin at any figure.
_AMOUNT = re.compile(
    r"""
    [$£€¥₹₩₽₺₪₱₦] [ ]? \d [\d.,]{0,40}
  | \d [\d.,]{0,40} [ -]? (?: (?: thousand | [mb]illion | trillion ) | [kmb]\b | [bmt]n\b )
  | \d [\d.,]{0,40} [ ] (?: dollars? | euros? | pounds? | yen | yuan | [A-Z]{3} ) \b
    """,
    re.VERBOSE,
)


def currency_missing(source: str, translation: str) -> list[str]:
    """The signs and codes of currencies of which the translation names none."""
    by_sign = dict(currencies(source))
    return [sign for sign, currency in by_sign.items() if not currency.is_named_in(translation)]


def sign_missing(source: str, translation: str) -> list[str]:
    """A minus or a percent sign, if the translation has nothing like it."""
    found = []
    if _MINUS.search(source) and not _MINUS_IN_CHINESE.search(translation):
        found.append("-")
    if _PERCENT.search(source) and not _PERCENT_IN_CHINESE.search(translation):
        found.append("%")
    return found


def changed(source: str, translation: str) -> list[str]:
    """The amounts of money and the large numbers of the source whose value the translation does not have."""
    amounts = _AMOUNT.findall(source)
    if not amounts:
        return []
    missing = numbers.missing(source, translation)
    return [amount for amount in amounts if any(number in amount for number in missing)]


def fraction_missing(source: str, translation: str) -> list[str]:
    """The fractions in words that the translation has neither as such nor in percent: two thirds, one in five."""
    stated = list(fractions(source))
    if not stated:
        return []
    said = {value for number in chinese(translation) for value in number.values}

    def is_said(fraction: Fraction) -> bool:
        if fraction.bottom == 4 and "刻" in translation:  # three quarters of an hour as 三刻钟
            return True
        in_parts = {fraction.top, fraction.bottom} <= said  # 每4个中有3个
        return in_parts or not said.isdisjoint(fraction.values)

    return [fraction.text for fraction in stated if not is_said(fraction)]


def day_missing(source: str, translation: str) -> list[str]:
    """The days of the week that the translation does not name."""
    said = set(_DAY_IN_CHINESE.findall(_DAYS_TOGETHER.sub(r"\1周\2", translation)))
    return [match[0] for match in _DAY.finditer(source) if said.isdisjoint(_DAYS[match[0][:3]])]
