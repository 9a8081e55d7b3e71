"""Paragraphs of English cut into sentences: a model that sees several may drop all but one."""

import re

from nmt.documents.text import is_nested

_END = re.compile(
    r"""
    (?<! [.!?…] ) (?P<stop> [.!?…]++ ) (?: ["')\]”’*_] | </g\d+> ){0,6} \s++
    (?= (?: ["'(\[“‘*_] | <g\d+> ){0,6} (?: [A-Z] | <x\d+/> ) )
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\s(\"']{1,20}$")
_ABBREVIATIONS = frozenset(
    [
        *(
            "e.g",
            "i.e",
            "cf",
            "vs",
            "viz",
            "ca",
            "approx",
            "resp",
            "incl",
            "esp",
            "al",
            "no",
            "nos",
        ),
        *(
            "mr",
            "mrs",
            "ms",
            "dr",
            "prof",
            "st",
            "sr",
            "jr",
            "gen",
            "sen",
            "rep",
            "gov",
            "capt",
            "lt",
        ),
        *(
            "fig",
            "figs",
            "eq",
            "sec",
            "ch",
            "vol",
            "p",
            "pp",
            "ed",
            "eds",
            "art",
            "par",
            "ver",
            "rev",
        ),
        *("inc", "ltd", "co", "corp", "dept", "est", "u.s", "u.k", "u.n", "a.m", "p.m", "ph.d"),
    ]
)


def sentences(line: str) -> list[str]:
    """The sentences of a line, without the spaces between them. Each has its tags and emphases as a whole."""
    found = []
    start = 0
    for match in _END.finditer(line):
        sentence = line[start : match.end()]
        is_whole = is_nested(sentence) and sentence.count("*") % 2 == 0
        if is_whole and _ends_sentence(line, match):
            found.append(sentence.rstrip())
            start = match.end()
    return [*found, line[start:]]


def _ends_sentence(line: str, match: re.Match[str]) -> bool:
    """Whether a full stop is none of an abbreviation or an initial."""
    if match["stop"] != ".":
        return True
    word = _LAST_WORD.search(line, max(match.start() - 20, 0), match.start())
    last = word[0].lower() if word is not None else ""
    return last not in _ABBREVIATIONS and not re.fullmatch(r"[a-z]|(?:[a-z]\.)+[a-z]|\d{1,2}", last)


def joined(translations: list[str]) -> str:
    """Chinese sentences one after the other; a space stands behind one that ends in Latin."""
    written = ""
    for translation in translations:
        needs_space = written[-1:].isascii() and written and translation
        written += (" " if needs_space else "") + translation
    return written
