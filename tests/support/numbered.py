"""Masked text as a test can spell it."""

from nmt.spans.masking import mask
from nmt.text.vocab import JOINT, PLACEHOLDERS


def assert_masked(line: str, spelt: str) -> None:
    """The line is masked as `spelt`, with the number of each place, and = where a space is put in; it comes back."""
    masked = mask(line)
    text = masked.text.replace(JOINT, "=")
    for number, placeholder in enumerate(PLACEHOLDERS):
        text = text.replace(placeholder, str(number))
    assert text == spelt
    assert masked.fill(masked.text) == line
