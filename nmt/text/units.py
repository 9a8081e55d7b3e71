"""What numbers count, in English and in Chinese, as far as the words beside them tell.

What may be right is let pass: it is enough that a line has a unit, with whatever number.
"""

import re
from collections.abc import Iterator

# What is behind a number of English, and what Chinese has for it somewhere.
_MEASURES = r"""cm|centimet\w+ 厘米|公分|[cｃ][mｍ]  km|kilomet\w+ 公里|千米|[kｋ][mｍ]  met(?:er|re)s? 米|公尺|\dm\b
miles? [里哩迈]|mi\b  feet|foot [尺脚足兵]  kgs?|kilos?|kilogram\w* 公斤|千克|斤|kg  percent [%％成折半倍]|百?分[之百]
(?:°|degrees?)\s?(?:C|Celsius|Centigrade) [度°℃]  (?:°|degrees?)\s?(?:F|Fahrenheit) 华氏|[°℉]  yen [元円圆币¥￥]
dollars? [元圆块刀$]|(?<!日)币|美金  seconds [秒分]|\ds\b  minutes? [分刻半时時]|min  hours? [时時点钟天]
weeks? [周週期天月]|礼拜  months? [月季年]  years? [年岁歲载龄周届]|世纪"""
# What Chinese says with a number only where English has something like this, or never (?!): 4:0点, 8539岁, 8点半.
_CLAIMS = r"""\d?\d:\d(?:\d(?:[年天岁](?![会亮])|日(?![本出落]))|\s?点(?![球杀])) (?!)
(?:1[3-9]\d|[2-9]\d\d|[\d,]{4,})\s?多?岁 year|month|old|age|birth
[\d一二三四五六七八九十两]{1,3}\s?点半 30|half|thirty|½|\.5
[\d.]+\s?(?:摄氏|℃) celsius|centigrade|℃|(?:\d|[°º]|\bdeg(?:ree)?s?)\s?c\b|^(?!.*(?:fahrenheit|°\s?f\b))
(?:早上|上午|早晨|凌晨)\s?\d a\.?m\b|morning|(?<![\d:.])\d\d?(?::\d\d)?(?![\d:]|\s?[ap]\.?m\b)|^(?!.*\d\s?p\.?m\b)
(?:下午|傍晚)\s?\d p\.?m\b|afternoon|evening|(?<![\d:.])\d\d?(?::\d\d)?(?![\d:]|\s?[ap]\.?m\b)|^(?!.*\d\s?a\.?m\b)
(?:2[5-9]|[3-9]\d|[\d,]{3,})\s?点(?:钟|左右) point|dot|o'clock|[ap]\.?m\b|:\d|index|clos"""
# A number that only names: Room 839 is not 839个房间.
_NAMED = re.compile(r"(?ai:\b(?:call|dial|room|highway|flight)\s(\d{1,9})(?=[.,;!?]|$))")
# A time whose minutes stand somewhere else, or nowhere: 2:28 as 二点起床28天, 7:19 as 7点.
_TIME = re.compile(r"(?a:(?<![\d:.])\d?\d:(?=\d\d)0?([1-9]\d?)(?![\d:]|\.\d))")
_MINUTES = r"(?:[点點时時分比对對赔章篇卷页:：∶./–—-]\s?第?|零)0?{}(?!\d)|[十半刻差分]"
_COUNTED = re.compile(r"(?<![\d.,:])(\d{1,9})\s?(?:[个名辆岁年天点]|人(?!工))")


def _table(text: str, pattern: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Each two cells of a table: the first put into a pattern with its number, and the second."""
    cells = iter(text.split())
    return [(re.compile(pattern.format(cell)), re.compile(f"(?ai:{next(cells)})")) for cell in cells]


_ENGLISH = _table(_MEASURES, r"(?ai:(?<![\d.,])\d+(?:[.,]\d+)*[\s-]?(?:{})(?!\w))")
_CHINESE = _table(_CLAIMS, r"(?a:(?<![\d.,:])(?:{}))")


def miscounted(source: str, translation: str) -> Iterator[str]:
    """What is counted in one of two lines and not in the other: 180 centimeters that became 180米, or 119年 for 119."""
    for table, ours, theirs in ((_ENGLISH, source, translation), (_CHINESE, translation, source)):
        yield from (m[0] for counted, needed in table if (m := counted.search(ours)) and not needed.search(theirs))
    yield from (m for m in sorted(set(_TIME.findall(source))) if re.search(_MINUTES.format(m), translation) is None)
    if (named := _NAMED.search(source)) and source.count(named[1]) == 1:
        yield from (match[0] for match in _COUNTED.finditer(translation) if match[1] == named[1])
