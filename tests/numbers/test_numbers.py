"""The arithmetic that English and Chinese numbers share, and what holds of every line in both."""

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.numbers.arithmetic import (
    Values,
    decade_values,
    figures_value,
    hour_values,
    ratio,
    spoken_terms,
    year_values,
)
from nmt.numbers.chinese import chinese
from nmt.numbers.english import english


def decimals(*values: float) -> Values:
    return tuple(Decimal(str(value)) for value in values)


@pytest.mark.parametrize(
    ("figures", "value"),
    [("1000", 1000), ("1,000", 1000), ("1 000", 1000), ("2.5", 2.5), ("2½", 2.5), ("¾", 0.75)],
)
def test_figures_are_read(figures: str, value: float) -> None:
    assert (figures_value(figures),) == decimals(value)


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        ("3", [3]),
        ("3 ten", [30]),
        ("ten 5", [10, 5]),
        ("2 hundred 5 ten thousand", [250 * 1000]),
        ("1 thousand 2 hundred", [1000, 200]),
        ("0 5", [5]),
        ("1 9 8 4", [1, 9, 8, 4]),
    ],
)
def test_a_factor_multiplies_all_that_is_smaller_and_before_it(
    words: str, terms: list[int]
) -> None:
    factors = {"ten": 10, "hundred": 100, "thousand": 1000}
    assert spoken_terms(words.split(), factors, Decimal) == terms


def test_a_fraction_is_a_percentage_and_a_quotient_if_there_is_one() -> None:
    assert ratio(Decimal(1), Decimal(4)) == decimals(25, 0.25)
    assert ratio(Decimal(1), Decimal(0)) == ()


@pytest.mark.parametrize(
    ("hour", "values"),
    [(3, (3, 15)), (15, (15, 3)), (12, (12, 0, 24)), (0, (0, 12, 24)), (25, (25,))],
)
def test_an_hour_is_on_clocks_of_12_and_24(hour: int, values: tuple[int, ...]) -> None:
    assert hour_values(Decimal(hour)) == values


def test_a_year_may_lack_its_century() -> None:
    assert year_values("19") == decimals(19, 2019, 1919)
    assert year_values("2019") == decimals(2019)


def test_a_decade_may_lack_its_century_or_be_one() -> None:
    assert decade_values(Decimal(90)) == decimals(90, 1990, 2090, 95, 100)
    assert decade_values(Decimal(1990)) == decimals(1990)
    assert decade_values(Decimal(1900)) == decimals(1900, 20)


# --- every line ---


@given(
    st.text("0123456789０½.,:/- 一二十百万亿点分之半年代世纪多零折倍（）a-zKm%'&#;", max_size=40)
    | st.text(max_size=40)
)
def test_any_text_is_read(text: str) -> None:
    english(text)
    chinese(text)


@pytest.mark.parametrize(
    ("number", "scale", "zeros"),
    [("5 ", "trillion ", 12), ("3 to 5 ", "trillion ", 12), ("3到5", "亿", 8), ("三点五", "亿", 8)],
)
def test_a_number_of_any_size_is_read(number: str, scale: str, zeros: int) -> None:
    """Its value would have more digits than a Decimal holds, a million."""
    line = number + scale * (1_000_000 // zeros + 2)
    english(line)
    chinese(line)


HOSTILE = [
    "9", "1,", "111,", "1.", "1/", "1:00 ", "1 000 ", "一", "万", "一万", "三百", "1万", "十分之", "点", "半", "20世纪",
    "A-", "two ", "two hundred and ", "million ", "3-", "3 to ", "（", "'90s", "零", "Jan 1 ", "½", "三四",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_lines_take_linear_time(unit: str) -> None:
    line = unit * (10_000 // len(unit))
    start = time.process_time()
    english(line)
    chinese(line)
    seconds = time.process_time() - start
    assert (
        seconds < 2
    )  # it takes a tenth of that, and would take twice as long if it were quadratic
