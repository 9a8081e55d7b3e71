"""Punctuation that no Chinese sentence has, and a number that is a sentence of its own.

What the source has as well is let pass, and so is what people write for effect: ？？, ！！！, 。。。
"""

import re
from functools import lru_cache
from typing import NamedTuple

from nmt.spans.exact import with_letters_for_spans

_STOPS = "，、；：。"
_IN_A_ROW = re.compile(
    rf"""
    (?: [{_STOPS},] \s? (?= [{_STOPS},？！] )     # 苹果，，梨; 我有几只。，
      | [？！] \s? (?= [{_STOPS}] )               # 什么？。
    )
    [{_STOPS},？！]+
    """,
    re.VERBOSE,
)
_DOTS = re.compile("。{3,}")  # what many write for ……
_IN_A_ROW_IN_ENGLISH = re.compile(r"[,;:!?] \s? [,;:!?.] | \.\.", re.VERBOSE)
_AT_START = re.compile(rf"\s* [{_STOPS}？！]", re.VERBOSE)
_NUMBER_ALONE = re.compile(
    r"""
    (?: ^ | (?<= [。！？] ) )  \s?
    \d [\d.,:/%~-]{0,30}
    [。！？]                     # 我有几只。217。
    """,
    re.VERBOSE,
)
_AFTER_SENTENCES = re.compile(r"(?<=[.!?:;…])[\"')]?\s+")
# Opening marks and what closes them. Half-width brackets may be closed by full-width ones.
_PAIRS = {"（": "）", "(": "）", "《": "》", "“": "”", "「": "」"}
_PAIRED = re.compile("[（(）《》“”「」]")
_ENUMERATOR = re.compile(r"[\da-zA-Z]$")  # before a bracket that was not opened: 1） 你好
_OPENING_QUOTE = re.compile(r'(?<![^\s(\[—–-])"(?=\S)')
_SINGLE_QUOTE = re.compile(r"(?<!\w)['‘]")  # of 'so', but also of 'em: it may be what opens


class _Source(NamedTuple):
    """What a source has as well, so that it is let pass in the translation."""

    marks_in_a_row: bool
    starts_with_mark: bool
    unpaired: bool  # a bracket or quotation mark without partner
    single_quote: bool
    number_alone: bool


def stray(source: str, translation: str) -> list[str]:
    """Marks in a row, at the start or without partner, and numbers alone between full stops."""
    has = _read_source(source)
    translation = with_letters_for_spans(translation)
    found: list[str] = []
    if not has.marks_in_a_row:
        found += _in_a_row(translation)
    if not has.starts_with_mark:
        found += _at_start(translation)
    if not has.unpaired:
        found += _unpaired(translation, has.single_quote)
    if not has.number_alone:
        found += _numbers_alone(translation)
    return found


@lru_cache(maxsize=1)  # a source may have the translations of several systems, one after the other
def _read_source(source: str) -> _Source:
    source = with_letters_for_spans(source)
    return _Source(
        marks_in_a_row=_IN_A_ROW_IN_ENGLISH.search(source) is not None,
        starts_with_mark=not source.lstrip("\"'“‘([ ")[:1].isalnum(),
        unpaired=_first_unpaired(_with_curly_quotes(source)) is not None,
        single_quote=_SINGLE_QUOTE.search(source) is not None,
        number_alone=any(map(_is_number_alone, _AFTER_SENTENCES.split(source))),
    )


def _in_a_row(translation: str) -> list[str]:
    without_dots = _DOTS.sub("…", translation)
    return [found[0] for found in _IN_A_ROW.finditer(without_dots)]


def _at_start(translation: str) -> list[str]:
    found = _AT_START.match(translation)
    return [found[0]] if found else []


def _unpaired(translation: str, may_be_single: bool) -> list[str]:
    """The first bracket or quotation mark without partner; not “ or ” where other marks may be its partner."""
    found = _first_unpaired(translation)
    if found is None or (found in "“”" and ('"' in translation or may_be_single)):
        return []
    return [found]


def _with_curly_quotes(english: str) -> str:
    """Straight quotation marks as “ before a word that follows a space, and as ” elsewhere."""
    return _OPENING_QUOTE.sub("“", english).replace('"', "”")


def _first_unpaired(text: str) -> str | None:
    still_open: list[str] = []
    for match in _PAIRED.finditer(text.replace(")", "）")):
        mark = match[0]
        if mark in _PAIRS:
            still_open.append(mark)
        elif still_open:
            if _PAIRS[still_open.pop()] != mark:
                return mark
        elif not (mark == "）" and _ENUMERATOR.search(text[: match.start()][-1:])):
            return mark
    return still_open[-1] if still_open else None


def _is_number_alone(sentence: str) -> bool:
    has_digit = any(map(str.isdigit, sentence))
    return has_digit and not any(map(str.isalpha, sentence))


def _numbers_alone(translation: str) -> list[str]:
    return [found[0].strip() for found in _NUMBER_ALONE.finditer(translation)]
