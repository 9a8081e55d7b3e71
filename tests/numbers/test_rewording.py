"""Amounts that have one reading, in plain words; what may be something else stays."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.numbers.chinese import chinese
from nmt.numbers.english import english
from nmt.numbers.fractions import fractions
from nmt.numbers.rewording import reworded
from nmt.spans.masking import mask

REWORDED = [
    ("They raised $3tn and £20k.", "They raised $3 trillion and £20 thousand."),
    ("up at $45.6m. Then £1.1bn!", "up at $45.6 million. Then £1.1 billion!"),
    ("SEK 75m or 5m euros", "SEK 75 million or 5 million euros"),
    ("$3-5m, $3m-$5m", "$3-5 million, $3 million-$5 million"),
    ("from 940k to 1.1m", "from 940 thousand to 1.1 million"),
    ("20k followers, 5M users", "20 thousand followers, 5 million users"),
    ("Half a million people", "500 thousand people"),
    ("half a dozen eggs, 3 dozen, two dozen dogs", "6 eggs, 36, 24 dogs"),
    ("a quarter of a million", "250 thousand"),
    ("three quarters of a billion", "750 million"),
    ("a million and a half; two and a half million", "1.5 million; 2.5 million"),
    ("5 lakh people, ₹2.5 crore, 3 lakh crore", "500 thousand people, ₹25 million, 3 trillion"),
    ("One in three adults", "One third of adults"),
    ("two in five is ill", "two fifths is ill"),
    ("Nine out of ten nurses, 1 in 20 people", "90% of nurses, 5% of people"),
    ("1 1/2 cups, 2 3/4 miles", "1.5 cups, 2.75 miles"),
    ("Forty-two thousand fans", "42 thousand fans"),
    ("one and a quarter million, 2 and three quarters billion", "1.25 million, 2.75 billion"),
    ("at twenty past four, half past 6, a quarter past ten", "at 4:20, 6:30, 10:15"),
    ("nearly a quarter million", "nearly 250 thousand"),
    ("three and three-quarter inches, 2 and a quarter miles", "3.75 inches, 2.25 miles"),
    ("Ch. 4, Sec. 2.1 and pp. 3", "Chapter 4, Section 2.1 and pages 3"),
    ("tens of thousands of people, Hundreds of millions of cats", "数万 people, 数亿 cats"),
    ("tens of millions of them, hundreds of thousands of it", "数千万 them, 数十万 it"),
    ("two million three hundred thousand", "2.3 million"),
    ("one hundred and five thousand four hundred", "105,400"),
    ("on 24-Dec-2025, p. 48, pp. 3-5", "on 24 December 2025, page 48, pages 3-5"),
    ("a population of 5.4m, R85m", "a population of 5.4 million, ZAR 85 million"),
    ("one and a half years, four and a half percent", "1.5 years, 4.5 percent"),
    ("a year and a half late", "1.5 years late"),
    ("the forty-third edition on the twenty-second floor", "the 43rd edition on the 22nd floor"),
    ("in his mid-forties, in her late 30s", "about 45 years old, nearly 40 years old"),
    ("a man in his early twenties", "a man in his 20s"),
    (
        "She lost thirty pounds and weighs about 120 pounds.",
        "She lost thirty lb and weighs about 120 lb.",
    ),
    ("Mon-Fri 9 am-5 pm, Saturday to Sunday", "周一至周五 9am to 5pm, 周六至周日"),
    ("¥600 billion of Japan's debt", "JPY 600 billion of Japan's debt"),
    ("He is 6'2\" or 5' 10\".", "He is 6 feet 2 inches or 5 feet 10 inches."),
]
KEPT = [
    "10m long, 3 m high, 2.5m",
    "a 10k run, 4K screens, a 56k modem, 128K, 3M masks",
    "one million, one thousand, tens of thousands",
    "nineteen eighty-four, twenty-one, two hundred, one thousand and one nights",
    "ten past twenty, five past midnight, ten to five",
    "after 5 sec. 3 of them, Vol. 2, No. 7",
    "two and a half hours, a thirty-second delay, one twenty-fifth of it",
    "He paid thirty pounds, ¥50, Japan paid China ¥5 million",
    "300 K, 5 k, 7 T, 3t of coal",
    "a dozen, dozens of men, half of them, a quarter",
    "one in two days, 3 in 4 weeks, one in a million, one in ten thousand",
    "6.6 out of 10, 3 out of 5 stars, 10 in 2010, five in 1990, 2 in 3-D",
    "on 3 1/10/2020, 5 7/5, a 5' 13\" plank, the 1990s",
]


@pytest.mark.parametrize(("text", "plain"), REWORDED)
def test_it_is_reworded(text: str, plain: str) -> None:
    assert reworded(text) == plain
    assert reworded(plain) == plain


@pytest.mark.parametrize("text", KEPT)
def test_it_stays(text: str) -> None:
    assert reworded(text) == text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("two thirds of them", ["2/3"]),
        ("a two-thirds majority, one fifth", ["2/3", "1/5"]),
        ("a third of them, a fifth have", ["1/3", "1/5"]),
        ("three quarters of the land", ["3/4"]),
        ("one in five, 3 out of 4 people", ["1/5", "3/4"]),
        ("two third graders, three quarters of 2020, a fifth, three quarters of a million", []),
        ("3 out of 5 stars, 2 in 3 days", []),
    ],
)
def test_fractions_in_words_are_found(text: str, values: list[str]) -> None:
    assert [f"{found.top}/{found.bottom}" for found in fractions(text)] == values


SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
LETTERS = {"k": 3, "m": 6, "bn": 9, "tn": 12}
FIGURES = st.integers(1, 9999).map(lambda n: Decimal(n) / 10)


@given(FIGURES, st.sampled_from(sorted(LETTERS)), st.sampled_from(["$", "£", "€"]))
def test_an_amount_is_the_same_in_letters_in_words_and_in_chinese(
    figures: Decimal, letter: str, sign: str
) -> None:
    """The law of numbers: English as it is written, reworded, in Chinese as it is filled in, and read again."""
    value = figures.scaleb(LETTERS[letter])
    line = f"They paid {sign}{figures:f}{letter} for it."
    assert english(line)[0].values == (value,)
    assert english(reworded(line))[0].values[0] == value
    masked = mask(reworded(line), numbers="figures", into_chinese=True)
    (filled,) = masked.spans.values()
    assert chinese(f"他们付了{filled}美元。")[0].values[0] == value


@given(
    FIGURES,
    st.sampled_from(sorted(SCALES)),
    st.sampled_from(["HK${} {}", "₹{} {}", "CHF {} {}", "{} {} SEK", "{} {} rand"]),
)
def test_an_amount_of_another_currency_is_written_by_rule(
    figures: Decimal, scale: str, form: str
) -> None:
    amount = form.format(f"{figures:f}", scale)
    masked = mask(f"They paid {amount} for it.", numbers="figures", into_chinese=True)
    (filled,) = masked.spans.values()
    assert chinese(filled)[0].values[0] == figures.scaleb(SCALES[scale])
    assert filled.endswith(("港元", "卢比", "瑞士法郎", "瑞典克朗", "南非兰特"))


def test_figures_of_another_currency_stay_as_they_are_written() -> None:
    masked = mask(
        "A$1,250.50, 300 CHF, US$5; 10 USB ports, AU$ or so", numbers="figures", into_chinese=True
    )
    assert list(masked.spans.values()) == ["1,250.50澳元", "300瑞士法郎", "5美元", "10"]
    for other in (mask("A$1,250.50", numbers="figures"), mask("AED1 billion", into_chinese=True)):
        assert not any("元" in span or "姆" in span for span in other.spans.values())


# --- number words written by the rules of the grammar, which is another program than the one that reads ---

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def spelled(n: int, with_and: bool) -> str:
    """A whole number below a trillion in English words."""
    for scale, word in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if n >= scale:
            rest = n % scale
            joint = " and " if with_and and scale == 100 else " "
            return f"{spelled(n // scale, with_and)} {word}" + (
                joint + spelled(rest, with_and) if rest else ""
            )
    if n < 20:
        return ONES.split()[n]
    return TENS.split()[n // 10 - 2] + (f"-{ONES.split()[n % 10]}" if n % 10 else "")


@given(st.integers(1, 10**12 - 1), st.booleans())
def test_a_number_in_words_is_the_same_in_chinese(n: int, with_and: bool) -> None:
    """The law of numbers: words, reworded, as the placeholder is filled, and read again."""
    line = reworded(f"They saw {spelled(n, with_and)} birds.")
    assert n in {number.values[0] for number in english(line)}
    filled = list(mask(line, numbers="all", into_chinese=True).spans.values())
    if n % 1000 == 0 and n > 10**6:
        assert len(filled) == 1
    if filled:
        assert chinese(f"他们看见{filled[0]}只鸟。")[0].values[0] == n
