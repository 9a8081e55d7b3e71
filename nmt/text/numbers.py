"""The numbers that a line of English or of Chinese states, in digits or in words.

A number has several readings where the languages differ: 3 p.m. is 下午3点 or 15时, 1990s is 90年代 or 20世纪90年代.
Units are not converted. The Chinese forms are those of GB/T 15835-2011 (how to write numerals), and what people say.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from math import prod
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
_FIGURES = r"(?:\d{1,3}(?:[, ]\d{3}){1,9}(?!\d)|\d{1,30})(?:\.\d{1,30}|[½¼¾⅓⅔⅛])?"
_SHARED = (
    r"(?P<clock>(?<!\d)\d\d?(?:[:.]\d\d(?=\s?[ap]\.?m\b)|(?::\d\d){1,2}(?!\d)))"
    r"|(?P<pieces>\d{1,30}(?:(?:\.\d{1,30}){2,3}|(?:/\d{1,30}){1,2}))"  # 1.2.3, 3/4/2019, 2/3
)
_FOLD = str.maketrans("０１２３４５６７８９．，％：／－\xa0\u202f\u2009", "0123456789.,%:/-   ")
_FACTORS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "decade": 10, "dozen": 12, "century": 100}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12, "trn": 10**12}
_FACTORS |= _SCALES | _LETTERS


def _value(figures: str) -> Decimal:
    plain = re.sub(r"[^\d.]", "", figures)
    return Decimal(plain or 0) + (0 if figures[-1].isdecimal() else Decimal(str(numeric(figures[-1]))))


def _times(values: Values, factor: Decimal | int) -> Values:
    return tuple(value * factor for value in values)


def _sum(words: Iterable[str], terms: Callable[[str], Decimal]) -> list[Decimal]:
    """Terms and factors as they are spoken; a factor multiplies whatever smaller is before it: 二百零五万."""
    spoken: list[Decimal] = []
    term = False
    for word in words:
        before = spoken.pop() if term else Decimal(0)
        term = word not in _FACTORS
        if term:
            spoken += [before, terms(word)] if before else [terms(word)]
            continue
        factor = _FACTORS[word]
        while spoken and spoken[-1] < factor:
            before += spoken.pop()
        spoken.append((before or Decimal(1)) * factor)
    return spoken


def _fraction(top: Decimal, bottom: Decimal) -> Values:
    """In percent and as a quotient: a quarter is 25%."""
    return (100 * top / bottom, top / bottom) if bottom else ()


def _hour(hour: Decimal) -> Values:
    """On clocks of 12 and of 24 hours."""
    return (hour, (hour + 12) % 24, *((Decimal(24),) if hour in (0, 12) else ())) if hour <= 24 else (hour,)


def _year(figures: str) -> Values:
    """A year may lack its century: 3/4/19."""
    return tuple(map(Decimal, (figures, f"20{figures}", f"19{figures}") if len(figures) == 2 else (figures,)))


def _decade(years: Decimal) -> Values:
    """1990s, '90s; the 1900s are the 20th century."""
    if years < 100:
        return years, years + 1900, years + 2000
    return (years,) if years % 100 else (years, years // 100 + 1)


def _clock(match: re.Match[str]) -> Iterator[Number]:
    """Hours, minutes, seconds, of which 00 need not be said."""
    hours, *rest = re.findall(r"\d+", match[0])
    yield Number(match[0], _hour(Decimal(hours)))
    yield from (Number(match[0], (Decimal(figures),), int(figures) > 0) for figures in rest)


def _pieces(match: re.Match[str]) -> Iterator[Number]:
    *first, last = re.split("[./]", match[0])
    parts = [*((Decimal(figures),) for figures in first), _year(last)]
    values = (*_fraction(parts[0][0], parts[1][0]), Decimal(first[0] + last)) if len(parts) == 2 else ()  # 9/11 is 911
    digits = match[0] != "24/7"  # 全天候
    yield Number(match[0], values, digits, tuple(Number(match[0], part, digits) for part in parts))


def _figures(match: re.Match[str]) -> Number:
    """Figures alone: 10 000 may be two numbers, 0230 a time, the 96 of 1995-96 a year."""
    figures, before = match["number"], match.string[max(match.start() - 5, 0) : match.start()]
    century = re.match(r"\d\d(?=\d\d[-–~/至到])", before) if len(figures) == 2 else None
    pieces = re.findall(r"\d\d" if re.fullmatch(r"0\d{3}", figures) else r"[\d,]+", figures)
    parts = tuple(Number(figures, (_value(piece),)) for piece in pieces) if pieces[1:] else ()
    return Number(figures, (_value(figures), *((_value(century[0] + figures),) if century else ())), parts=parts)


# --- English ---

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
_SCALE = rf"(?:[ -]?(?:dozen|{'|'.join(_SCALES)})s?\b)+| ?(?:{'|'.join(_LETTERS)})\b(?!\.[a-z])"
_HOUR = r"\s?(?:[ap]\.?\s?m\b|o'clock)"
_ENGLISH = re.compile(
    rf"(?=[\d.½¼¾⅓⅔⅛])(?:{_SHARED}|(?P<decade>\d{{1,3}}0)'?s\b"
    rf"|(?P<number>(?<![\w.])\.\d{{1,30}}|{_FIGURES}|[½¼¾⅓⅔⅛])(?:[ -](?P<top>\d)/(?P<bottom>\d)\b)?"
    rf"(?:(?:st|nd|rd|th)\b)?(?P<scale>{_SCALE})?(?P<hour>{_HOUR})?"
    rf"(?=(?:\s?(?:[-–—/]|to|or|and)\s?[$£€]?{_FIGURES}(?:(?P<scale2>{_SCALE})|(?P<hour2>{_HOUR})))?))"
    rf"|(?-i:(?P<month>\b{_MONTH}\b(?=\.?,? ?\d)|(?:(?<=\d )|(?<=\d[a-z]{{2}} )){_MONTH}\b))|(?P<word>[A-Za-z]+)",
    re.ASCII | re.IGNORECASE,
)
_NAME = re.compile(r"(?:[A-Za-z]+|\b[A-Z][A-Za-z]*-)$")  # before digits: they are a name's, as in G20 and COVID-19


def english(text: str) -> list[Number]:
    """The numbers of a line of English: digits in order, then words."""
    numbers: list[Number] = []
    words: list[re.Match[str]] = []
    for match in _ENGLISH.finditer(text.translate(_FOLD)):
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
    number = _figures(match)
    values, parts, scale = number.values, number.parts, match["scale"] or match["scale2"]
    if match["top"]:  # 2 1/2
        half = Number(match[0], _fraction(Decimal(match["top"]), Decimal(match["bottom"])))
        values, parts = tuple(value + half.values[-1] for value in values), (number, half)
    if scale:
        scaled = _times(values, prod(_FACTORS[word] for word in re.findall("[a-z]+?(?=s?\\b)", scale.lower())))
        ambiguous = not match["scale"] or scale.strip().lower() in ("k", "m", "b")  # metres; 3 of 3-5 million may be 3
        values, parts = scaled + (values if ambiguous else ()), () if match["scale"] else parts
    if match["hour"] or match["hour2"]:
        values = _hour(values[0])
    yield Number(match[0].strip(), values, parts=parts)


def _in_words(words: list[re.Match[str]]) -> Iterator[Number]:
    """Every word that is a number, and what those that stand together state."""
    run: list[str] = []
    end = -1
    for match in words:
        word = match[0].lower()
        word = word if word in _WORDS else re.sub("(?:s|fold|th)$", "", word)
        if values := _WORDS.get(match[0]) or _WORDS.get(word):
            yield Number(match[0], values + _fraction(Decimal(1), values[0])[1:], digits=False)
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
        first, *rest = _sum(run[start:], lambda word: _WORDS[word][0])
        ratio = _fraction(first, sum(rest, Decimal(0)))
        yield Number(" ".join(run[start:]), (first + sum(rest), 100 * first + sum(rest), *ratio), digits=False)


_ENGLISH_READERS: dict[str, Reader] = {"clock": _clock, "pieces": _pieces, "number": _english_number}
_ENGLISH_READERS["decade"] = lambda match: [Number(match[0], _decade(Decimal(match["decade"])))]
_ENGLISH_READERS["month"] = lambda match: [Number(match[0], _WORDS[match[0]])]

# --- Chinese ---

_ONE, _DIGIT, _LARGE = "一二两三四五六七八九", "零〇○一二两三四五六七八九", "十百千万亿"
_UNIT = r"(?:[十百万亿]|千(?![米克瓦卡帕伏赫焦升字]))"  # 千米 is a unit of length
_SOME = "(?:[多余来几]|个多?(?=亿(?!元)))?"
_NUMERAL = (
    rf"(?:{_FIGURES}(?: ?{_SOME}{_UNIT}(?:零?(?:\d{{1,30}}(?:\.\d{{1,30}})?|[{_ONE}]))?){{0,9}}"
    rf"|[{_DIGIT}十百千廿卅][{_DIGIT}{_LARGE}]{{0,23}}(?:[多余来几][{_LARGE}]+|点[{_DIGIT}]{{1,9}}+(?![十分刻])[{_LARGE}]*)?)"
)
_SAID = {"一刻": (15,), "三刻": (45,), "半年": (".5", 6), "半": (".5", 30, 50), "双": (2,), "俩": (2,), "首": (1,)}
_SAID |= {"翻番": (2, 100), "翻倍": (2, 100)}
_CHINESE = re.compile(
    rf"(?=[\d{_DIGIT}十百千廿卅半双俩首翻])(?:{_SHARED}|(?!首(?![次个位任届名批座家例场轮款]))(?P<word>{'|'.join(_SAID)})"
    r"|(?:(?P<century>(?<!\d)\d\d|[一二十]{1,3}) ?世纪 ?)?(?P<decade>(?<!\d)\d0|[二三四五六七八九]{1,2}十)"
    r"(?= ?(?:[-—、和至到] ?..)? ?年 ?代)"
    rf"|(?P<bottom>{_NUMERAL})分之(?P<top>{_NUMERAL})"
    rf"|(?:(?P<number>(?>{_FIGURES}))(?! ?{_SOME}{_UNIT})|(?P<numeral>{_NUMERAL}))"
    rf"(?=(?:\s?[-–—~～至到或和、]\s?(?:[\d.,]{{1,30}}|[{_DIGIT}]{{1,9}}|十) ?(?P<shared>[{_LARGE}]+))?))",
    re.ASCII,
)
_TO_ARABIC = str.maketrans(f"{_DIGIT}点", "0001223456789.", "多余来几个 ,")
_AFTER = re.compile(r"多?\s?(成|折|倍|打|世纪|后|点|时|)(.{0,2}?半)?")
_OPEN, _CLOSED = re.compile(r"[(（]\s?约?\s?$"), re.compile(r"[^()（）]{0,5}[里米度斤克磅顷升吨]\s?[)）]")
_READINGS: dict[str, Callable[[Decimal], Values]] = {
    "成": lambda value: (value, 10 * value),
    "折": lambda value: (value, 10 * value, 100 - 10 * value, 100 - value),  # what is paid, and what is not
    "倍": lambda value: (value, value + 1, 100 * value),
    "打": lambda value: (value, 12 * value),
    "世纪": lambda value: (value, 100 * (value - 1)),
}
_READINGS |= {"后": _decade, "点": _hour, "时": _hour}  # 90后, who were born in the 1990s


def chinese(text: str) -> list[Number]:
    """The numbers of a line of Chinese, in order."""
    numbers: list[Number] = []
    for match in _CHINESE.finditer(html.unescape(text).translate(_FOLD)):
        numbers += next(read for kind, read in _CHINESE_READERS.items() if match[kind])(match)
    return numbers


def _chinese_number(match: re.Match[str]) -> Iterator[Number]:
    number = _figures(match) if match["number"] else _numeral(match[0])
    opened = _OPEN.search(match.string[max(match.start() - 3, 0) : match.start()])
    digits = number.digits and not (opened and _CLOSED.match(match.string, match.end()))  # 10 英里（16 公里）
    # all values of figures are of one number
    readings = [number.values] if match["number"] else [(value,) for value in number.values]
    yield from (replace(number, values=_said(values, match), digits=digits) for values in readings)


def _said(values: Values, match: re.Match[str]) -> Values:
    """What a number says together with what stands after it."""
    if match["shared"]:
        values += _times(values, prod(map(_FACTORS.__getitem__, match["shared"])))
    if after := _AFTER.match(match.string, match.end()):
        if after[2]:
            values += (values[0] + Decimal("0.5"),)
        if after[1]:
            values = tuple(reading for value in values for reading in _READINGS[after[1]](value))
    return values


def _numeral(text: str) -> Number:
    """一百二十三, 二〇一九, 3.5亿; 三四百 is 300 or 400; digits in a row may be single ones."""
    either = [re.sub(rf"([{_ONE}])([{_ONE}])(?=[{_LARGE}])", which, text) for which in (r"\1", r"\2")]
    values = tuple(dict.fromkeys(map(_numeral_value, either)))
    parts = tuple(Number(text, (_numeral_value(one),), False) for one in text) if set(text) <= set(_DIGIT) else ()
    return Number(text, values, re.search("[0-9]", text) is not None, parts if text[1:] else ())


def _numeral_value(numeral: str) -> Decimal:
    numeral = numeral.replace("廿", "二十").replace("卅", "三十").translate(_TO_ARABIC)
    tokens = re.findall(rf"\d+(?:\.\d+)?|[{_LARGE}]", numeral)
    *rest, last = _sum(tokens, Decimal)
    if rest and tokens[-1] in "123456789" and (unit := _FACTORS[tokens[-2]]) > 10:  # 三千五 is 3500
        last *= Decimal(unit) / 10
    return sum(rest, last)


def _quotient(match: re.Match[str]) -> Iterator[Number]:
    bottom, top = _numeral(match["bottom"]), _numeral(match["top"])
    yield Number(match[0], _fraction(top.values[0], bottom.values[0]), bottom.digits or top.digits, (bottom, top))


def _chinese_decade(match: re.Match[str]) -> Iterator[Number]:
    number = _numeral(match["decade"])
    before = 100 * (_numeral_value(match["century"]) - 1) if match["century"] else None
    for years in number.values:
        yield replace(number, values=_decade(years) if before is None else (before + years,))


_CHINESE_READERS: dict[str, Reader] = {"clock": _clock, "pieces": _pieces, "decade": _chinese_decade}
_CHINESE_READERS |= {"bottom": _quotient, "number": _chinese_number, "numeral": _chinese_number}
_CHINESE_READERS["word"] = lambda match: [Number(match[0], tuple(map(Decimal, _SAID[match[0]])), digits=False)]
