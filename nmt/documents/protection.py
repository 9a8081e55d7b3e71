"""Sentences as a translator reads them best: what holds no words is one tag, and an initial is part of its word.

`<g1>1</g1>` of a footnote and `<g1><x2/></g1>` become one single tag, and so do signs that models do not know, such as
©. A pair around the first letters of a word, `<g1>T</g1>he`, is put around the first character of the translation.
"""

import re
from dataclasses import dataclass, field

from nmt.documents.text import has_words

_FIRST_NUMBER = 90_000_000  # of tags that stand for others
_WORDLESS = re.compile(r"<g(\d+)>((?:[^\w<>]|[\d_]|<x\d+/>){0,200})</g\1>")
_SIGN = re.compile("[©®™•·→←↑↓⇒★☆✓✔✗✘►▶◀■□●○◆§¶†‡]")
_OURS = re.compile(r"<x(9\d{7})/>")
_INITIAL = re.compile(r"<g(\d+)>(\w{1,2})</g\1>(?=\w)")


@dataclass(frozen=True)
class Protected:
    """A sentence for a translator, what its new tags stand for, and the pair around its first letter."""

    line: str
    stands_for: dict[str, str] = field(default_factory=dict)
    initial: str = ""  # the number of a pair

    def restored(self, chinese: str) -> str:
        """The translation with what stood in the sentence."""
        before = ""
        while before != chinese:  # one may stand within another
            before = chinese
            chinese = _OURS.sub(lambda tag: self.stands_for.get(tag[1], ""), chinese)
        if not self.initial or not chinese or chinese[0] == "<":
            return chinese
        return f"<g{self.initial}>{chinese[0]}</g{self.initial}>{chinese[1:]}"


def protected(sentence: str) -> Protected:
    """A sentence for a translator."""
    stands_for: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        number = str(_FIRST_NUMBER + len(stands_for))
        stands_for[number] = match[0]
        return f"<x{number}/>"

    initial = _INITIAL.match(sentence)
    line = initial[2] + sentence[initial.end() :] if initial else sentence
    line = _SIGN.sub(hide, line)
    before = ""
    while before != line:
        before = line
        line = _WORDLESS.sub(hide, line)
    return (
        Protected(line, stands_for, initial[1] if initial else "")
        if has_words(line)
        else Protected(sentence)
    )
