"""Sentences as a translator reads them best: what holds no words is one tag, and an initial is part of its word.

`<g1>1</g1>` of a footnote and `<g1><x2/></g1>` become one single tag, and so do formulas, `H<g1>2</g1>O`, and signs
that models do not know, such as ©. A pair around the first letters of a word, `<g1>T</g1>he`, is put around the first
character of the translation. The pair of `21<g1>st</g1>` is empty in Chinese.
"""

import re
from dataclasses import dataclass, field

_FIRST_NUMBER = 90_000_000  # of tags that stand for others
_WORDLESS = re.compile(r"<g(\d+)>((?:[^\w<>]|[\d_]|<x\d+/>){0,200})</g\1>")
_SIGN = re.compile("[©®™•·→←↑↓⇒★☆✓✔✗✘►▶◀■□●○◆§¶†‡]")
_OURS = re.compile(r"<x(9\d{7})/>")
# The symbols of the chemical elements.
_ELEMENT = r"""(?:
    A[cglmrstu] | B[aehikr]? | C[adeflmnorsu]? | D[bsy] | E[rsu] | F[elmr]? | G[ade] | H[efgos]? | I[nr]? | Kr?
  | L[airuv] | M[cdgnot] | N[abdehiop]? | O[gs]? | P[abdmortu]? | R[abefghnu] | S[bcegimnr]? | T[abcehilms]
  | U | V | W | Xe | Yb? | Z[nr]
)"""
_INDEX = r"<g\d+> (?: [\d+−–-]{1,4} | [a-z] ) </g\d+>"
_MASS = r"<g\d+> \d{2,3} </g\d+>"  # of an isotope
_CHARGE = r"<g\d+> \d{0,2} [+−–-] </g\d+>"
_GROUP = rf"[(\[] (?: {_ELEMENT} \d* | {_INDEX} ){{1,20}} [)\]]"
_PART = rf"(?: {_ELEMENT} \d* | {_GROUP} | {_INDEX} )"
# H<g1>2</g1>O, CO<g1>2</g1>, Ca(OH)<g1>2</g1>, Na<g1>+</g1>, x<g1>i</g1>, 5 km<g1>2</g1>; but behind a word it is a
# footnote, even behind one of letters that are elements: He, UK, WHO.
_FORMULA = re.compile(
    rf"""(?<! [\w&)] ) (?:
        {_MASS} (?! He | In | As | At | I\b | No | Be ) {_ELEMENT}
      | (?: {_ELEMENT} | {_GROUP} ) {_PART}{{0,20}} {_INDEX} {_PART}{{0,20}} {_ELEMENT} \d* (?: {_INDEX} )?
      | (?! WHO ) {_ELEMENT} (?: {_PART}{{0,20}} (?: [OH] | Cl | Br ) | F ) {_INDEX}
      | {_ELEMENT} {_PART}{{0,20}} (?: {_GROUP} {_INDEX} | {_CHARGE} )
      | (?: (?! [aAI] ) [A-Za-zα-ωΑ-Ω] | Cl | Br | [kcdmµ]m | 10 | 2 ) {_INDEX}
    ) (?! [A-Za-z\d] )""",
    re.VERBOSE,
)
_ORDINAL = re.compile(r"(?<!\d)(\d{1,9})<g(\d+)>(st|nd|rd|th)</g\2>")
_INITIAL = re.compile(r"<g(\d+)>([^\W\d]{1,2})</g\1>(?=\w)")


@dataclass(frozen=True)
class Protected:
    """A sentence for a translator, what its new tags stand for, and the pairs that its translation has otherwise."""

    line: str
    stands_for: dict[str, str] = field(default_factory=dict)
    initial: str = ""  # the number of the pair around the first letter
    # Figures, and the number of the pair around their st, nd, rd or th.
    endings: tuple[tuple[str, str], ...] = ()

    def restored(self, chinese: str) -> str:
        """The translation with what stood in the sentence."""
        before = ""
        while before != chinese:  # one may stand within another
            before = chinese
            chinese = _OURS.sub(lambda tag: self.stands_for.get(tag[1], ""), chinese)
        for figures, pair in self.endings:
            number = re.search(rf"(?<![\d<gx/.,]){figures}(?!\d)", chinese)
            end = number.end() if number else len(chinese)
            chinese = f"{chinese[:end]}<g{pair}></g{pair}>{chinese[end:]}"
        if not self.initial or not chinese or chinese[0] == "<":
            return chinese
        return f"<g{self.initial}>{chinese[0]}</g{self.initial}>{chinese[1:]}"


def protected(sentence: str) -> Protected:
    """A sentence for a translator. It may have no words left, and is to stay as it is then."""
    stands_for: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        number = str(_FIRST_NUMBER + len(stands_for))
        stands_for[number] = match[0]
        return f"<x{number}/>"

    initial = _INITIAL.match(sentence)
    line = initial[2] + sentence[initial.end() :] if initial else sentence
    endings = tuple((match[1], match[2]) for match in _ORDINAL.finditer(line))
    line = _ORDINAL.sub(r"\1\3", line)
    for pattern in (_FORMULA, _SIGN):
        line = pattern.sub(hide, line)
    before = ""
    while before != line:
        before = line
        line = _WORDLESS.sub(hide, line)
    return Protected(line, stands_for, initial[1] if initial else "", endings)
