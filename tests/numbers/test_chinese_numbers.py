"""Every way of writing a number in Chinese, as GB/T 15835-2011 writes numerals, and what it says."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import first, readings

from nmt.numbers.chinese import chinese

CHINESE_VALUES = [
    # Arabic digits
    ("３个人", 3), ("1,000 份", 1000), ("104500桶", 104500), ("2.75", 2.75), ("30%", 30), ("30％", 30), ("2½小时", 2.5),
    ("2½亿", 2.5 * 10**8), ("1¼万人", 12500), ("½杯", 0.5), ("2½千米", 2.5),
    ("4个亿", 4 * 10**8), ("3个多亿", 3 * 10**8), ("20个亿元以上的项目", 20), ("3个百分点", 3),
    ("3万23", 30023), ("3万5", 35000),
    ("3.5亿", 3.5 * 10**8), ("120万", 1200000), ("1.2万亿", 1.2 * 10**12), ("3千", 3000), ("3.4 亿", 3.4 * 10**8),
    ("1,000 万份", 10**7), ("1亿2000万", 120000000), ("3万5000", 35000), ("1000多万", 10**7), ("20余万", 200000),
    ("160 千米", 160), ("3千瓦", 3), ("第37位", 37), ("35mm", 35), ("1亿零5百", 100000500),
    # numerals
    ("一百二十三", 123), ("两千", 2000), ("廿五", 25), ("卅", 30), ("二〇一九年", 2019), ("二零一九年", 2019),
    ("十", 10), ("十五", 15), ("二十", 20), ("一百零五", 105), ("一百五", 150), ("三千五", 3500), ("两万五", 25000),
    ("一千零一夜", 1001), ("三百二十万", 3200000), ("一万两千亿", 1.2 * 10**12), ("九亿八千万", 980000000),
    ("三点五", 3.5), ("二十三点五", 23.5), ("三十点二", 30.2), ("一百点五", 100.5), ("一百一十点五", 110.5),
    ("一点五亿", 1.5 * 10**8), ("二十点五万", 205000), ("十点零五", 10.05), ("三十多万", 300000), ("百万", 10**6),
    ("三四百", 300), ("三四百", 400), ("七八十", 70), ("七八十", 80), ("零", 0), ("两", 2), ("第三", 3),
    # shares
    ("百分之三十", 30), ("百分之百", 100), ("百分之三点五", 3.5), ("百分之二十点五", 20.5), ("百分之0.3", 0.3),
    ("三成", 30), ("三成半", 35),
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


@pytest.mark.parametrize(("text", "expected"), CHINESE_VALUES)
def test_chinese_says(text: str, expected: float) -> None:
    assert Decimal(str(expected)) in readings(chinese(text))


@pytest.mark.parametrize(
    "text", ["下午三点", "百分之三十", "一半", "翻倍", "长 10 英里（约 16 公里）"]
)
def test_what_the_source_need_not_have_in_digits(text: str) -> None:
    assert 16 not in first(chinese(text))
    assert first(chinese(text.replace("10", ""))) == []


@pytest.mark.parametrize("text", ["Chapter", "maybe", "march on", "亿利公司", "万科", "岛", "米"])
def test_no_number_is_seen_in(text: str) -> None:
    assert first(chinese(text), digits=False) == []
    assert first(chinese(text)) == []


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
