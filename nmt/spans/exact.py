"""What has to come through byte for byte: which spans of a text these are, and which of them a translation lost."""

import re
from collections import Counter
from functools import cache, lru_cache

from nmt.spans.codes import CODE
from nmt.spans.patterns import EMOJI, EMOTICON, LONGEST_WORD, PATTERN, PICTURES
from nmt.text.scripts import CHINESE_WORD, FOREIGN_WORDS
from nmt.text.vocab import PLACEHOLDERS

PLACEHOLDER = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"
_EXACT_SPAN = f"{PLACEHOLDER} | {PATTERN} | {EMOJI} | {EMOTICON}"
_LONG_CODE = 6  # characters; a shorter one may be part of another
# Without any of these a text has no span: most have none of them, and this is soon seen.
SUSPICIOUS = re.compile(
    rf"""
    [`<&{{%/@#\\()+>^=×÷±−≤≥≠≈→⇌²³°*_{PICTURES}]
  | ~~ | :: | \|\| | !\[ | [ ][·|][ ]
  | -[ ] (?: \[ | (?<= (?<! [A-Za-z] ) [a-z][ ]-[ ] ) )    # - [x], a - b
  | \d[\d,.-]+\d | \d[ ]\d | \d[A-Z-] | \d\w{{15}}
  | BIC | SWIFT | [A-Z][ ]\d
  | [.:;-]\w
  | [A-Za-z]\d
  | 0x
  | [!-~]{{{LONGEST_WORD + 1}}}
  | {PLACEHOLDER}
    """,
    re.VERBOSE,
)


# Large patterns are compiled when a text first needs them: that takes longer than to translate a line.


@cache
def _exact_span() -> re.Pattern[str]:
    return re.compile(_EXACT_SPAN, re.VERBOSE)


@cache
def _cut() -> re.Pattern[str]:
    return re.compile(f"({_EXACT_SPAN})", re.VERBOSE)


@cache
def _code() -> re.Pattern[str]:
    return re.compile(CODE, re.VERBOSE)


def places(text: str) -> list[tuple[int, int]]:
    """Where the spans of a text are, each from one character to before another."""
    if SUSPICIOUS.search(text) is None:
        return []
    return [match.span() for match in _exact_span().finditer(text)]


def cut(text: str) -> list[str]:
    """A text cut at what has to come through byte for byte: text, span, text, span, text, some of them empty."""
    if SUSPICIOUS.search(text) is None:
        return [text]
    return _cut().split(text)


def lost(source: str, translation: str) -> list[str]:
    """The spans of a source that its translation does not have as often, in order.

    Long numbers and identifiers are not among them: they may be written otherwise. Codes may have other spaces.
    """
    counts = _exact_spans(source)
    missing = [span for span, count in counts.items() if translation.count(span) < count]
    return [span for span in missing if not _is_spaced_otherwise(span, translation, counts[span])]


def _is_spaced_otherwise(span: str, translation: str, count: int) -> bool:
    """Whether it is a code that the translation has with other spaces: x=1 for x = 1."""
    is_code = _code().fullmatch(span) is not None
    return is_code and translation.replace(" ", "").count(span.replace(" ", "")) >= count


def lost_from_english(source: str, translation: str) -> list[str]:
    """The same, codes that the translation has more often, and words in scripts that are neither Latin nor Chinese."""
    found = lost(source, translation) + _doubled(source, translation)
    if source.isascii():
        return found
    words = [word for word in FOREIGN_WORDS.findall(source) if not CHINESE_WORD.fullmatch(word)]
    return found + [word for word in words if word not in translation]


def _doubled(source: str, translation: str) -> list[str]:
    """The codes of a source that its translation has more often; it may well repeat the name of a file."""
    codes = [span for span in _exact_spans(source) if len(span) >= _LONG_CODE]
    again = [span for span in codes if translation.count(span) > source.count(span)]
    return [span for span in again if _code().fullmatch(span)]


@lru_cache(maxsize=1)  # a source may have the translations of several systems, one after the other
def _exact_spans(source: str) -> Counter[str]:
    if SUSPICIOUS.search(source) is None:
        return Counter()
    return Counter(_exact_span().findall(source))


def with_letters_for_spans(text: str) -> str:
    """A text with an X for each part that has to come through byte for byte: what people read."""
    if SUSPICIOUS.search(text) is None:
        return text
    return _exact_span().sub("X", text)
