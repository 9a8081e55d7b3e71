"""Every way of writing a number, and what it says; Chinese numerals as GB/T 15835-2011 writes them."""

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.chinese_numbers import chinese
from nmt.text.english_numbers import english
from nmt.text.numbers import Number


def readings(numbers: list[Number]) -> set[Decimal]:
    return {
        value for number in numbers for part in (number, *number.parts) for value in part.values
    }


def first(numbers: list[Number], digits: bool = True) -> list[float]:
    """The likeliest meaning of each number in digits (or else in words)."""
    return [
        float(number.values[0]) for number in numbers if number.digits == digits and number.values
    ]


ENGLISH_DIGITS = [
    # separators, decimals, signs, units
    ("1,000 people", [1000]),
    ("12,345,678 people", [12345678]),
    ("1 000 people", [1000]),
    ("1\u202f000 people", [1000]),
    ("a rate of 2.75", [2.75]),
    ("1,234.5 km", [1234.5]),
    ("a .22 rifle", [0.22]),
    ("2½ hours", [2.5]),
    ("30% more", [30]),
    ("30 percent", [30]),
    ("0.5 per cent", [0.5]),
    ("1st, 2nd, 3rd and 44th", [1, 2, 3, 44]),
    ("5 km", [5]),
    ("30°C", [30]),
    ("35mm film", [35]),
    ("a 10-year-old boy", [10]),
    ("No. 7", [7]),
    ("#9", [9]),
    # scales and currencies
    ("$3.5 million", [3500000]),
    ("€5bn", [5 * 10**9]),
    ("£1.3m", [1300000]),
    ("US$14.7 billion", [14.7 * 10**9]),
    ("20K", [20000]),
    ("2 trillion", [2 * 10**12]),
    ("3 hundred thousand", [300000]),
    ("5 dozen", [60]),
    ("$3.5-million", [3500000]),
    ("the 7th billion citizen", [7 * 10**9]),
    ("in 1000 B.C.", [1000]),
    ("sold for £3.6bn.", [3.6 * 10**9]),
    # ranges, scores, ratios, lists
    ("10-15 people", [10, 15]),
    ("1990–95", [1990, 95]),
    ("won 3-2", [3, 2]),
    ("won 6-4, 7-6", [6, 4, 7, 6]),
    ("1 in 5", [1, 5]),
    # dates and times
    ("2019-03-04", [2019, 3, 4]),
    ("March 4, 2019", [3, 4, 2019]),
    ("4 March", [4, 3]),
    ("on the 4th of May", [4]),
    ("Sept. 11", [9, 11]),
    ("the 1990s", [1990]),
    ("the '90s", [90]),
    ("the 90's", [90]),
    ("3:30 p.m.", [3, 30]),
    ("15:30", [15, 30]),
    ("3pm", [3]),
    ("4.40 am", [4, 40]),
    ("11:00", [11]),
    ("10 o'clock", [10]),
    # fractions, versions, telephones
    ("1/4 of it", [25]),
    ("call 555-1234", [555, 1234]),
    ("６０ people", [60]),
]
ENGLISH_READINGS = [
    ("10m", 10), ("10m", 10**7), ("5k", 5000), ("5k", 5),
    ("3-5 million", 3 * 10**6), ("3 to 5 million", 3), ("1995-96", 1996), ("1995/96", 1996),
    ("the '90s", 1990), ("the 1900s", 20), ("3 p.m.", 15), ("12 a.m.", 0), ("12 a.m.", 24), ("15:30", 3), ("5-6pm", 17),
    ("2/3", 2), ("2/3", 3), ("3/4/2019", 3), ("3/4/2019", 4), ("3/4/2019", 2019), ("3/4/19", 2019),
    ("9/11", 9), ("9/11", 11), ("9/11", 911), ("2 1/2", 2.5), ("6-1/2 inches", 6.5), ("0230 UTC", 30),
    ("1.2.3", 1), ("1.2.3", 3),
    ("1995-96 season", 96), ("March 21 400 people", 400),
]  # fmt: skip
ENGLISH_WORDS = [
    ("seven days", 7), ("twenty-five", 25), ("a hundred", 100), ("two hundred and fifty", 250), ("a dozen", 12),
    ("two dozen", 24), ("three million", 3 * 10**6), ("another six million", 6 * 10**6), ("half a million", 500000),
    ("two hundred and fifty thousand", 250000), ("hundreds of thousands", 100000), ("two and a half", 2.5),
    ("two decades", 20), ("two centuries", 2), ("fiftieth", 50), ("in his thirties", 30), ("the fourth", 4),
    ("thirteenth", 13), ("nineteen eighty-four", 1984), ("in March", 3), ("in Dec.", 12), ("Sept", 9), ("twice", 2),
    ("doubled", 2), ("tenfold", 10), ("half", 0.5), ("half", 50), ("a quarter", 25), ("a quarter", 0.25), ("noon", 12),
    ("midnight", 0), ("three-nil", 0), ("a person", 1), ("the last century", 20), ("a fortnight", 14),
    ("World War II", 2), ("Apollo X", 10), ("COVID-19", 19), ("G20", 20), ("an Il-76", 76), ("in FY19", 2019),
]  # fmt: skip
CHINESE_VALUES = [
    # Arabic digits
    ("３个人", 3), ("1,000 份", 1000), ("104500桶", 104500), ("2.75", 2.75), ("30%", 30), ("30％", 30), ("2½小时", 2.5),
    ("4个亿", 4 * 10**8), ("3个多亿", 3 * 10**8), ("20个亿元以上的项目", 20), ("3个百分点", 3),
    ("3.5亿", 3.5 * 10**8), ("120万", 1200000), ("1.2万亿", 1.2 * 10**12), ("3千", 3000), ("3.4 亿", 3.4 * 10**8),
    ("1,000 万份", 10**7), ("1亿2000万", 120000000), ("3万5000", 35000), ("1000多万", 10**7), ("20余万", 200000),
    ("160 千米", 160), ("3千瓦", 3), ("第37位", 37), ("35mm", 35), ("1亿零5百", 100000500),
    # numerals
    ("一百二十三", 123), ("两千", 2000), ("廿五", 25), ("卅", 30), ("二〇一九年", 2019), ("二零一九年", 2019),
    ("十", 10), ("十五", 15), ("二十", 20), ("一百零五", 105), ("一百五", 150), ("三千五", 3500), ("两万五", 25000),
    ("一千零一夜", 1001), ("三百二十万", 3200000), ("一万两千亿", 1.2 * 10**12), ("九亿八千万", 980000000),
    ("三点五", 3.5), ("二十三点五", 23.5), ("一点五亿", 1.5 * 10**8), ("三十多万", 300000), ("百万", 10**6),
    ("三四百", 300), ("三四百", 400), ("七八十", 70), ("七八十", 80), ("零", 0), ("两", 2), ("第三", 3),
    # shares
    ("百分之三十", 30), ("百分之百", 100), ("百分之三点五", 3.5), ("百分之0.3", 0.3), ("三成", 30), ("三成半", 35),
    ("十分之一", 0.1), ("四分之一", 25), ("三分之二", 2), ("1/4", 25), ("2/3", 2), ("千分之三", 0.003), ("七折", 70),
    ("七折", 30), ("75折", 75), ("8.5折", 85), ("半", 0.5), ("一半", 50), ("五分之一", 5),
    # multiples
    ("三倍", 3), ("两倍", 200), ("增加两倍", 3), ("一倍", 2), ("翻倍", 2), ("翻番", 100), ("3打", 36), ("两打", 24),
    ("双", 2), ("一个半", 1.5), ("两年半", 2.5), ("6个半小时", 6.5), ("半年", 6), ("首次", 1),
    # dates and times
    ("2019年3月4日", 2019), ("2019年3月4日", 3), ("2019年3月4日", 4), ("十二月", 12), ("三月四日", 4),
    ("19世纪", 19), ("19世纪", 1800), ("十九世纪", 19), ("20世纪90年代", 1990), ("20 世纪 80 年代", 1980),
    ("上世纪九十年代", 1990), ("二十世纪九十年代", 1990), ("90年代", 90), ("90年代", 1990), ("19世纪30年代", 1830),
    ("20世纪六七十年代", 1960), ("1990年代", 1990), ("1995-96赛季", 1996), ("60和70年代", 1960),
    ("下午3点", 3), ("15时30分", 15), ("15时30分", 30), ("15时", 3), ("下午3点半", 30), ("三点一刻", 15),
    ("三点三刻", 45), ("晚上8点", 20), ("3：30", 30), ("十点三十分", 30), ("三点五分", 5), ("9·11", 11), ("9.11", 11),
    # ranges
    ("3到5万", 30000), ("3到5万", 3), ("3-4百万", 3 * 10**6), ("三到五万", 30000), ("三到十万", 30000),
    ("2017~18年", 2018), ("36x24mm", 24), ("3比2", 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ENGLISH_DIGITS)
def test_english_digits_say(text: str, expected: list[float]) -> None:
    assert first(english(text)) == expected


@pytest.mark.parametrize(("text", "expected"), ENGLISH_READINGS)
def test_english_digits_may_say(text: str, expected: float) -> None:
    assert Decimal(str(expected)) in readings([number for number in english(text) if number.digits])


@pytest.mark.parametrize(("text", "expected"), ENGLISH_WORDS)
def test_english_words_say(text: str, expected: float) -> None:
    assert Decimal(str(expected)) in readings(english(text))
    assert first(english(text)) == []


@pytest.mark.parametrize(("text", "expected"), CHINESE_VALUES)
def test_chinese_says(text: str, expected: float) -> None:
    assert Decimal(str(expected)) in readings(chinese(text))


@pytest.mark.parametrize(
    "text", ["下午三点", "百分之三十", "一半", "翻倍", "长 10 英里（约 16 公里）"]
)
def test_what_the_source_need_not_have_in_digits(text: str) -> None:
    assert 16 not in first(chinese(text))
    assert first(chinese(text.replace("10", ""))) == []


@pytest.mark.parametrize(
    "text", ["亿利公司", "万科", "半岛"[1:], "Chapter", "maybe", "march on", "千米"[1:]]
)
def test_no_number_is_seen_in(text: str) -> None:
    assert first(chinese(text), digits=False) == []
    assert first(english(text)) == []


# --- numerals written by the rules of the grammar, which is another program than the one that reads ---

UNITS = ("", "十", "百", "千")


def below_ten_thousand(n: int) -> str:
    text = ""
    for place, digit in zip(range(3, -1, -1), f"{n:04}", strict=True):
        if digit != "0":
            text += "零一二三四五六七八九"[int(digit)] + UNITS[place]
        elif text and not text.endswith("零"):
            text += "零"
    return text.rstrip("零")


def numeral(n: int) -> str:
    """As a Chinese says it: 十五, 一百零五, 三万零二十."""
    text = ""
    for unit, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        section, n = divmod(n, unit)
        if section:
            zero = "零" if text and section < 1000 else ""
            text += zero + below_ten_thousand(section) + name
    text = text or "零"
    return text.removeprefix("一") if text.startswith("一十") else text


def written(n: int) -> list[str]:
    """The ways of writing n in Chinese."""
    ways = [
        str(n),
        f"{n:,}",
        numeral(n),
        numeral(n).replace("二千", "两千").replace("二万", "两万"),
    ]
    ways.append(
        "".join("〇一二三四五六七八九"[int(digit)] for digit in str(n)) if n > 9 else numeral(n)
    )
    ways.append(str(n).translate({48 + digit: 0xFF10 + digit for digit in range(10)}))
    ways += [
        f"{Decimal(n) / unit:f}{name}" for unit, name in ((10**4, "万"), (10**8, "亿")) if n >= unit
    ]
    return ways


numbers = st.integers(0, 10**4) | st.integers(0, 10**12 - 1)


@given(numbers)
def test_a_number_is_read_in_whatever_way_it_is_written(n: int) -> None:
    for way in written(n):
        assert n in readings(chinese(f"共有{way}个。")), way


@given(numbers)
def test_a_number_is_read_as_one_number(n: int) -> None:
    for way in written(n):
        assert len(chinese(f"共有{way}个。")) == 1, way


@given(numbers, st.sampled_from(["{}", "{:,}", "${}", "{}%", "{} km", "{}-year-old"]))
def test_an_english_number_is_read(n: int, form: str) -> None:
    assert first(english(f"There are {form.format(n)} here")) == [n]


@given(
    st.text("0123456789０½.,:/- 一二十百万亿点分之半年代世纪多零折倍（）a-zKm%'&#;", max_size=40)
    | st.text(max_size=40)
)
def test_any_text_is_read(text: str) -> None:
    english(text)
    chinese(text)


HOSTILE = [
    "9", "1,", "111,", "1.", "1/", "1:00 ", "1 000 ", "一", "万", "一万", "三百", "1万", "十分之", "点", "半", "20世纪",
    "A-", "two ", "two hundred and ", "million ", "3-", "3 to ", "（", "'90s", "零", "Jan 1 ", "½", "三四",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_lines_take_linear_time(unit: str) -> None:
    line = unit * (100_000 // len(unit))
    start = time.process_time()
    english(line)
    chinese(line)
    assert (
        time.process_time() - start < 20
    )  # seconds; it takes one or two, and would take minutes if it were quadratic
