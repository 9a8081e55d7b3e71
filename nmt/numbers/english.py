"""The numbers that a line of English states."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from math import prod

from nmt.numbers.arithmetic import Values, decade_values, hour_values, ratio, scaled, spoken_terms
from nmt.numbers.calendar import MONTHS
from nmt.numbers.currencies import SIGNS
from nmt.numbers.fractions import TENS, Fraction, fractions
from nmt.numbers.patterns import CLOCK, DIVIDED, FIGURES, FOLD, FRACTIONS
from nmt.numbers.reading import Number, Reader, read_clock, read_divided, read_figures

# --- what words mean ---

_WORDS_OF_ONE_VALUE: tuple[tuple[float, tuple[str, ...]], ...] = (
    (0, ("zero", "nil", "none")),
    (0.5, ("halve", "halved")),
    (1, ("one", "first", "once", "single", "only", "sole")),
    (1, ("a", "an", "another", "each", "every", "per")),
    (2, ("two", "second", "twice", "double", "doubled", "doubling")),
    (2, ("both", "couple", "duo", "pair", "twin")),
    (3, ("three", "third", "thrice", "triple", "tripled", "trio")),
    (4, ("four", "fourth", "quadruple")),
    (5, ("five", "fifth")),
    (6, ("six", "sixth")),
    (7, ("seven", "seventh", "week")),
    (8, ("eight", "eighth")),
    (9, ("nine", "ninth")),
    (10, ("ten", "tenth", "decade")),
    (11, ("eleven", "eleventh")),
    (12, ("twelve", "twelfth", "dozen", "noon")),
    (13, ("thirteen",)),
    (14, ("fourteen", "fortnight")),
    (15, ("fifteen",)),
    (16, ("sixteen",)),
    (17, ("seventeen",)),
    (18, ("eighteen",)),
    (19, ("nineteen",)),
    (20, ("twenty",)),
    (24, ("day",)),
    (30, ("thirty",)),
    (40, ("forty",)),
    (50, ("fifty",)),
    (60, ("sixty",)),
    (70, ("seventy",)),
    (80, ("eighty",)),
    (90, ("ninety",)),
    (100, ("hundred",)),
    (1000, ("thousand",)),
    (10**6, ("million",)),
    (10**9, ("billion",)),
    (10**12, ("trillion",)),
)
_WORDS_OF_SEVERAL_VALUES = {
    "half": ("0.5", "2", "6", "30", "50"),  # one of 2 halves, 6 months, 30 minutes, 50 %
    "quarter": ("0.25", "3", "4", "15", "25", "45"),  # 3 months, 15 or 45 minutes, 25 %
    "century": ("20", "21", "100"),  # the last century, this century, 100 years
    "midnight": ("0", "12", "24"),
}
_ROMAN = {
    "I": 1,
    "II": 2,
    "III": 3,
    "IV": 4,
    "V": 5,
    "VI": 6,
    "VII": 7,
    "VIII": 8,
    "IX": 9,
    "X": 10,
    "XI": 11,
    "XII": 12,
    "XIII": 13,
    "XIV": 14,
    "XV": 15,
    "XVI": 16,
}
_SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "lakh": 10**5,
    "crore": 10**7,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "megapixel": 10**6,  # 百万像素
}
_ABBREVIATED_SCALES = {
    "k": 10**3,
    "m": 10**6,
    "mp": 10**6,
    "mn": 10**6,
    "bn": 10**9,
    "b": 10**9,
    "tn": 10**12,
    "trn": 10**12,
}
_FACTORS = {**_SCALES, **_ABBREVIATED_SCALES, "decade": 10, "century": 100}
_MAY_BE_A_UNIT = ("k", "m", "b", "mp", "megapixel")  # 10m may be ten metres


def _values_of_words() -> dict[str, Values]:
    values: dict[str, Values] = {}
    for value, words in _WORDS_OF_ONE_VALUE:
        for word in words:
            values[word] = (Decimal(value),)
    for word, several in _WORDS_OF_SEVERAL_VALUES.items():
        values[word] = tuple(map(Decimal, several))
    for ten, word in enumerate(TENS, start=2):
        stem = word.replace("y", "ie")  # of twenties and twentieth, whose endings are taken off
        values[stem] = decade_values(Decimal(10 * ten))
    for word, value in {**MONTHS, **_ROMAN}.items():
        values[word] = (Decimal(value),)
    return values


_WORDS = _values_of_words()


# --- patterns ---

_DECADE = r"(?P<decade> \d{1,3}0 ) '? s\b"  # 1990s, 90's
_SCALE = rf"""(?:
    (?: [ -]? (?: {"|".join(_SCALES)} ) s?\b ){{1,9}}              # 3 million, 3-hundred thousand
  | [ ]? (?: {"|".join(_ABBREVIATED_SCALES)} ) \b (?! \.[a-z] )  # 3m, $5 bn
)"""
_HOUR = r"(?: \s? (?: [ap]\.? \s? m\b | o'clock ) )"
_NUMBER = rf"""
    (?P<number>
        (?<![\w.]) \.\d{{1,30}}                       # .5
      | {FIGURES}
      | [{FRACTIONS}]
    )
    (?: [ -] (?P<top>\d) / (?P<bottom>[1-9]) \b )?       # 2 1/2
    (?: (?:st|nd|rd|th) \b )?                         # 21st
    (?P<scale> {_SCALE} )?
    (?P<hour> {_HOUR} )?
    (?= (?:                                           # 3 to 5 million, $3-5bn, 5-6pm
        \s? (?: [-–—/] | to | or | and ) \s? [$£€]? {FIGURES}
        (?: (?P<next_scale> {_SCALE} ) | (?P<next_hour> {_HOUR} ) )
    )? )
"""
_MONTH_NAME = rf"\b (?: {'|'.join(f'{month}|{month.lower()}' for month in MONTHS)} ) \b"
_MONTH = rf"""(?-i: (?P<month>
    {_MONTH_NAME} (?= \.? ,? [ ]? \d )                            # March 4, Sept. 11
  | (?: (?<= \d[ ] ) | (?<= \d[a-z]{{2}}[ ] ) ) {_MONTH_NAME}     # 4 March, 4th March
))"""
_ENGLISH = re.compile(
    rf"""
    (?= [\d.{FRACTIONS}] ) (?:
        {CLOCK}
      | {DIVIDED}
      | {_DECADE}
      | {_NUMBER}
    )
  | {_MONTH}
  | (?P<word> [A-Za-z]+ )
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
# Before digits: they belong to a name.
_NAME = re.compile(
    r"""(?:
        [A-Za-z]+               # G20
      | \b [A-Z][A-Za-z]* -     # COVID-19
    )$""",
    re.VERBOSE,
)
_LONGEST_NAME = 16  # characters
# Words that chats write with a figure.
_CHAT_WORD = re.compile(
    r"(?: 2 (?: day | gether | morrow | moro | night | nite ) | 4 (?: ever | get | give | got ) ) \b",
    re.IGNORECASE | re.VERBOSE,
)
# A figure for "to", "too" or "for", in a line with other spellings of chats: thx 4 the ride, but "at 4 the bell rang".
_TO_OR_FOR = re.compile(
    r"(?<!\S) [24] [ ] (?= (?: be? | do | get | go | her | him | me | much | my | real | see | sure | the | them | us?"
    r" | you | your? | ur ) \b )",
    re.VERBOSE,
)
_CHAT = re.compile(
    r"""
    (?<! [^\s(] )
    (?: abt | b4 | brb | btw | cant | cuz | dont | gonna | gr8 | hbd | idk | im | imho | lemme | lol | luv
      | omg | pls | plz | rofl | rly | sry | thx | tmrw | ty | txt | w8 | wanna | (?-i: r | u | ur )
    )
    (?! [\w&'’-] | \.\w )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Of a run of number words: three quarters of a million, but also one and a quarter million.
_QUARTERS = re.compile(
    r"\b(one|three) quarter(?= (?:hundred|thousand|lakh|crore|[mbtr]{1,2}illion))"
)
_AND_A_HALF = re.compile(r"\b([a-z]+) ([a-z]+) and a half\b", re.IGNORECASE)  # an hour and a half


def english(text: str) -> list[Number]:
    """The numbers of a line of English: digits in order, then words."""
    numbers: list[Number] = []
    words: list[re.Match[str]] = []
    folded = html.unescape(text).translate(FOLD)  # the 39 of &#39; is no number
    is_chat = _CHAT.search(folded) is not None
    in_words = list(fractions(folded))
    for match in _ENGLISH.finditer(folded):
        if match["word"]:
            words.append(match)
            continue
        if any(each.start <= match.start() < each.end for each in in_words):  # 9 out of 10
            continue
        read = next(read for kind, read in _READERS.items() if match[kind])
        found = read(match)
        name = _NAME.search(match.string[max(match.start() - _LONGEST_NAME, 0) : match.start()])
        if name:
            found = [_in_name(name[0], number) for number in found]
        if _is_a_word(match, is_chat):
            found = [replace(number, digits=False) for number in found]
        numbers += found
    numbers += _in_words(words)
    numbers += _and_a_half(folded)
    numbers += map(_fraction, in_words)
    return numbers


def _is_a_word(match: re.Match[str], is_chat: bool) -> bool:
    """Whether figures are written for a word, as in chats."""
    spelling = _CHAT_WORD.match(match.string, match.start())
    if spelling is None and is_chat:
        spelling = _TO_OR_FOR.match(match.string, match.start())
    return spelling is not None


def _in_name(name: str, number: Number) -> Number:
    """Digits in a name, which a translation may leave out; FY19 is 2019."""
    year = tuple(value + 2000 for value in number.values[:1])
    return replace(number, text=name + number.text, values=number.values + year, digits=False)


def _fraction(fraction: Fraction) -> Number:
    """A fraction in words; 9 out of 10 may be said as 9 and 10."""
    digits = any(map(str.isdigit, fraction.text))
    parts = tuple(
        Number(fraction.text, (value,), digits) for value in (fraction.top, fraction.bottom)
    )
    return Number(fraction.text, fraction.values, digits, parts if digits else ())


# --- digits ---


def _read_number(match: re.Match[str]) -> Iterator[Number]:
    """Figures with what is beside them: a fraction, a scale, an hour."""
    number = read_figures(match)
    values = number.values
    parts = number.parts
    if match["top"]:
        fraction = Number(match[0], ratio(Decimal(match["top"]), Decimal(match["bottom"])))
        values = tuple(value + fraction.values[-1] for value in values)
        parts = (number, fraction)
    if match["scale"]:
        unscaled = values
        values = scaled(unscaled, _factor(match["scale"]))
        is_unit = match["scale"].strip(" -").lower().removesuffix("s") in _MAY_BE_A_UNIT
        if is_unit and not _is_money(match):
            values += unscaled
        parts = ()
    elif match["next_scale"]:
        values = scaled(values, _factor(match["next_scale"])) + values  # the 3 of 3-5 million
    if match["hour"] or match["next_hour"]:
        values = hour_values(values[0])
    yield Number(match[0].strip(), values, parts=parts)


def _is_money(match: re.Match[str]) -> bool:
    """Whether a currency is before the figures: the m of $45.6m is no metre."""
    before = match.string[max(match.start() - 4, 0) : match.start()].rstrip()
    return before.endswith(SIGNS)


def _factor(scale: str) -> int:
    """What the words of a scale multiply by: 100,000 for a hundred thousand."""
    words = re.findall(r"\b[a-z]+?(?=s?\b)", scale.lower())
    return prod(_FACTORS[word] for word in words)


def _read_decade(match: re.Match[str]) -> Iterator[Number]:
    yield Number(match[0], decade_values(Decimal(match["decade"])))


def _read_month(match: re.Match[str]) -> Iterator[Number]:
    # In lower case it may be another word, as in "may 7": it explains digits, but is not asked for.
    yield Number(match[0], _WORDS[match[0].title()], digits=match[0].istitle())


_READERS: dict[str, Reader] = {
    "clock": read_clock,
    "divided": read_divided,
    "number": _read_number,
    "decade": _read_decade,
    "month": _read_month,
}


# --- words ---


# Words that belong to a noun, not to the number before them: "twenty-five each" is not 26.
_ALONE = ("another", "each", "every", "only", "per", "single", "sole")


def _in_words(matches: list[re.Match[str]]) -> Iterator[Number]:
    """Every word that is a number, and after each run of them what they state together."""
    run: list[str] = []
    end = 0
    for match in matches:
        word = match[0].lower()
        if word not in _WORDS:
            word = re.sub("(?:s|fold|th)$", "", word)  # thirties, tenfold, twentieth
        values = _WORDS.get(match[0]) or _WORDS.get(word)
        if values:
            inverse = ratio(Decimal(1), values[0])[1:]  # a third is also 1/3
            yield Number(match[0], values + inverse, digits=False)
        joined = match.string[end : match.start()] in (" ", "-")
        goes_on = joined and word not in _ALONE and (values or word in ("and", "of"))
        if not goes_on or len(run) > 8:
            yield from _together(run)
            run = []
        if word in _WORDS and word not in ("a", "an", *_ALONE):  # half a million
            run.append(word)
        end = match.end()
    yield from _together(run)


def _and_a_half(text: str) -> Iterator[Number]:
    """An hour and a half: 1.5. Two and a half hours are read as words that belong together."""
    for match in _AND_A_HALF.finditer(text):
        values = _WORDS.get(match[1].lower())
        if values:
            value = (values[0] + Decimal("0.5")) * _FACTORS.get(match[2].lower(), 1)
            yield Number(match[0], (value,), digits=False)


def _together(run: list[str]) -> Iterator[Number]:
    """Two hundred and five: 205; half a million; two thirds; nineteen eighty-four: 1984.

    Any of the first words may not belong to the rest: another six million.
    """
    yield from _readings(run)
    merged = _QUARTERS.sub(r"\1-quarter", " ".join(run)).split()
    if merged != run:
        yield from _readings(merged)


def _readings(run: list[str]) -> Iterator[Number]:
    for start in range(len(run) - 1):
        words = run[start:]
        first, *rest = spoken_terms(words, _FACTORS, _value_of_word)
        others = sum(rest, Decimal(0))
        values = (first + others, 100 * first + others, *ratio(first, others))
        yield Number(" ".join(words), values, digits=False)


def _value_of_word(words: str) -> Decimal:
    """What a word means first, or a product of words with a hyphen: three-quarter."""
    return prod((_WORDS[word][0] for word in words.split("-")), start=Decimal(1))
