"""Other people's text in a page: escaped, and with what would be invisible or steer the page made visible."""

import unicodedata
from html import escape

# Controls, and marks that turn the direction of the text after them.
_DIRECTIONS = {
    0x061C,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
}


class _Visible(dict[int, str]):
    """What `str.translate` puts for a character."""

    def __missing__(self, code: int) -> str:
        self[code] = _shown(code)
        return self[code]


def _shown(code: int) -> str:
    character = chr(code)
    if code < 0x20 or code == 0x7F:
        return chr(0x2421) if code == 0x7F else chr(0x2400 + code)
    if 0xD800 <= code < 0xE000:  # half a character, as a file's name may hold
        return "\ufffd"
    is_no_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0
    is_hidden = (
        is_no_character
        or code in _DIRECTIONS
        or unicodedata.category(character) in ("Cc", "Zl", "Zp")
    )
    return f"⟨U+{code:04X}⟩" if is_hidden else character


_VISIBLE = _Visible()


def visible(text: str) -> str:
    """Text of one line in which controls are pictures (U+2400 …) and marks of direction are named."""
    return text.translate(_VISIBLE)


def html_of(text: str) -> str:
    """Visible text, escaped for an element or an attribute in quotes."""
    return escape(visible(text))
