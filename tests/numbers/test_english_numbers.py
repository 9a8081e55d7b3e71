"""Every way of writing a number in English, and what it says."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import first, readings

from nmt.numbers.english import english

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
    ("3 millions", [3 * 10**6]),
    ("5 hundred thousands", [500000]),
    ("2 dozens of them", [24]),
    ("2 1/0", [2, 10]),  # no fraction, so a date or the like: 9/11 is 911
    ("$3.5-million", [3500000]),
    ("the 7th billion citizen", [7 * 10**9]),
    ("in 1000 B.C.", [1000]),
    ("sold for £3.6bn.", [3.6 * 10**9]),
    # ranges, scores, ratios, lists
    ("10-15 people", [10, 15]),
    ("1990–95", [1990, 95]),
    ("won 3-2", [3, 2]),
    ("won 6-4, 7-6", [6, 4, 7, 6]),
    ("1 in 5", [20]),
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
    ("Seventy-five per cent", 75),
    ("adopted by three votes to none", 0),
    ("seven days", 7), ("twenty-five", 25), ("a hundred", 100), ("two hundred and fifty", 250), ("a dozen", 12),
    ("two dozen", 24), ("three million", 3 * 10**6), ("another six million", 6 * 10**6), ("half a million", 500000),
    ("two hundred and fifty thousand", 250000), ("hundreds of thousands", 100000), ("two and a half", 2.5),
    ("two decades", 20), ("two centuries", 2), ("fiftieth", 50), ("in his thirties", 30), ("the fourth", 4),
    ("thirteenth", 13), ("nineteen eighty-four", 1984), ("in March", 3), ("in Dec.", 12), ("Sept", 9), ("twice", 2),
    ("doubled", 2), ("tenfold", 10), ("half", 0.5), ("half", 50), ("a quarter", 25), ("a quarter", 0.25), ("noon", 12),
    ("midnight", 0), ("three-nil", 0), ("a person", 1), ("the last century", 20), ("a fortnight", 14),
    ("World War II", 2), ("Apollo X", 10), ("COVID-19", 19), ("G20", 20), ("an Il-76", 76), ("in FY19", 2019),
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


@pytest.mark.parametrize("text", ["Chapter", "maybe", "march on", "亿利公司", "万科", "岛", "米"])
def test_no_number_is_seen_in(text: str) -> None:
    assert first(english(text)) == []


numbers = st.integers(0, 10**4) | st.integers(0, 10**12 - 1)


@given(numbers, st.sampled_from(["{}", "{:,}", "${}", "{}%", "{} km", "{}-year-old"]))
def test_an_english_number_is_read(n: int, form: str) -> None:
    assert first(english(f"There are {form.format(n)} here")) == [n]
