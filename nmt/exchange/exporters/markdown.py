"""Text of others in a page of Markdown."""

import re

_MEANINGFUL = re.compile(r"([\\`*_\[\]<>|#~])")


def escaped(text: str) -> str:
    """Text as Markdown shows it, on one line."""
    one_line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return _MEANINGFUL.sub(r"\\\1", one_line)
