"""What numbers count, in English and in Chinese, as far as the words beside them tell."""

import re
from collections.abc import Iterator

# What is behind a number of English, and what Chinese has for it somewhere.
_MEASURES = r"""cm|centimet\w+ 厘米|公分|cm  km|kilomet\w+ 公里|千米|km  met(?:er|re)s? 米|公尺  miles? 英里|哩
feet|foot 尺  kgs?|kilos?|kilogram\w* 公斤|千克|斤|kg  (?:°|degrees?)\s?C\w* [度°℃]  (?:°|degrees?)\s?F\w* 华氏|[°℉]
percent [%％成折半倍]|百?分[之百]  dollars? [元圆块刀$]|美金  yen [元円圆]  seconds? [秒分]  minutes? [分刻半时]
hours? [时点钟天]  weeks? [周期天月]|礼拜  months? [月季年]  years? [年岁载龄周]|世纪"""
# What Chinese says with a number only where English has something like this: 2:28日, 100,000点, 8539岁, 8点半, 119年.
_CLAIMS = r"""\d?\d:\d\d\s?[年天日岁个次辆] (?!)  \d{3,}\s?多?岁 \b(?:year|month|old|age|birth|be|live)
[\d一二三四五六七八九十两]{1,3}\s?点半 30|half|thirty  (?:2[5-9]|[3-9]\d|[\d,]{3,})\s?点 point|o'clock|[ap]\.?m\b|:\d
\d{3}\s?年 year|centur|decade|\b(?:AD|BCE?|B\.C|A\.D|(?:in|of|since|from|to|by)\s\d{3})\b"""
# What has a number and is not counted: Room 839 is not 839个房间.
_NAMED = re.compile(r"(?ai:\b(?:call|dial|room|highway|flight)\s(\d{1,9})(?=[.,;!?]|$))")
_COUNTED = re.compile(r"(?<![\d.,:])(\d{1,9})\s?[个名辆次人岁年天点]")


def _signs(table: str, said: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Each two cells of a table: what is `said` with a number, and what is there then on the other side."""
    cells = iter(table.split())
    return [(re.compile(said.format(cell)), re.compile(f"(?ai:{next(cells)})")) for cell in cells]


_ENGLISH = _signs(_MEASURES, r"(?ai:(?<![\d.,])\d[\d.,]{{0,30}}[\s-]?(?:{})(?!\w))")
_CHINESE = _signs(_CLAIMS, r"(?a:(?<![\d.,:])(?:{}))")


def miscounted(source: str, translation: str) -> Iterator[str]:
    """What is counted in one of two lines and not in the other: 180 centimeters that became 180米, or 119年 for 119."""
    for signs, ours, theirs in ((_ENGLISH, source, translation), (_CHINESE, translation, source)):
        found = ((said.search(ours), needed) for said, needed in signs)
        yield from (match[0] for match, needed in found if match and needed.search(theirs) is None)
    named = set(_NAMED.findall(source))
    yield from (match[0] for match in _COUNTED.finditer(translation) if match[1] in named)
