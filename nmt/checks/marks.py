"""Punctuation that no Chinese sentence has, and a number that is a sentence of its own.

What the source has as well is let pass, and so is what people write for effect: ？？, ！！！, 。。。
"""

import re

from nmt.text.spans import with_letters_for_spans

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
_CLOSES = frozenset(_PAIRS.values())
_ENUMERATOR = re.compile(r"[\da-zA-Z]$")  # before a bracket that was not opened: 1） 你好
_OPENING_QUOTE = re.compile(r'(?<![^\s(\[—–-])"(?=\S)')
_SINGLE_QUOTE = re.compile(r"(?<!\w)['‘]")  # of 'so', but also of 'em: it may be what opens


def stray(source: str, translation: str) -> list[str]:
    """Marks in a row, at the start or without partner, and numbers alone between full stops."""
    source = with_letters_for_spans(source)
    translation = with_letters_for_spans(translation)
    return [
        *_in_a_row(source, translation),
        *_at_start(source, translation),
        *_unpaired(source, translation),
        *_numbers_alone(source, translation),
    ]


def _in_a_row(source: str, translation: str) -> list[str]:
    if _IN_A_ROW_IN_ENGLISH.search(source):
        return []
    without_dots = _DOTS.sub("…", translation)
    return [found[0] for found in _IN_A_ROW.finditer(without_dots)]


def _at_start(source: str, translation: str) -> list[str]:
    found = _AT_START.match(translation)
    starts_with_word = source.lstrip("\"'“‘([ ")[:1].isalnum()
    return [found[0]] if found and starts_with_word else []


def _unpaired(source: str, translation: str) -> list[str]:
    """The first bracket or quotation mark without partner, if all in the source have theirs."""
    if _first_unpaired(_with_curly_quotes(source)) is not None:
        return []
    found = _first_unpaired(translation)
    if found is None or (found in "“”" and ('"' in translation or _SINGLE_QUOTE.search(source))):
        return []
    return [found]


def _with_curly_quotes(english: str) -> str:
    """Straight quotation marks as “ before a word that follows a space, and as ” elsewhere."""
    return _OPENING_QUOTE.sub("“", english).replace('"', "”")


def _first_unpaired(text: str) -> str | None:
    still_open: list[str] = []
    for place, mark in enumerate(text.replace(")", "）")):
        if mark in _PAIRS:
            still_open.append(mark)
        elif mark not in _CLOSES:
            continue
        elif still_open:
            if _PAIRS[still_open.pop()] != mark:
                return mark
        elif not (mark == "）" and _ENUMERATOR.search(text[:place][-1:])):
            return mark
    return still_open[-1] if still_open else None


def _numbers_alone(source: str, translation: str) -> list[str]:
    for sentence in _AFTER_SENTENCES.split(source):
        has_digit = any(map(str.isdigit, sentence))
        if has_digit and not any(map(str.isalpha, sentence)):
            return []
    return [found[0].strip() for found in _NUMBER_ALONE.finditer(translation)]
