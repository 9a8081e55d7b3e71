"""Chinese punctuation and spacing: repair and lint of one line, by any writer.

The rules are those of GB/T 15834-2011 (punctuation) and of the W3C's Requirements for Chinese Text Layout: full-width
marks in Chinese context, paired quotation marks, …… and ——, no spaces between Han characters or beside full-width
marks. Latin phrases, numbers and whatever a machine reads keep their own. Nothing but punctuation and spaces changes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from nmt.text.scripts import is_traditional
from nmt.text.spans import CHINESE, HAN, PATTERN

Spacing = Literal["keep", "none", "space"]

_OPENS, _CLOSES, _STOPS = "（《〈【「『", "）》〉】」』", "，。；：？！、"
_BEFORE, _AFTER = f"{HAN}{_OPENS}“‘", f"{HAN}{_CLOSES}”’"  # what Chinese may begin and end with
_GAPS = frozenset(" \t\xa0\u3000")
_GAP = f"[{''.join(sorted(_GAPS))}]"
_WORD, _SIGN = "\ue000", "\ue001"  # stand for protected spans while the rest is mended

# What is never touched inside, and is no Chinese context outside.
_PROTECTED = re.compile(
    rf"{PATTERN}"
    r"|(?<!\d)\d+(?:[.,:/]\d+)+"  # decimals, thousands, times, ratios, versions, dates
    r"|(?a:\b(?:[A-Za-z]\.){2,})"  # U.S.
    r"|(?<![A-Za-z\d])[:;=][’'-]?[)(DPp3|\\](?!\w)|(?<!\S)<3(?!\w)|\^[_.-]?\^"  # emoticons
    rf"|!=|\?\?=|::|:=|[{_WORD}{_SIGN}]"  # operators, and our own marks
)
_PROTECTABLE = re.compile(
    f"[`<&{{%:.@/#(,;=^{_WORD}{_SIGN}]"
)  # one of these is in every protected span
_ABBREVIATION = re.compile(
    r"(?a:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|etc|No|Vol|pp|Fig|al))$"
)
_HAS_HAN = re.compile(f"[{HAN}]")
_IS_CHINESE = re.compile(f"[{CHINESE}]")
# Without any of these there is nothing to mend.
_SUSPICIOUS = re.compile("[,;:?!.()\"'\\s\u3000・•‧–-]|(?<!…)…(?!…)|。{3}|<<|(?<!—)—(?!—)")
_FULL = str.maketrans(",;:?!", "，；：？！")


@dataclass(frozen=True)
class Finding:
    """One place that `repair` would change."""

    column: int  # of the first character, counted from 1
    found: str
    mend: str

    def __str__(self) -> str:
        if not self.found.strip():
            what = "space" if self.found else "nothing"
            return f"{self.column}: {what} where Chinese has {repr(self.mend) if self.mend else 'none'}"
        return f"{self.column}: {self.found!r} in Chinese text, write {self.mend!r}"


def repair(text: str, spacing: Spacing = "keep") -> str:
    """One line as the standards want it; a line without Han characters stays as it is.

    `spacing` is what stands between Han and Latin letters or digits: what is there, nothing, or a space. To repair
    twice is to repair once.
    """
    if _HAS_HAN.search(text) is None or (spacing == "keep" and _SUSPICIOUS.search(text) is None):
        return text
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        spans.append(match[0])
        return _WORD if match[0][0].isalnum() and match[0][-1].isalnum() else _SIGN

    line = _PROTECTED.sub(hide, text) if _PROTECTABLE.search(text) else text
    while (
        mended := _mended(line, spacing)
    ) != line:  # every change makes marks wider or spaces fewer: it ends
        line = mended
    hidden = iter(spans)
    return re.sub(f"[{_WORD}{_SIGN}]", lambda _: next(hidden), line) if spans else line


def check(text: str, spacing: Spacing = "keep") -> list[Finding]:
    """The places that `repair` would change, in order."""
    repaired = repair(text, spacing)
    findings: list[Finding] = []
    at = to = 0
    while repaired != text and (at < len(text) or to < len(repaired)):
        end, new_end = (
            _next_letter(text, at),
            _next_letter(repaired, to),
        )  # letters are the same on both sides
        if text[at:end] != repaired[to:new_end]:
            findings.append(Finding(at + 1, text[at:end], repaired[to:new_end]))
        at, to = end + 1, new_end + 1
    return findings


_LETTER = re.compile(r"\w")


def _next_letter(text: str, start: int) -> int:
    found = _LETTER.search(text, start)
    return found.start() if found else len(text)


def _mended(line: str, spacing: Spacing) -> str:
    found = _characters(line)
    for marks, (pattern, replacement) in _MARKED_RULES:
        if not marks.isdisjoint(found):
            line = pattern.sub(replacement, line)
            found = _characters(line)
    if '"' in found:
        line = _quotes(line)
    if not _GAPS.isdisjoint(found):
        line = _SPACES.sub("", line)
    if spacing != "keep":
        line = _BETWEEN_SCRIPTS.sub("" if spacing == "none" else " ", line)
    return line


def _characters(line: str) -> set[str]:
    """The characters of a line, and … where 。。。 stands for it."""
    return {*line, "…"} if "。。。" in line else set(line)


def _full(match: re.Match[str]) -> str:
    return match[1].translate(_FULL)


def _stop(match: re.Match[str]) -> str:
    """A full stop after a Latin word or a number, unless it belongs to that: `Dr. 王`, `1. 你好`."""
    before = match.string[: match.start()]
    return match[0] if _ABBREVIATION.search(before) or before.strip().isdecimal() else "。"


def _last(match: re.Match[str]) -> str:
    """The mark at the end of a line: full-width if its sentence is Chinese."""
    before = match.string[: match.start()]
    if _HAS_HAN.search(before, max(map(before.rfind, "。？！")) + 1) is None:
        return match[0]
    if match[1] != ".":
        return match[1].translate(_FULL)
    return match[0] if _ABBREVIATION.search(before) else "。"


def _bracket(match: re.Match[str]) -> str:
    """（） around Chinese, and where they touch it; (Latin) set off by spaces is a style of its own."""
    beside = match.start() - 1 if match.start() else match.end()
    if _HAS_HAN.search(match[1]) is None and _IS_CHINESE.match(match.string, beside) is None:
        return match[0]
    return f"（{match[1].strip()}）"


def _quotes(line: str) -> str:
    """Straight quotation marks as “ and ”, in turn, if they come out even; those that touch no Chinese stay.

    In Traditional Chinese they are 「 and 」.
    """
    places = [
        m.start()
        for m in re.finditer('["“”]', line)
        if line[m.start()] != '"' or not _inches(line, m.start())
    ]
    if len(places) % 2:
        return line
    characters, marks = list(line), ("「", "」") if is_traditional(line) else ("“", "”")
    for start, end in zip(places[::2], places[1::2], strict=True):
        if characters[start] in '"“' and characters[end] in '"”' and _is_chinese(line, start, end):
            characters[start], characters[end] = marks
    return "".join(characters)


def _inches(line: str, place: int) -> bool:
    return line[:place][-1:].isdigit() and line.count('"') % 2 == 1


def _is_chinese(line: str, start: int, end: int) -> bool:
    if _HAS_HAN.search(line, start, end):
        return True
    beside = line[:start].rstrip()[-1:] + line[end + 1 :].lstrip()[:1]
    return any(mark in _STOPS or _HAS_HAN.match(mark) for mark in beside)


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(
            rf"(?<=[{CHINESE}])(?:\.{{3,}}|。{{3,}}|(?<!…)…(?!…))|(?:\.{{3,}}|(?<!…)…(?!…))(?=[{_BEFORE}])"
        ),
        "……",
    ),
    (re.compile(rf"(?<=[{_AFTER}]){_GAP}*--+{_GAP}*|{_GAP}*--+{_GAP}*(?=[{_BEFORE}])"), "——"),
    (re.compile(rf"(?<=[{_AFTER}]){_GAP}+[–—]{_GAP}+|{_GAP}+[–—]{_GAP}+(?=[{_BEFORE}])"), "——"),
    (re.compile(rf"(?<=[{HAN}]){_GAP}*[・•‧]{_GAP}*(?=[{HAN}])"), "·"),
    (re.compile(rf"(?<!<)<<([^<>]*[{HAN}][^<>]*)>>(?!>)"), r"《\1》"),
    (re.compile(r"\(([^()（）]*)\)"), _bracket),
    (
        re.compile(r"（([^()（）]*)\)|\(([^()（）]*)）"),
        lambda match: f"（{match[1] or match[2] or ''}）",
    ),
    (re.compile(rf"(?<=[{_AFTER}{_STOPS}…—]){_GAP}*([,;:?!]+)"), _full),
    (re.compile(rf"([,;:?!]+)(?={_GAP}*[{_BEFORE}])"), _full),
    (re.compile(rf"(?<=[{_AFTER}]){_GAP}*\.(?![.A-Za-z\d])"), "。"),
    (re.compile(rf"(?<=[A-Za-z\d%{_WORD}{_SIGN}])\.(?={_GAP}+[{_BEFORE}])"), _stop),
    (re.compile(r"(?<![.?!\s])(\.|[?!]+)(?=[\s\"”’）]*$)"), _last),
    (re.compile(rf"(?<![A-Za-z\d])'([^']*[{HAN}][^']*)'(?![A-Za-z\d])"), r"‘\1’"),
)
# Beside each rule the characters without which it has nothing to do: most lines need few of the rules.
_MARKS = (".…", "-", "–—", "・•‧", "<", "(", "()", ",;:?!", ",;:?!", ".", ".", ".?!", "'")
_MARKED_RULES = tuple(zip(map(frozenset, _MARKS), _RULES, strict=True))
_SPACES = re.compile(
    rf"(?<=[{HAN}]){_GAP}+(?=[{HAN}])"
    rf"|{_GAP}+(?=[{_STOPS}{_OPENS}{_CLOSES}])|(?<=[{_STOPS}{_OPENS}{_CLOSES}]){_GAP}+(?!{_GAP}|$)"
    rf"|(?<=[{HAN}]){_GAP}+(?=[“‘][{HAN}《])|(?<=[{HAN}。！？…》][”’]){_GAP}+(?=[{HAN}])"
    rf"|(?<=[“‘]){_GAP}+(?=[{HAN}])|(?<=[{HAN}]){_GAP}+(?=[”’])"
    rf"|{_GAP}+(?=——|……)|(?<=——){_GAP}+(?!{_GAP}|$)|(?<=……){_GAP}+(?=[{HAN}])"
)
_BETWEEN_SCRIPTS = re.compile(
    rf"(?<=[{HAN}]){_GAP}*(?=[A-Za-z\d{_WORD}])|(?<=[A-Za-z\d%{_WORD}]){_GAP}*(?=[{HAN}])"
)
