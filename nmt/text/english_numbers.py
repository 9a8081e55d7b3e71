"""The numbers that a line of English states."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from math import prod

from nmt.text.numbers import (
    FACTORS,
    FIGURES,
    FOLD,
    LETTERS,
    SCALES,
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

_TABLE = """0 zero nil midnight|0.5 half halve halved|0.25 quarter|1 one first a an each per every once single only
sole another January Jan I|2 two second twice double doubled doubling couple pair both twin duo half February Feb II|3
three third triple tripled trio thrice quarter March Mar III|4 four fourth quarter quadruple April Apr IV|5 five fifth
May V|6 six sixth half June Jun VI|7 seven seventh week July Jul VII|8 eight eighth August Aug VIII|9 nine ninth
September Sept Sep IX|10 ten tenth decade October Oct X|11 eleven eleventh November Nov XI|12 twelve twelfth dozen
noon midnight December Dec XII|13 thirteen XIII|14 fourteen fortnight XIV|15 fifteen quarter XV|16 sixteen XVI|17
seventeen|18 eighteen |19 nineteen|20 twenty twentie century|21 century|24 day midnight|25 quarter|30 thirty thirtie
half|40 forty fortie |45 quarter|50 fifty fiftie half|60 sixty sixtie|70 seventy seventie|80 eighty eightie|90 ninety
ninetie|100 hundred century|1000 thousand|1000000 million|1000000000 billion|1000000000000 trillion"""
_WORDS: dict[str, Values] = {}
for _number, *_words in map(str.split, _TABLE.split("|")):
    for _word in _words:
        _WORDS[_word] = (*_WORDS.get(_word, ()), Decimal(_number))
_MONTH = rf"(?:{'|'.join(word for word in _WORDS if word[0].isupper() and word[1:].islower())})"
_SCALE = rf"(?:[ -]?(?:dozen|{'|'.join(SCALES)})s?\b)+| ?(?:{'|'.join(LETTERS)})\b(?!\.[a-z])"
_HOUR = r"\s?(?:[ap]\.?\s?m\b|o'clock)"
_ENGLISH = re.compile(
    rf"(?=[\d.½¼¾⅓⅔⅛])(?:{SHARED}|(?P<decade>\d{{1,3}}0)'?s\b"
    rf"|(?P<number>(?<![\w.])\.\d{{1,30}}|{FIGURES}|[½¼¾⅓⅔⅛])(?:[ -](?P<top>\d)/(?P<bottom>\d)\b)?"
    rf"(?:(?:st|nd|rd|th)\b)?(?P<scale>{_SCALE})?(?P<hour>{_HOUR})?"
    rf"(?=(?:\s?(?:[-–—/]|to|or|and)\s?[$£€]?{FIGURES}(?:(?P<scale2>{_SCALE})|(?P<hour2>{_HOUR})))?))"
    rf"|(?-i:(?P<month>\b{_MONTH}\b(?=\.?,? ?\d)|(?:(?<=\d )|(?<=\d[a-z]{{2}} )){_MONTH}\b))|(?P<word>[A-Za-z]+)",
    re.ASCII | re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:[A-Za-z]+|\b[A-Z][A-Za-z]*-)$"
)  # before digits: they are a name's, as in G20 and COVID-19


def english(text: str) -> list[Number]:
    """The numbers of a line of English: digits in order, then words."""
    numbers: list[Number] = []
    words: list[re.Match[str]] = []
    for match in _ENGLISH.finditer(text.translate(FOLD)):
        if match["word"]:
            words.append(match)
            continue
        read = next(read for kind, read in _ENGLISH_READERS.items() if match[kind])
        named = _NAME.search(match.string[max(match.start() - 16, 0) : match.start()])
        numbers += [_named(named[0], number) for number in read(match)] if named else read(match)
    return numbers + list(_in_words(words))


def _named(name: str, number: Number) -> Number:
    """Digits in a name, which a translation may leave out; FY19 is 2019."""
    year = tuple(value + 2000 for value in number.values[:1])
    return replace(number, text=name + number.text, values=number.values + year, digits=False)


def _english_number(match: re.Match[str]) -> Iterator[Number]:
    number = figures(match)
    values, parts, scale = number.values, number.parts, match["scale"] or match["scale2"]
    if match["top"]:  # 2 1/2
        half = Number(match[0], fraction(Decimal(match["top"]), Decimal(match["bottom"])))
        values, parts = tuple(value + half.values[-1] for value in values), (number, half)
    if scale:
        scaled = times(
            values, prod(FACTORS[word] for word in re.findall("[a-z]+?(?=s?\\b)", scale.lower()))
        )
        ambiguous = not match["scale"] or scale.strip().lower() in (
            "k",
            "m",
            "b",
        )  # metres; 3 of 3-5 million may be 3
        values, parts = scaled + (values if ambiguous else ()), () if match["scale"] else parts
    if match["hour"] or match["hour2"]:
        values = hour(values[0])
    yield Number(match[0].strip(), values, parts=parts)


def _in_words(words: list[re.Match[str]]) -> Iterator[Number]:
    """Every word that is a number, and what those that stand together state."""
    run: list[str] = []
    end = -1
    for match in words:
        word = match[0].lower()
        word = word if word in _WORDS else re.sub("(?:s|fold|th)$", "", word)
        if values := _WORDS.get(match[0]) or _WORDS.get(word):
            yield Number(match[0], values + fraction(Decimal(1), values[0])[1:], digits=False)
        joined = match.string[end : match.start()] in (" ", "-")
        if not joined or not (values or word in ("and", "of")) or len(run) > 8:
            yield from _together(run)
            run = []
        if word in _WORDS and word not in ("a", "an"):
            run.append(word)
        end = match.end()
    yield from _together(run)


def _together(run: list[str]) -> Iterator[Number]:
    """Two hundred and five: 205; half a million; two thirds; nineteen eighty-four: 1984."""
    for start in range(len(run) - 1):  # another six million
        first, *rest = terms_of(run[start:], lambda word: _WORDS[word][0])
        ratio = fraction(first, sum(rest, Decimal(0)))
        yield Number(
            " ".join(run[start:]),
            (first + sum(rest), 100 * first + sum(rest), *ratio),
            digits=False,
        )


_ENGLISH_READERS: dict[str, Reader] = {"clock": clock, "pieces": pieces, "number": _english_number}
_ENGLISH_READERS["decade"] = lambda match: [Number(match[0], decade(Decimal(match["decade"])))]
_ENGLISH_READERS["month"] = lambda match: [Number(match[0], _WORDS[match[0]])]
