"""Which amounts of a line of English name a currency."""

import pytest

from nmt.numbers.currencies import currencies


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("$5, HK$ 6 and 7 CHF", ["$", "HK$", "CHF"]),
        ("5 €, 1.50€ or 2,000 £.", ["€", "€", "£"]),
        ("It costs 5 $10", ["$"]),
        ("abc123$, ^a1$, B2$ and the 2 $-signs", []),
        ("Let $x_1$ be $x^2$", []),
    ],
)
def test_a_sign_is_before_or_behind_its_figures(text: str, signs: list[str]) -> None:
    assert [sign for sign, _ in currencies(text)] == signs
