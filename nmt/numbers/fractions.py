"""Fractions in English words: two thirds, one in five, 9 out of 10."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from nmt.numbers.arithmetic import figures_value

_COUNTS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: value for value, word in enumerate(_COUNTS, start=1)},
    **{word: 10 * value for value, word in enumerate(TENS, start=2)},
}
# Of 1/2 and on.
_NAMES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_IN_PERCENT = (10, 20, 50, 100)

# Fragments for `re.VERBOSE | re.IGNORECASE`.
FIGURES = r"(?: (?: \d{1,3} (?: ,\d{3} ){1,4} | \d{1,9} ) (?: \.\d{1,9} )? )"
COUNT = rf"(?: {FIGURES} | {'|'.join(_COUNTS)} )"
_ONE_TO_NINE = "|".join(_COUNTS[:9])
_BELOW_HUNDRED = rf"""(?:
    (?: {"|".join(TENS)} ) (?: [ -] (?: {_ONE_TO_NINE} ) \b )? | {"|".join(_COUNTS[:19])}
)"""
BELOW_THOUSAND = rf"""(?:
    (?: {_ONE_TO_NINE} ) [ ] hundred (?: [ ] (?: and [ ] )? {_BELOW_HUNDRED} )? | {_BELOW_HUNDRED}
)"""
_VERBS = r"""is | are | was | were | has | have | had | do | does | did | will | would | can | could | may | might
    | must | should | of | and | or | but | said | says?"""
_NO_SHARE = r"""(?: seconds? | minutes? | hours? | days? | nights? | weeks? | months? | years? | parts | pieces | places
    | thousand | hundred | million | stages | steps | rows | languages | games | stars | points | marks | votes ) \b"""
_MANY = r"(?: [a-z]{2,20}s | people | children | men | women ) \b"
# Not of time or of parts, one in two days; and a score of 3 out of 5 is none of things.
ONE_IN = rf"""
    \b (?P<top> {COUNT} ) [ ]
    (?: in [ ] (?: every [ ] )? (?P<in> {COUNT} )
      | out [ ] of [ ] (?: every [ ] )? (?P<of> {COUNT} ) (?= [ ] (?: {_MANY} | [a-z]{{2,20}} [ ] {_MANY} ) )
    ) \b
    (?! [ ] {_NO_SHARE} | [.,:/%-]?\d | - )
    (?= [ ] (?P<noun> (?! (?: {_VERBS} ) \b ) [A-Za-z] ) | )
"""
_ONE_IN = re.compile(f"(?a:{ONE_IN})", re.VERBOSE | re.IGNORECASE)
# Not two third-graders, quarters of a year, and what three quarters of a million is.
_IN_WORDS = re.compile(
    rf"""(?a:
    (?<! [\w-] ) (?P<top> {_ONE_TO_NINE} | an? (?= [ ]\w{{5,7}}[ ](?: of | have | are | were | said )\b ) )
    [ -] (?P<bottom> third | quarter (?= s?[ ]of[ ][a-z] ) | {"|".join(_NAMES[3:])} ) (?P<plural> s? ) \b
    (?! [ -][a-z]{{0,9}}[ -]?grade | [ ]of[ ]an?[ ](?: [mbtr]{{1,2}}illion | thousand | hundred | crore | lakh ) )
    )""",
    re.VERBOSE | re.IGNORECASE,
)


class Fraction(NamedTuple):
    """A fraction as it is written from one place of a line to another, and what is above and below its line."""

    text: str
    start: int
    end: int
    top: Decimal
    bottom: Decimal

    @property
    def values(self) -> tuple[Decimal, Decimal]:
        """In percent and as a quotient."""
        return 100 * self.top / self.bottom, self.top / self.bottom


def fractions(text: str) -> Iterator[Fraction]:
    """The fractions of a line of English, in order of their kinds."""
    for match in _IN_WORDS.finditer(text):
        top = value_of(match["top"])
        if (top == 1) != bool(match["plural"]):  # not "two third graders"
            yield Fraction(
                match[0], *match.span(), top, Decimal(_NAMES.index(match["bottom"].lower()) + 2)
            )
    for match in _ONE_IN.finditer(text):
        if as_fraction(match) != match[0]:
            bottom = value_of(match["in"] or match["of"])
            yield Fraction(match[0], *match.span(), value_of(match["top"]), bottom)


def as_fraction(match: re.Match[str]) -> str:
    """A ONE_IN as a fraction or in percent: one in three as one third, nine in ten as 90%; others stay."""
    top, bottom = value_of(match["top"]), value_of(match["in"] or match["of"])
    of = " of" if match["noun"] is not None else ""
    if not 0 < top < bottom or top != int(top):
        return match[0]
    if bottom in _IN_PERCENT:
        return f"{(100 * top / bottom).normalize():f}%{of}"
    if bottom not in range(2, 11):
        return match[0]
    word = _COUNTS[int(top) - 1]
    name = _NAMES[int(bottom) - 2] + ("s" if top > 1 else "")
    return f"{word.title() if match[0][0].isupper() else word} {name}{of}"


def value_of(count: str) -> Decimal:
    """The value of a COUNT."""
    word = count.lower()
    if word in ("a", "an"):
        return Decimal(1)
    return Decimal(_VALUES[word]) if word in _VALUES else figures_value(count)
