"""Masked text as a test can spell it: with the number of each place."""

from nmt.text.placeholders import PLACEHOLDERS


def numbered(text: str) -> str:
    """The text with the number of each placeholder, from 0, in its place."""
    for number, placeholder in enumerate(PLACEHOLDERS):
        text = text.replace(placeholder, str(number))
    return text
