"""What tests of numbers look at: the values that a line may state."""

from decimal import Decimal

from nmt.numbers.reading import Number


def readings(numbers: list[Number]) -> set[Decimal]:
    return {
        value for number in numbers for part in (number, *number.parts) for value in part.values
    }


def first(numbers: list[Number], digits: bool = True) -> list[float]:
    """The likeliest meaning of each number in digits (or else in words)."""
    return [
        float(number.values[0]) for number in numbers if number.digits == digits and number.values
    ]
