"""Quotation marks of a line of Chinese: straight ones in pairs, where they are no inches."""

import re

from nmt.text.scripts import HAS_HAN, is_traditional

STOPS = "，。；：？！、"


def paired_quotes(line: str) -> str:
    """Straight quotation marks as “ and ” in turn, in Traditional Chinese as 「 and 」.

    An odd number of them stays, and so do those that touch no Chinese.
    """
    places: list[int] = []
    for quote in re.finditer('["“”]', line):
        is_open = len(places) % 2 == 1
        if not _is_inches(line, quote.start(), is_open):
            places.append(quote.start())
    if len(places) % 2:
        return line
    opening, closing = ("「", "」") if is_traditional(line) else ("“", "”")
    characters = list(line)
    for start, end in zip(places[::2], places[1::2], strict=True):
        may_open = characters[start] in '"“'
        may_close = characters[end] in '"”'
        if may_open and may_close and _quotes_chinese(line, start, end):
            characters[start] = opening
            characters[end] = closing
    return "".join(characters)


def _is_inches(line: str, place: int, is_open: bool) -> bool:
    """Whether a mark is the sign for inches: it follows a digit, and closes nothing or is odd."""
    follows_digit = line[place] == '"' and line[:place][-1:].isdigit()
    return follows_digit and (not is_open or line.count('"') % 2 == 1)


def _quotes_chinese(line: str, start: int, end: int) -> bool:
    """Whether there is Chinese between two marks, or beside one of them."""
    if HAS_HAN.search(line, start, end):
        return True
    before = line[:start].rstrip()[-1:]
    after = line[end + 1 :].lstrip()[:1]
    return any(mark in STOPS or HAS_HAN.match(mark) for mark in before + after)
