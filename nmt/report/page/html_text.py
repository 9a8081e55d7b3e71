"""Other people's text in a page: escaped, and with what would be invisible or steer the page made visible."""

import unicodedata
from html import escape

# Controls, line ends, and formats: marks that turn the direction of text, spaces without width, soft hyphens.
_HIDDEN = ("Cc", "Cf", "Zl", "Zp")
_JOINERS = (0x200C, 0x200D)  # they shape what is beside them, such as an emoji of several


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
    is_hidden = unicodedata.category(character) in _HIDDEN and code not in _JOINERS
    is_hidden = is_hidden or is_no_character
    return f"⟨U+{code:04X}⟩" if is_hidden else character


class _Escaped(_Visible):
    """The same for an element or an attribute in quotes: escaped as well, in one go."""

    def __missing__(self, code: int) -> str:
        self[code] = escape(_shown(code))
        return self[code]


_VISIBLE = _Visible()
_ESCAPED = _Escaped()


def visible(text: str) -> str:
    """Text of one line in which controls are pictures (U+2400 …) and other hidden characters are named."""
    return text.translate(_VISIBLE)


def html_of(text: str) -> str:
    """Visible text, escaped for an element or an attribute in quotes."""
    return text.translate(_ESCAPED)
