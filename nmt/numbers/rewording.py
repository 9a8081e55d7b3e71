"""Amounts in English that have one reading, in words that a model knows well: £20k as £20 thousand.

Half a million becomes 500 thousand, 3 dozen 36, 5 lakh 500 thousand, one in three adults one third of adults, 1 1/2
becomes 1.5, and 6'2" 6 feet 2 inches. `m` after a currency is million; elsewhere it may be a metre, and stays.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import NamedTuple

from nmt.numbers.arithmetic import spoken_terms
from nmt.numbers.calendar import DAYS, MONTH_BY_SHORT_NAME
from nmt.numbers.currencies import ANY_SIGN
from nmt.numbers.fractions import (
    BELOW_THOUSAND,
    COUNT,
    FIGURES,
    ONE_IN,
    TENS,
    as_fraction,
    value_of,
)

# --- what words and letters mean ---

_SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
}
_LARGE = ("trillion", "billion", "million", "thousand")  # how a large amount is written
_LETTERS = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}

# What comes to 10 to the power of the key.
_CHINESE_POWERS = {
    4: "万",
    5: "十万",
    7: "千万",
    8: "亿",
    10: "百亿",
    11: "千亿",
    13: "十万亿",
    14: "百万亿",
}
_LABELS = {
    "p": "page",
    "pp": "pages",
    "Ch": "Chapter",
    "Sec": "Section",
    "Art": "Article",
    "Eq": "Equation",
}

# --- patterns ---

_SCALE = "|".join(_SCALES)
_MONEY_FOLLOWS = (
    r"(?= [ ] (?: dollar | euro | pound | yen | yuan | rupee | franc | krona | [A-Z]{3} \b ) )"
)
_MANY_FOLLOW = r"(?= [ ] (?: people | [a-z]{3,20}s ) \b )"  # 3M users
# From 940k to 1.1m, a population of 5.4m
_IS_NO_LENGTH = r"""
    (?: (?<= [kK][ ]to[ ] ) | (?<= [kK][ ]and[ ] ) | (?<= [kK][-–] ) | (?<= population[ ]of[ ] ) )
"""
# Attached, and neither of memory, screens and modems nor the run over ten kilometres nor the company 3M.
_MAY_COUNT = (
    r"(?! (?: [2458] | 10 | 16 | 32 | 56 | 64 | 128 | 256 | 512 | 1024 )[kK] | 3M | [\d.,]+[ ] )"
)
_BY_LETTER = rf"""
    (?: (?P<currency> (?: {ANY_SIGN} | \b R ) [ ]? (?: {FIGURES} [ ]? [-–] [ ]? )? )        # $3-5m
      | (?<! [\w.,] ) )
    (?P<goes_on> {_IS_NO_LENGTH} )? (?P<may_count> {_MAY_COUNT} )? (?P<figures> {FIGURES} )
    [ ]? (?: (?P<sure> (?i: mn | mln | bn | bln | tn | trn ) ) | (?P<letter> [kKmMbBtT] ) )
    (?! [\w²³] | [/'’]\w )
    (?P<money> {_MONEY_FOLLOWS} )? (?P<counts> {_MANY_FOLLOW} )?
"""
_IN_DOZENS = rf"\b (?P<count> {COUNT} ) (?P<scales> (?: [ -] (?: dozen | lakh | crore ) s? ){{1,2}} ) \b (?! [ ] of )"
_HALF_A = rf"""
    \b (?: (?P<half> half ) | (?: (?: an? | one ) [ ] )? quarter [ ] of | (?P<three> three ) [ -] quarters [ ] of )
    [ ] an? [ ] (?P<scale> {_SCALE} ) \b
  | \b a [ ] quarter [ ] (?P<of> {_SCALE} ) \b
"""
_AND_A_HALF = rf"""
    \b (?P<count> {COUNT} ) [ ] and [ ]
    (?: a [ ] (?: half | (?P<quarter> quarter ) ) | (?P<three> three [ -] quarters ) )
    [ ] (?P<scale> {_SCALE} ) \b                                                    # two and a half million
  | \b (?: an? | one ) [ ] (?P<first> {_SCALE} ) [ ] and [ ] a [ ] half \b           # a million and a half
"""
# Forty-two thousand, six hundred thousand, three million; one in ten thousand stays.
_SCALE_WORD = "(?: thousand | million | billion | trillion )"
_SCALED = rf"{BELOW_THOUSAND} [ -] {_SCALE_WORD}"
_IN_WORDS = rf"""
    (?<! \w ) (?<! in[ ] ) {_SCALED} (?: [ ] {_SCALED} ){{0,3}}
    (?: [ ] {BELOW_THOUSAND} )? \b (?! [ -](?: {_SCALE_WORD} | hundred ) )
"""
# Tens of thousands of people
_TENS_OF = rf"\b (?P<tens> tens | hundreds ) [ ] of [ ] (?P<scale> {_SCALE_WORD} ) s [ ] of \b"
# Three and three-quarter inches, four and a half percent; two and a half hours stay.
_AND_QUARTERS = rf"""
    \b (?P<count> {COUNT} ) [ ] and [ ]
    (?: (?P<half> a [ ] half (?! [ ] (?: hours | centuries | decades ) \b ) )
      | (?: a | one ) [ -] quarter | (?P<three> three ) [ -] quarters? ) [ ] (?= [a-z] )
"""
_UNIT_AND_A_HALF = r"""
    \b (?: a | one ) [ ] (?P<unit> minute | day | week | month | year | mile ) [ ] and [ ] a [ ] half \b
"""
# The forty-third edition; a thirty-second delay is one of 30 seconds, and one twenty-fifth a fraction.
_ORDINALS = {
    **{"first": "1st", "third": "3rd", "fourth": "4th", "fifth": "5th"},
    **{"sixth": "6th", "seventh": "7th", "eighth": "8th", "ninth": "9th"},
}
_ORDERED = r"(?= [ ] (?: anniversary | annual | birthday | edition | floor | place | president | time ) \b )"
_ORDINAL = rf"""
    (?<! \b a [ ] ) (?<! \b one [ ] ) \b (?P<tens> {"|".join(TENS)} )
    - (?: (?P<unit> {"|".join(_ORDINALS)} ) | second {_ORDERED} ) \b (?! [ ]of[ ]a )
"""
# In his mid-forties, in her early 20s
_AGE = rf"""
    \b in [ ] (?P<whose> his | her | their | my | your ) [ ] (?P<part> early | mid | middle | late ) [ -]
    (?: (?P<decade> [2-9]0 ) ['’]?s | (?P<tens> {"|".join(ten[:-1] for ten in TENS)} ) ies ) \b
"""
# She lost thirty pounds: money is not lost by running.
_POUNDS = rf"""
    \b (?P<said> (?: lose | loses | losing | lost | gain(?:s|ed|ing)? | shed(?:s|ding)? | weigh(?:s|ed|ing)? )
        [ ] (?: (?: about | around | nearly | almost | over | only | some | just | at[ ]least | more[ ]than ) [ ] )? )
    (?P<count> {FIGURES} | {BELOW_THOUSAND} ) [ ] pounds? \b
"""
# Mon-Fri 9am-5pm
_DAY = "|".join(day for day in DAYS if len(day) > 2)
_DAYS_TO = rf"\b (?P<first> {_DAY} ) (?: [ ]? [-–] [ ]? | [ ] to [ ] ) (?P<last> {_DAY} ) \b"
_HOUR = r"\d{1,2} (?: [:.] \d\d )?"
_HOURS_TO = rf"""
    (?<! [\w.:] ) (?P<first> {_HOUR} [ ]? [ap]m ) [ ]? [-–] [ ]? (?P<last> {_HOUR} [ ]? [ap]m ) \b
"""
# ¥ in a line about Japan, and not about China
_YEN = re.compile(r"[¥￥] ?(?=\d)")
_JAPAN = re.compile(r"\b(?:Japan|Tokyo|Osaka|Kyoto|yen\b)")
_CHINA = re.compile(r"\b(?:China|Chinese|Beijing|Shanghai|yuan\b|renminbi)")
# p. 48, Ch. 4; small, sec. are seconds
_LABEL = rf"\b (?P<label> {'|'.join(_LABELS)} ) \. [ ]? (?= \d )"
_DATE = rf"\b (?P<day> \d{{1,2}} ) - (?P<month> {'|'.join(MONTH_BY_SHORT_NAME)} ) - (?P<year> (?: 19 | 20 ) \d\d ) \b"
# Twenty past four; "ten to five" may be a range.
_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_PAST = rf"\b (?: a [ ] )? (?P<minutes> {'|'.join(_MINUTES)} ) [ ] past [ ] (?P<hour> {COUNT} ) \b (?! [ ] {COUNT} )"
# A half, a quarter and the like behind a whole number: 1 1/2 teaspoons.
_MIXED = r"(?<! [\w.,/] ) (?P<whole> \d{1,3} ) [ ] (?P<top> \d ) / (?P<bottom> [2458] | 10 ) (?! [\d/.,] \d | \w )"
_IN_FEET = r"""(?<! [\w.'] ) (?P<feet> \d{1,2} ) ['′’] [ ]? (?P<inches> \d | 1[01] ) (?: ["″”] | '' ) (?! \w )"""


# --- what they become ---


def _spelled_out(match: re.Match[str]) -> str:
    """£20k as £20 thousand, where the letter can only be that."""
    has = {name for name, found in match.groupdict().items() if found is not None}
    letter = (match["sure"] or match["letter"])[0]
    is_count = "may_count" in has and (letter in "kK" or (letter in "MB" and "counts" in has))
    if not is_count and not has & {"sure", "currency", "money", "goes_on"}:
        return match[0]
    currency = "ZAR " if match["currency"] == "R" else match["currency"] or ""
    return f"{currency}{match['figures']} {_LETTERS[letter.lower()]}"


def _in_figures(match: re.Match[str]) -> str:
    words = [word for word in re.findall("[a-z]+", match[0].lower()) if word != "and"]
    large = [_SCALES[word] for word in words if word in _LARGE]
    is_list = any(second >= first for first, second in pairwise(large))  # two thousand, one million
    if is_list or (words[0] == "one" and len(words) == 2):
        return match[0]
    return _written(sum(spoken_terms(words, _SCALES, value_of), Decimal(0)))


def _in_chinese(match: re.Match[str]) -> str:
    """数万 for tens of thousands of: Chinese within English comes out as it is."""
    power = len(str(_SCALES[match["scale"].lower()])) - 1
    power += 1 if match["tens"].lower() == "tens" else 2
    return f"数{_CHINESE_POWERS[power]}"


def _and_quarters(match: re.Match[str]) -> str:
    part = "0.5" if match["half"] else "0.75" if match["three"] else "0.25"
    return f"{value_of(match['count']) + Decimal(part):f} "


def _unit_and_a_half(match: re.Match[str]) -> str:
    return f"1.5 {match['unit']}s"


def _ordinal(match: re.Match[str]) -> str:
    tens = TENS.index(match["tens"].lower()) + 2
    return f"{tens}{_ORDINALS[match['unit'].lower()] if match['unit'] else '2nd'}"


def _age(match: re.Match[str]) -> str:
    """In his late thirties as nearly 40 years old."""
    decade = match["decade"] or 10 * ([ten[:-1] for ten in TENS].index(match["tens"].lower()) + 2)
    part = match["part"].lower()
    if part == "early":
        return f"in {match['whose']} {decade}s"
    return (
        f"nearly {int(decade) + 10} years old"
        if part == "late"
        else f"about {int(decade) + 5} years old"
    )


def _pounds(match: re.Match[str]) -> str:
    return f"{match['said']}{match['count']} lb"


def _days_to(match: re.Match[str]) -> str:
    """Mon-Fri in Chinese, which comes out as it is."""
    return f"{DAYS[match['first']]}至{DAYS[match['last']]}"


def _hours_to(match: re.Match[str]) -> str:
    """9am to 5pm for 9 am-5 pm."""
    return f"{match['first']} to {match['last']}".replace(" am", "am").replace(" pm", "pm")


def _spelled_label(match: re.Match[str]) -> str:
    return f"{_LABELS[match['label']]} "


def _date(match: re.Match[str]) -> str:
    return f"{match['day']} {MONTH_BY_SHORT_NAME[match['month'].title()]} {match['year']}"


def _counted(match: re.Match[str]) -> str:
    scales = [_SCALES[word.rstrip("s")] for word in re.findall("[a-z]+", match["scales"])]
    return _written(value_of(match["count"]) * prod(scales))


def _part_of(match: re.Match[str]) -> str:
    share = Decimal("0.5") if match["half"] else Decimal("0.75" if match["three"] else "0.25")
    return _written(share * _SCALES[(match["scale"] or match["of"]).lower()])


def _and_a_half(match: re.Match[str]) -> str:
    count = value_of(match["count"]) if match["count"] else Decimal(1)
    part = "0.25" if match["quarter"] else "0.75" if match["three"] else "0.5"
    return _written((count + Decimal(part)) * _SCALES[match["scale"] or match["first"]])


def _past(match: re.Match[str]) -> str:
    hour = value_of(match["hour"])
    if hour not in range(1, 13):
        return match[0]
    return f"{hour}:{_MINUTES[match['minutes'].lower()]:02}"


def _mixed(match: re.Match[str]) -> str:
    """1 1/2 as 1.5."""
    top, bottom = int(match["top"]), int(match["bottom"])
    if not 0 < top < bottom:
        return match[0]
    return f"{int(match['whole']) + Decimal(top) / bottom:f}"


def _in_feet(match: re.Match[str]) -> str:
    return f"{match['feet']} feet {match['inches']} inches"


def _written(amount: Decimal) -> str:
    """500 thousand, 1.5 million; 1,234 and 36."""
    for scale in _LARGE:
        if amount >= _SCALES[scale] and (scale != "thousand" or not amount % 1000):
            return f"{(amount / _SCALES[scale]).normalize():f} {scale}"
    return f"{amount.normalize():,f}"


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    becomes: Callable[[re.Match[str]], str]


def _rule(pattern: str, becomes: Callable[[re.Match[str]], str]) -> _Rule:
    return _Rule(re.compile(f"(?a:{pattern})", re.VERBOSE | re.IGNORECASE), becomes)


_RULES = (
    _Rule(re.compile(f"(?a:{_BY_LETTER})", re.VERBOSE), _spelled_out),
    _rule(_AND_A_HALF, _and_a_half),
    _rule(_HALF_A, _part_of),
    _rule(_IN_DOZENS, _counted),
    _rule(_IN_WORDS, _in_figures),
    _rule(_TENS_OF, _in_chinese),
    _rule(_DATE, _date),
    _rule(_AND_QUARTERS, _and_quarters),
    _rule(_UNIT_AND_A_HALF, _unit_and_a_half),
    _rule(_ORDINAL, _ordinal),
    _rule(_AGE, _age),
    _rule(_POUNDS, _pounds),
    _Rule(re.compile(f"(?a:{_DAYS_TO})", re.VERBOSE), _days_to),
    _rule(_HOURS_TO, _hours_to),
    _Rule(re.compile(f"(?a:{_LABEL})", re.VERBOSE), _spelled_label),
    _rule(ONE_IN, as_fraction),
    _rule(_PAST, _past),
    _rule(_MIXED, _mixed),
    _rule(_IN_FEET, _in_feet),
)
# Without any of these there is nothing to reword: most lines have none.
_SUSPICIOUS = re.compile(
    r"""
    \d (?: [ ]? [kmbt] | ['′’] | [ ]\d/ | -[a-z]{3}-\d | [ ](?: in | out[ ]of )[ ] )
  | \b (?: one | two | three | four | five | six | seven | eight | nine ) [ ] (?: in | out[ ]of ) [ ]
  | half | quarter | [ ]past[ ] | dozen | lakh | crore | thousand | illion | \b (?: early | mid | middle | late ) [ -]
  | [ ]pounds? \b | ty- | days?\b | [ ]?[-–][ ]? (?: Mon | Tue | Wed | Thu | Fri | Sat | Sun ) | [ap]m[ ]?[-–] | [¥￥]
  | \w\. [ ]? \d
    """,
    re.VERBOSE | re.IGNORECASE,
)


def reworded(text: str) -> str:
    """A line of English with its amounts in plain words."""
    if _SUSPICIOUS.search(text) is None:
        return text
    for rule in _RULES:
        text = rule.pattern.sub(rule.becomes, text)
    is_about_japan = _JAPAN.search(text) and not _CHINA.search(text)
    return _YEN.sub("JPY ", text) if is_about_japan else text
