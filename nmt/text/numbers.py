"""The numbers that a line of English or of Chinese states, in digits or in words.

A number has several readings where the languages differ: 3 p.m. is 下午3点 or 15时, 1990s is 90年代 or 20世纪90年代.
Units are not converted. The Chinese forms are those of GB/T 15835-2011 (how to write numerals), and what people say.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from math import prod
from unicodedata import numeric

Value = Decimal | str  # str: no quantity, such as the version 1.2.3, or more digits than any quantity has
Values = tuple[Value, ...]


@dataclass(frozen=True)
class Number:
    """One number of a line: what it may mean, likeliest first, and the parts that it may fall into instead."""

    text: str
    values: Values
    digits: bool = True  # False for words, and for digits in a name, as in COVID-19
    parts: tuple["Number", ...] = ()


# --- what both languages write in digits ---

_FIGURES = r"(?:\d{1,3}(?:[, ]\d{3})+(?!\d)|\d+)(?:\.\d+|[½¼¾⅓⅔⅛])?"
_PIECES = r"(?P<pieces>\d+(?:\.\d+){2,}|\d+(?:/\d+)+)"  # 1.2.3, 3/4/2019, 2/3
_FOLD = str.maketrans("０１２３４５６７８９．，％：／－\xa0\u202f\u2009", "0123456789.,%:/-   ")


def _value(figures: str) -> Value:
    plain = re.sub(r"[^0-9.]", "", figures)
    if len(plain) > 30:
        return plain
    return Decimal(plain or 0) + (0 if figures[-1].isdecimal() else Decimal(str(numeric(figures[-1]))))


def _times(values: Values, factor: Decimal | int) -> tuple[Decimal, ...]:
    return tuple(value * factor for value in values if isinstance(value, Decimal))


def _plus(values: Values, term: Decimal | int) -> tuple[Decimal, ...]:
    return tuple(value + term for value in values if isinstance(value, Decimal))


def _fraction(top: Value, bottom: Value) -> tuple[Decimal, ...]:
    """As a quotient and in percent: a quarter is 25%."""
    if isinstance(top, str) or isinstance(bottom, str) or not bottom:
        return ()
    return top / bottom, 100 * top / bottom


def _hour(hour: Value) -> Values:
    """On clocks of 12 and of 24 hours."""
    if isinstance(hour, str) or hour > 24:
        return (hour,)
    return (hour, (hour + 12) % 24, *((Decimal(24),) if hour in (0, 12) else ()))


def _clock(match: re.Match[str]) -> Iterator[Number]:
    """Hours, minutes, seconds, of which 00 need not be said."""
    hours, *rest = re.findall(r"\d+", match[0])
    yield Number(match[0], _hour(_value(hours)))
    yield from (Number(match[0], (_value(figures),), int(figures) > 0) for figures in rest)


def _pieces(match: re.Match[str]) -> Iterator[Number]:
    """A fraction or a version, or else a date, whose year may lack its century."""
    *first, last = re.split("[./]", match[0])
    parts = [(_value(figures),) for figures in first]
    parts.append(tuple(map(_value, (last, f"20{last}", f"19{last}") if len(last) == 2 else (last,))))
    values = _fraction(parts[0][0], parts[1][0]) if len(parts) == 2 else (match[0],)
    yield Number(match[0], values, parts=tuple(Number(match[0], part) for part in parts))


def _figures(match: re.Match[str]) -> Number:
    """Figures alone: 10 000 may be two numbers, 0230 a time, the 96 of 1995-96 a year."""
    figures = match["number"]
    pieces = re.split("[ .]", figures) if len(figures) != 4 or figures[0] != "0" else [figures[:2], figures[2:]]
    values: Values = (_value(figures),)
    century = re.match(r"\d\d(?=\d\d[-–/至到])", match.string[max(match.start() - 5, 0) : match.start()])
    if century and len(figures) == 2:
        values += (_value(century[0] + figures),)
    return Number(figures, values, parts=tuple(Number(figures, (_value(p),)) for p in pieces if p) if pieces[1:] else ())


# --- English ---

_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12, "trn": 10**12}
_SCALE = rf"(?:[ -]?(?:{'|'.join(_SCALES)})s?\b)+|[ ]?(?:{'|'.join(_LETTERS)})\b"
_HOUR = r"\s?(?:[ap]\.?\s?m\b|o'clock)"
_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + "|Sept"
_ENGLISH = re.compile(
    rf"(?P<clock>(?<!\d)\d\d?(?::\d\d){{1,2}}(?!\d)|(?<!\d)\d\d?\.\d\d(?={_HOUR}))"
    rf"|{_PIECES}|(?P<decade>\d{{1,3}}0)'?s\b"
    rf"|(?P<number>(?<![\w.])\.\d+|{_FIGURES}|[½¼¾⅓⅔⅛])(?P<half>[ -]\d/\d\b)?(?P<scale>{_SCALE})?(?P<hour>{_HOUR})?"
    rf"(?=(?:\s?(?:[-–—/]|to|or|and)\s?[$£€]?{_FIGURES}(?:(?P<shared>{_SCALE})|(?P<hours>{_HOUR})))?)"
    rf"|(?-i:(?P<month>\b(?:{_MONTH})(?=\.?,? ?\d)|(?:(?<=\d )|(?<=\d[a-z]{{2}} ))(?:{_MONTH})\b))|(?P<word>[A-Za-z]+)",
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
        numbers += (
            replace(number, text=named[0] + number.text, digits=False) if named else number for number in read(match)
        )
    return numbers + list(_in_words(words))


def _decade(match: re.Match[str]) -> Iterator[Number]:
    yield Number(match[0], _years(Decimal(match["decade"])))


def _years(years: Decimal) -> Values:
    """1990s, '90s; the 1900s are the 20th century."""
    if years < 100:
        return (years, *(years + 100 * century for century in (19, 20)))
    return (years,) if years % 100 else (years, years // 100 + 1)


def _english_number(match: re.Match[str]) -> Iterator[Number]:
    number = _figures(match)
    values = number.values
    if match["half"]:  # 2 1/2
        half = Number(match[0], _fraction(Decimal(match["half"][1]), Decimal(match["half"][3])))
        number = replace(number, parts=(number, half))
        values = _plus(values, half.values[0])
    if match["scale"]:
        scaled = _scaled(values, match["scale"])
        values = scaled if len(match["scale"]) > 4 else scaled + values  # 5m may be metres
    elif match["shared"]:
        values += _scaled(values, match["shared"])
    if match["hour"] or match["hours"]:
        values = _hour(values[0])
    yield replace(number, text=match[0].strip(), values=values, parts=() if match["scale"] else number.parts)


def _scaled(values: Values, scale: str) -> Values:
    words = re.findall("[a-z]+", scale.lower())
    return _times(values, prod(_SCALES.get(word.removesuffix("s")) or _LETTERS[word] for word in words))


_ENGLISH_READERS: dict[str, Callable[[re.Match[str]], Iterator[Number]]] = {
    "clock": _clock,
    "pieces": _pieces,
    "decade": _decade,
    "number": _english_number,
    "month": lambda match: iter([Number(match[0], _WORDS[match[0]])]),
}

_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_ONES = "zero one two three four five six seven eight nine".split() + _TEENS
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_FACTORS = {**_SCALES, "decade": 10, "century": 100}
_RANKS = {word: n for n, word in enumerate(_ORDINALS + [f"{teen}th" for teen in _TEENS[3:]], 1)}
_TERMS = {
    **{word: n for n, word in enumerate(_ONES)},
    **_RANKS,
    **{word[:-1] + end: 10 * n for n, word in enumerate(_TENS, 2) for end in ("y", "ie", "ieth")},
}
_OTHERS: dict[str, tuple[int | str, ...]] = {  # what else is a number in Chinese, or may be
    **{word: (n,) for n, month in enumerate(_MONTHS, 1) for word in (month, month[:3], month[:4])},
    **{word: (n,) for n, word in enumerate("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split(), 1)},
    **dict.fromkeys("a an each per every once single only sole another".split(), (1,)),
    **dict.fromkeys("twice double doubled doubling couple pair both twin duo".split(), (2,)),
    **dict.fromkeys("triple tripled trio thrice triplet".split(), (3,)),
    **dict.fromkeys("half halve halved".split(), ("0.5", 50, 30, 6, 2)),
    **{"quarter": ("0.25", 25, 15, 45, 3, 4), "quadruple": (4,), "fortnight": (14, 2), "nil": (0,)},
    **{"noon": (12,), "midnight": (0, 12, 24), "century": (20, 21), "day": (24,), "week": (7,)},
}
_WORDS: dict[str, Values] = {
    **{word: (Decimal(n),) for word, n in (_TERMS | _FACTORS).items()},
    **{word: (Decimal(n), *_fraction(Decimal(1), Decimal(n))) for word, n in _RANKS.items()},
    **{word: tuple(map(Decimal, values)) for word, values in _OTHERS.items()},
}


def _in_words(words: list[re.Match[str]]) -> Iterator[Number]:
    """Every word that is a number, and what those that stand together state."""
    run: list[str] = []
    end = -1
    for match in words:
        word = match[0].lower()
        word = word if word in _TERMS else word.removesuffix("s").removesuffix("fold")
        if values := _WORDS.get(match[0]) or _WORDS.get(word):
            yield Number(match[0], values, digits=False)
        if match.string[end : match.start()] not in (" ", "-"):
            yield from _totals(run)
            run = []
        if word in _TERMS or word in _FACTORS or word == "half":
            run.append(word)
        elif word not in ("a", "and", "of"):
            yield from _totals(run)
            run = []
        end = match.end()
    yield from _totals(run)


def _totals(run: list[str]) -> Iterator[Number]:
    """Two hundred and five: 205; half a million; two thirds; nineteen eighty-four: 1984."""
    sums = [Decimal(0)]
    part = Decimal(0)  # of the last sum: what a scale would multiply
    for word in run:
        if word in _FACTORS:
            scaled = (part or 1) * _FACTORS[word]
            sums[-1] += scaled - part
            part = scaled if _FACTORS[word] == 100 else Decimal(0)
            continue
        term = Decimal(_TERMS.get(word, "0.5"))
        if sums[-1] and term >= 1 and (sums[-1] % 10 or (sums[-1] % 100 and (term > 9 or sums[-1] % 100 == 10))):
            sums.append(Decimal(0))
            part = Decimal(0)
        sums[-1] += term
        part += term
    sums += [100 * a + b for a, b in zip(sums, sums[1:], strict=False) if 10 <= a < 100 and b < 100]
    if len(run) > 1:
        ratio = _fraction(sums[0], Decimal(_RANKS[run[-1]])) if run[-1] in _RANKS else ()
        yield Number(" ".join(run), (*sums, *ratio), digits=False)


# --- Chinese ---

_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_LARGE = "".join(_UNITS)
_UNIT = rf"(?:[十百万亿]|千(?![米克瓦卡帕伏赫焦升字]))"  # 千米 is a unit of length
_ONE, _DIGIT = "一二两三四五六七八九", "零〇○一二两三四五六七八九"
_NUMERAL = (
    rf"(?:{_FIGURES}(?: ?[多余来几]?{_UNIT}(?:零?(?:\d+(?:\.\d+)?|[{_ONE}]))?)*"
    rf"|[{_DIGIT}十百千廿卅][{_DIGIT}{_LARGE}]{{0,23}}(?:[多余来几][{_LARGE}]+|点[{_DIGIT}]{{1,9}}+(?![十分])[{_LARGE}]*)?)"
)
_CHINESE = re.compile(
    rf"(?P<clock>(?<!\d)\d\d?(?::\d\d){{1,2}}(?!\d))|{_PIECES}|(?P<word>一刻|三刻|半年|半|双|俩|首(?=[次个位任届名批座家例场轮款])|翻番|翻倍)"
    r"|(?:(?P<century>(?<!\d)\d\d|[一二十]{1,3}) ?世纪 ?)?(?P<decade>(?<!\d)\d0|[二三四五六七八九]{1,2}十)"
    r"(?= ?(?:[-—、和至到] ?..)? ?年 ?代)"
    rf"|(?P<bottom>{_NUMERAL})分之(?P<top>{_NUMERAL})"
    rf"|(?:(?P<number>(?>{_FIGURES}))(?! ?[多余来几]?{_UNIT})|(?P<numeral>{_NUMERAL}))"
    rf"(?=(?:\s?[-–—~～至到或和、]\s?(?:[\d.,]+|[{_DIGIT}]+) ?(?P<shared>[{_LARGE}]+))?)",
    re.ASCII,
)
_TO_ARABIC = str.maketrans(
    {**dict(zip(_DIGIT, "0001223456789", strict=True)), "点": ".", "廿": "2十", "卅": "3十", **dict.fromkeys("多余来几 ,")}
)
_SAID: dict[str, tuple[int | str, ...]] = {"半": ("0.5", 30, 50), "半年": ("0.5", 6), "一刻": (15,), "三刻": (45,), "首": (1,)}
_SAID |= {"双": (2,), "俩": (2,), "翻番": (2, 100), "翻倍": (2, 100)}
_AFTER = re.compile(r"多?\s?(成|折|倍|打|世纪|点|时|)(.{0,2}?半)?")
_OPEN, _CLOSED = re.compile(r"[(（]\s?约?\s?$"), re.compile(r"[^()（）]{0,5}[里米度斤克磅顷升吨]\s?[)）]")
_READINGS: dict[str, Callable[[Decimal], Values]] = {
    "成": lambda value: (value, 10 * value),
    "折": lambda value: (value, 10 * value, 100 - 10 * value, 100 - value),  # what is paid, and what is not
    "倍": lambda value: (value, value + 1, 100 * value),
    "打": lambda value: (value, 12 * value),
    "世纪": lambda value: (value, 100 * (value - 1)),
    "点": _hour,
    "时": _hour,
}


def chinese(text: str) -> list[Number]:
    """The numbers of a line of Chinese, in order."""
    numbers: list[Number] = []
    for match in _CHINESE.finditer(text.translate(_FOLD)):
        numbers += next(read for kind, read in _CHINESE_READERS.items() if match[kind])(match)
    return numbers


def _chinese_number(match: re.Match[str]) -> Iterator[Number]:
    number = _figures(match) if match["number"] else _numeral(match[0])
    values = number.values
    if match["shared"]:
        values += _times(values, prod(map(_UNITS.__getitem__, match["shared"])))
    after = _AFTER.match(match.string, match.end())
    if after and isinstance(values[0], Decimal):
        if after[2]:
            values += _plus(values[:1], Decimal("0.5"))
        if after[1]:
            values = tuple(reading for value in values for reading in _READINGS[after[1]](value))
    converted = _OPEN.search(match.string[max(match.start() - 3, 0) : match.start()]) and _CLOSED.match(match.string, match.end())
    yield replace(number, values=values, digits=number.digits and not converted)


def _numeral(text: str) -> Number:
    """一百二十三, 二〇一九, 3.5亿; 三四百 is 300 or 400; digits in a row may be single ones."""
    approximate = re.sub(rf"([{_ONE}])[{_ONE}](?=[{_LARGE}])", r"\1", text)
    values = (_sum(text),) if approximate == text else (_sum(approximate), _sum(re.sub(rf"[{_ONE}]([{_ONE}][{_LARGE}])", r"\1", text)))
    parts = tuple(Number(text, (_sum(digit),), False) for digit in text) if set(text) <= set(_DIGIT) and text[1:] else ()
    return Number(text, values, re.search("[0-9]", text) is not None, parts)


def _sum(numeral: str) -> Value:
    """Digits and units in falling order; 万 and 亿 multiply what came before them."""
    total = below = digits = last = Decimal(0)
    for token in re.findall(rf"\d+(?:\.\d+)?|[{_LARGE}]", numeral.translate(_TO_ARABIC)):
        if token not in _UNITS:
            if len(token) > 30:
                return numeral
            digits = Decimal(token)
            continue
        unit = Decimal(_UNITS[token])
        if unit < 10**4:
            below += (digits or 1) * unit
        elif total >= unit:
            total += (below + digits) * unit
        else:
            total = (total + below + digits or 1) * unit
        below, digits, last = (below if unit < 10**4 else Decimal(0)), Decimal(0), unit
    if last > 10 and 0 < digits < 10 and "零" not in numeral[-2:]:  # 三千五 is 3500
        digits *= last / 10
    return total + below + digits


def _quotient(match: re.Match[str]) -> Iterator[Number]:
    bottom, top = _numeral(match["bottom"]), _numeral(match["top"])
    values = _fraction(top.values[0], bottom.values[0])
    yield Number(match[0], values, bottom.digits or top.digits, (bottom, top))


def _chinese_decade(match: re.Match[str]) -> Iterator[Number]:
    number = _numeral(match["decade"])
    if match["century"]:
        values = _plus(number.values, 100 * (_sum(match["century"]) - 1))
    else: 
        values = tuple(year for years in number.values for year in _years(years))
    yield replace(number, values=values)


_CHINESE_READERS: dict[str, Callable[[re.Match[str]], Iterator[Number]]] = {
    "clock": _clock,
    "pieces": _pieces,
    "word": lambda match: iter([Number(match[0], tuple(map(Decimal, _SAID[match[0]])), digits=False)]),
    "decade": _chinese_decade,
    "bottom": _quotient,
    "number": _chinese_number,
    "numeral": _chinese_number,
}
