"""Protected spans: what a machine reads, and a translation must repeat byte for byte.

A span travels through the model as a numbered placeholder, a character of Unicode's private use area that every
tokenizer makes a token of its own, and comes back in its place.
"""

import re
from collections import Counter
from dataclasses import dataclass

from nmt.text.english_numbers import english

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CHINESE = f"{HAN}（《〈【「『）》〉】」』，。；：？！、“”‘’…—"  # what makes a neighbour Chinese, and ends a URL
PLACEHOLDERS = tuple(map(chr, range(0xE010, 0xE01A)))
_PLACEHOLDER = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"

# Without groups of its own, the kinds that begin alike in the order in which they are to be tried. Repetitions have
# bounds where a match could begin anywhere: a line of megabytes would otherwise take the square of its length.
PATTERN = (
    r"(?<!`)`{1,3}[^`]{1,999}`{1,3}"  # code
    r"|</?[A-Za-z][^<>]*>|<!--.{0,999}?-->|&(?:#\d{1,9}|#x[\da-fA-F]{1,9}|\w{1,32});"  # tags, entities
    r"|\$?\{[^{}\s]*\}|%\(\w+\)[-+ #0]{0,5}\d{0,5}(?:\.\d{1,5})?[a-zA-Z]"  # placeholders
    r"|%[-+#0]{0,5}\d{0,5}(?:\.\d{1,5})?[sdiufgxXc]\b"
    r"|(?:(?<![A-Za-z])[A-Za-z][A-Za-z\d+.-]{0,30}://|www\.|mailto:)"  # URLs
    rf"[^\s<>\"{CHINESE}]*[^\s<>\"{CHINESE}.,;:!?)\]]"
    r"|(?a:(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63})+)"  # e-mail
    r"|(?a:(?<![A-Za-z\d.])(?:[A-Za-z]:\\|\.{0,2}/|~/)[\w.~@%+=/\\-]*[\w/\\])"  # paths
    r"|(?a:(?<![\w@#])[@#][A-Za-z_]\w*)"  # mentions, hashtags
    r"|(?a:(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.(?:com|org|net|edu|gov|io|cn|uk|de|fr|jp|ru|info|dev|app"
    r"|py|js|ts|txt|md|json|xml|html?|csv|pdf|zip|gz|exe|dll|cs|cpp|sh|ya?ml)\b(?:/[\w.~%+=/-]*)?)"  # domains, files
    r"|(?a:\b\w{1,99}(?:(?:::|->|\.)\w{1,99}){0,9}\(\))"  # calls
)
_LONG_NUMBERS = (
    r"(?a:(?<![\w.,:/+-])(?:"
    r"\+?\d{1,4}(?:[ -]\d{3,4}){2,4}"  # telephone numbers
    r"|\d{1,3}(?:,\d{3})+|\d{5,}|0x[\da-fA-F]{1,64}|#\d{2,}|[A-Z]{2,9}-?\d+"  # long numbers, tickets, MP3
    r"|(?:v\d+(?:\.\d+)+|\d+(?:\.\d+){2,})(?:-(?!to-|and-)(?=[\w.-]{0,63}\d)[a-z][\w.-]{0,63}(?<=\w))?"  # versions
    r")(?![\w]|[.,:/-]\d))"
)
_PICTURES = "\u2600-\u27bf\U0001f1e6-\U0001faff"
_EMOJI = f"(?:[{_PICTURES}][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+"
_SPAN = re.compile(f"{_PLACEHOLDER}|{PATTERN}|{_LONG_NUMBERS}|{_EMOJI}")
NUMBER_STARTS = r"(?<![\w.,:/+#-])"
# 37 of 37-year-old, 10 of 10th
NUMBER_ENDS = r"(?!(?!(?:st|nd|rd|th|s)\b)\w|-(?![a-z]{3})|[.,:/]\d)"
_NUMBER = rf"(?a:{NUMBER_STARTS}\d+(?:[.,:]\d+)*{NUMBER_ENDS})"
_SCALED = rf"(?a:{NUMBER_STARTS}(?:\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,9}})(?:\.\d{{1,9}})? (?:[mb]|tr)illion\b)"
_SCALES = {"万亿": 12, "亿": 8, "万": 4}
_SPAN_OR_NUMBER = re.compile(f"{_SCALED}|{_SPAN.pattern}|{_NUMBER}")
_PATTERNS = {False: _SPAN, True: _SPAN_OR_NUMBER}  # by whether numbers are asked for
_EXACT = re.compile(f"{_PLACEHOLDER}|{PATTERN}|{_EMOJI}")
_RUN_TOGETHER = re.compile("[A-Za-z0-9]{2}")
# Without any of these a text has no span.
_SUSPICIOUS = re.compile(
    rf"[`<&{{%/@#\\(+{_PICTURES}]|\d[\d,.-]+\d|[.:-]\w|[A-Z]\d|0x|{_PLACEHOLDER}"
)


@dataclass(frozen=True)
class Masked:
    """A text with placeholders, and what the first, second … of PLACEHOLDERS stands for."""

    text: str
    spans: tuple[str, ...]

    def fill(self, text: str) -> str:
        """Put the spans into a text that has placeholders; letters and digits beside one are set apart from its own."""
        stands_for, filled = dict(zip(PLACEHOLDERS, self.spans, strict=False)), ""
        for place, piece in enumerate(re.split(f"({_PLACEHOLDER})", text)):
            piece = stands_for.get(piece, "") if place % 2 else piece
            filled += f" {piece}" if _RUN_TOGETHER.match(filled[-1:] + piece[:1]) else piece
        return filled

    def kept(self, text: str) -> bool:
        """Whether each of the placeholders stands in a text exactly once, and no other does."""
        return sorted(re.findall(_PLACEHOLDER, text)) == list(PLACEHOLDERS[: len(self.spans)])


def find(text: str, numbers: bool = False) -> list[str]:
    """The protected spans of a text, and its other numbers if asked for, in order."""
    return _PATTERNS[numbers].findall(text) if numbers or _SUSPICIOUS.search(text) else []


def mask(text: str, numbers: bool = False) -> Masked:
    """Replace the spans of a text, and its other numbers if asked for, by placeholders; 600 million stands for 6亿.

    What there is no placeholder for stays, unless it is one itself.
    """
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        if len(spans) == len(PLACEHOLDERS):
            return "" if match[0] in PLACEHOLDERS else match[0]
        spans.append(_in_chinese(match[0]))
        return PLACEHOLDERS[len(spans) - 1]

    return Masked(
        _PATTERNS[numbers].sub(hide, text) if numbers or _SUSPICIOUS.search(text) else text,
        tuple(spans),
    )


def _in_chinese(span: str) -> str:
    """600 million as 6亿; others as they are."""
    if re.fullmatch(_SCALED, span) is None:
        return span
    value = english(span)[0].values[0]
    unit, zeros = next(
        ((unit, zeros) for unit, zeros in _SCALES.items() if value >= 10**zeros), ("", 0)
    )
    return f"{value.scaleb(-zeros).normalize():f}{unit}"


def mask_pair(src: str, tgt: str, first: int, numbers: bool = False) -> tuple[str, str] | None:
    """Replace what stands once on each side, in both alike, numbered from `first` on. None: there is nothing."""
    ours = Counter(find(src, numbers))
    theirs = Counter(find(tgt, numbers)) if ours else ours
    shared = [span for span, count in ours.items() if count == theirs[span] == 1]
    if not shared:
        return None
    number = {
        span: (first + i) % len(PLACEHOLDERS) for i, span in enumerate(shared[: len(PLACEHOLDERS)])
    }

    def hide(match: re.Match[str]) -> str:
        return PLACEHOLDERS[number[match[0]]] if match[0] in number else match[0]

    return _PATTERNS[numbers].sub(hide, src), _PATTERNS[numbers].sub(hide, tgt)


def lost(source: str, translation: str) -> list[str]:
    """The spans of a source that its translation does not have as often, in order; numbers may be written otherwise."""
    missing = Counter(_EXACT.findall(source) if _SUSPICIOUS.search(source) else ())
    for span in missing:
        missing[span] -= translation.count(span)
    return [span for span, count in missing.items() if count > 0]
