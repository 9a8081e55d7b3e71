"""Chinese punctuation and spacing: repair and lint of one line, by any writer.

The rules are those of GB/T 15834-2011 (punctuation) and of the W3C's Requirements for Chinese Text
Layout: full-width marks in Chinese context, paired quotation marks, …… and ——, no spaces between
Han characters or beside full-width marks, no mark twice (but ！！ and ？！, which express something).
Latin phrases, numbers and whatever a machine reads keep their own. Nothing but punctuation and
spaces changes.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple

from nmt.chinese.quotation_marks import STOPS, paired_quotes
from nmt.chinese.runs_of_marks import GAPS, full_width_brackets, joined, without_gaps
from nmt.spans.patterns import CHINESE, PATTERN
from nmt.text.scripts import HAN, HAS_HAN

Spacing = Literal["keep", "none", "space"]

# --- characters ---

_OPENS = "（《〈【「『"
_CLOSES = "）》〉】」』"
_FIRST = f"{HAN}{_OPENS}“‘"  # what Chinese may begin with
_LAST = f"{HAN}{_CLOSES}”’"  # and end with
_MARKS = f"{STOPS}{_OPENS}{_CLOSES}"  # which hold their own white space
_GAPS = frozenset(GAPS)
_GAP = f"[{GAPS}]"
_FULL_WIDTH = str.maketrans(",;:?!", "，；：？！")
# These stand for protected spans while the rest is repaired: the first for one that begins and ends
# like a word, the second for any other.
_WORD = "\ue000"
_SIGN = "\ue001"

_LETTER = re.compile(r"\w")
_ABBREVIATION = re.compile(
    r"(?a:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|etc|No|Vol|pp|Fig|al))$"
)
# What is before the dot of a number that counts: at the start of a line, after a mark, a label or a space.
_BEFORE_COUNT = re.compile(
    rf"""
    (?: ^ | [^\w\s] | [图表例式章节步题第] | 步骤 | 附录 | 练习 | 选项 )
    {_GAP}* \d+ $
  | [{HAN}] {_GAP}+ \d{{1,2}} $                            # 点击“打开” 2. 保存
  | ^ {_GAP}* [a-z] $                                     # a. 苹果
    """,
    re.VERBOSE,
)
# A mark that becomes Chinese may make the next one Chinese: (a),(b),(c). Hardly any line takes more than two passes.
_MOST_PASSES = 100
_NEAR = 40  # characters in which either of them has room
# A Latin name or word in a list, but neither a variable nor what belongs to the name before it.
_NAME = r"""(?a:
    (?! (?: Jr | Sr | Inc | Ltd | Co | Corp | LLC ) \b )
    (?: [A-Za-z][\w&'’+-]+ | [A-Z] )
    (?: [ ] [A-Z][\w&'’+-]* ){0,3}
    (?! [\w&'’+-] )
)"""
# What comes after such a list if it is a list in Chinese.
_LIST_GOES_ON = f"{_GAP}? (?: [和与或及等] | [,，、；] [{HAN}] )"
# Without any of these there is nothing to repair.
_SUSPICIOUS = re.compile(
    r"""
    [,;:?!.()"'\s\u3000・•‧–-]
  | \d：\d
  | (?<!…)…(?!…)
  | <<
  | (?<!—)—(?!—)
    """,
    re.VERBOSE,
)
_COUNTERS = "个名人条道项件张页次天年元种台份题"  # stand after a number, but hardly after a time
# 2：30, which is written 2:30 as in GB/T 7408, and scores and ratios that look like it; not 测验4：20道题.
_TIME = re.compile(
    rf"""
    (?<! [\d:：.] ) \d{{1,2}} ： (?: 0\d | [1-5]\d (?![{_COUNTERS}]) ) (?! [\d:：] | \.\d )
    """,
    re.VERBOSE,
)
# What is never touched inside, but for times, and is no Chinese context outside.
_PROTECTED = rf"""
    \A [\s\#>*-]{{0,20}} \d+ (?: \.\d+ )+ \. (?=\s)              # 2.1. 安装
  | {PATTERN}
  | {_TIME.pattern}
  | (?<!\d) \d+ (?: [.,:/]\d+ )+                            # 3.14, 3,000, 10:30, 2026/11/21
  | (?a: \b (?: [A-Za-z]\. ){{2,}} )                          # U.S.
  | (?<![A-Za-z\d]) [:;=] [’'-]? [)(DPp3|\\] (?!\w)         # :-) ;D
  | (?<!\S) :-?/ (?!\S)                                    # :/
  | (?<!\S) <3 (?!\w)
  | \^ [_.-]? \^                                            # ^_^
  | != | \?\?= | :: | :=                                    # operators
  | [{_WORD}{_SIGN}]
    """


@cache
def _protected() -> re.Pattern[str]:
    """Compiled when a text first needs it: that takes longer than to repair a line."""
    return re.compile(_PROTECTED, re.VERBOSE)


# Every protected span has one of these.
_PROTECTABLE = re.compile(f"[`<&{{%:：.@/#(,;=^{_WORD}{_SIGN}]|-[A-Za-z]")


# --- what callers use ---


@dataclass(frozen=True)
class Finding:
    """One place that `repair` would change."""

    column: int  # of the first character, counted from 1
    found: str
    fix: str

    def __str__(self) -> str:
        if self.found.strip():
            return f"{self.column}: {self.found!r} in Chinese text, write {self.fix!r}"
        if not self.found:
            return f"{self.column}: insert {self.fix!r}"
        if not self.fix:
            return f"{self.column}: delete the space"
        return f"{self.column}: write {self.fix!r} instead of the space"


def repair(text: str, spacing: Spacing = "keep") -> str:
    """One line as the standards want it; a line without Han characters stays as it is.

    `spacing` is what is between Han and Latin letters or digits: what is there, nothing, or a
    space. To repair twice is to repair once. The time grows as the length of the line.
    """
    if HAS_HAN.search(text) is None or _is_json(text):
        return text
    if spacing == "keep" and _SUSPICIOUS.search(text) is None and not _has_double_mark(text):
        return text
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        span = match[0]
        spans.append(span.replace("：", ":") if _TIME.fullmatch(span) else span)
        return _WORD if span[0].isalnum() and span[-1].isalnum() else _SIGN

    line = _protected().sub(hide, text) if _PROTECTABLE.search(text) else text
    for _ in range(_MOST_PASSES):
        before, line = line, _repair_once(line, spacing)
        if line == before:
            break
    if not spans:
        return line
    hidden = iter(spans)
    return re.sub(f"[{_WORD}{_SIGN}]", lambda _: next(hidden), line)


def check(text: str, spacing: Spacing = "keep") -> list[Finding]:
    """The places that `repair` would change, in order."""
    repaired = repair(text, spacing)
    if repaired == text:
        return []
    findings: list[Finding] = []
    start = 0
    new_start = 0
    while start < len(text) or new_start < len(repaired):
        # The letters are the same in both: what is before the next one is compared.
        end = _next_letter(text, start)
        new_end = _next_letter(repaired, new_start)
        found = text[start:end]
        fix = repaired[new_start:new_end]
        if found != fix:
            findings.append(Finding(start + 1, found, fix))
        start = end + 1
        new_start = new_end + 1
    return findings


def _is_json(text: str) -> bool:
    """Whether a line is an object or an array of JSON."""
    if not text.startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _next_letter(text: str, start: int) -> int:
    found = _LETTER.search(text, start)
    return found.start() if found else len(text)


# --- what rules write ---


def _full_width(match: re.Match[str]) -> str:
    return match[1].translate(_FULL_WIDTH)


def _full_width_marks(match: re.Match[str]) -> str:
    return without_gaps(match[0]).translate(_FULL_WIDTH)


def _full_width_list(match: re.Match[str]) -> str:
    return match[0].translate(_FULL_WIDTH)


def _full_stop(match: re.Match[str]) -> str:
    """A full stop after a Latin word or a number, unless it belongs to that: `Dr. 王`, `1. 你好`, `图 1. 结构`."""
    is_of_word = any(_ends(pattern, match) for pattern in (_ABBREVIATION, _BEFORE_COUNT))
    return match[0] if is_of_word else "。"


def _ends(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    """Whether what is before a match ends as a pattern says, which is short."""
    start = match.start()
    return pattern.search(match.string, max(0, start - _NEAR), start) is not None


def _final_mark(match: re.Match[str]) -> str:
    """The mark at the end of a line: full-width if its sentence is Chinese."""
    before = match.string[: match.start()]
    sentence_start = max(map(before.rfind, "。？！")) + 1
    if HAS_HAN.search(before, sentence_start) is None:
        return match[0]
    if match[1] != ".":
        return match[1].translate(_FULL_WIDTH)
    return match[0] if _ends(_ABBREVIATION, match) else "。"


def _half_bracket(match: re.Match[str]) -> str:
    return f"（{match[1] or match[2] or ''}）"


# --- the rules ---


class Rule(NamedTuple):
    """What one kind of mark becomes in Chinese."""

    marks: frozenset[str]  # a line without any of these is not searched: most lines need few rules
    repaired: Callable[[str], str]  # of a line


def _rule(marks: str, pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Rule:
    compiled = re.compile(pattern, re.VERBOSE)
    return Rule(frozenset(marks), partial(compiled.sub, replacement))


# In the order in which they are applied.
_RULES = (
    # 等等... → 等等……
    _rule(
        ".…",
        rf"""
        。{{3,}}
      | (?<= [{CHINESE}] ) (?: \.{{3,}} | (?<!…)…(?!…) )
      | (?: \.{{3,}} | (?<!…)…(?!…) ) (?= [{_FIRST}] )
        """,
        "……",
    ),
    # 一神教--犹太教 → 一神教——犹太教
    _rule(
        "-",
        rf"""
        (?<= [{_LAST}] ) {_GAP}* --+ (?! {_GAP}* [>|-] ) {_GAP}*
      | (?<! [<|;-] ) (?<! [<|;] [ ] ) {_GAP}* (?<! - ) --+ {_GAP}* (?= [{_FIRST}] )
        """,
        "——",
    ),
    # 一神教 — 犹太教 → 一神教——犹太教
    _rule(
        "–—",
        rf"""
        (?<= [{_LAST}] ) {_GAP}+ [–—] {_GAP}+
      | {_GAP}+ [–—] {_GAP}+ (?= [{_FIRST}] )
        """,
        "——",
    ),
    # 汤姆・克鲁斯 → 汤姆·克鲁斯
    _rule("・•‧", rf"(?<= [{HAN}] ) {_GAP}* [・•‧] {_GAP}* (?= [{HAN}] )", "·"),
    # 读<<红楼梦>> → 读《红楼梦》
    _rule("<", rf"(?<!<) << ( [^<>{HAN}]{{0,99}} [{HAN}] [^<>]{{0,999}} ) >> (?!>)", r"《\1》"),
    # 北京(首都)很大 → 北京（首都）很大
    Rule(frozenset("("), full_width_brackets),
    # 他（是医生)走了 → 他（是医生）走了
    _rule(
        "()",
        r"""
        （ ( [^()（）]* ) \)
      | \( ( [^()（）]* ) ）
        """,
        _half_bracket,
    ),
    # 你好 , 世界 → 你好， 世界
    _rule(",;:?!", rf"(?<= [{_LAST}{STOPS}…—] ) (?: {_GAP}* [,;:?!]+ )+", _full_width_marks),
    # Tom: 你好 → Tom： 你好
    _rule(",;:?!", rf"( [,;:?!]+ ) (?= {_GAP}* [{_FIRST}] )", _full_width),
    # 包括BBC,CNN和央视 → 包括BBC，CNN和央视; A、B,C → A、B，C
    _rule(
        ",;",
        rf"""
        (?<! [A-Za-z\d,;.(/=_-] ) {_NAME} (?: [,;] {_NAME} )+ (?= {_LIST_GOES_ON} )
      | (?<= [、；和与或及] ) {_NAME} [,;] (?= {_NAME} )
        """,
        _full_width_list,
    ),
    # 他走了. → 他走了。
    _rule(".", rf"(?<= [{_LAST}] ) {_GAP}* \. (?! [.A-Za-z\d] )", "。"),
    # 他在 London. 她在 Paris → 他在 London。 她在 Paris
    _rule(".", rf"(?<= [A-Za-z\d%{_WORD}{_SIGN}] ) \. (?= {_GAP}+ [{_FIRST}] )", _full_stop),
    # 你去过 Paris? → 你去过 Paris？
    _rule(".?!", r"""(?<! [.?!\s] ) ( \. | [?!]+ ) (?= [\s"”’）]* $ )""", _final_mark),
    # '好'字 → ‘好’字
    _rule(
        "'",
        rf"(?<! [A-Za-z\d] ) ' ( [^'{HAN}]{{0,99}} [{HAN}] [^']{{0,999}} ) ' (?! [A-Za-z\d] )",
        r"‘\1’",
    ),
)
_DOUBLE_MARK = re.compile(
    rf"""
    (?P<first> [，、；] ) (?P=first)+                   # 走吧，，快点
  | (?<!。) 。 (?= 。 (?!。) )                          # 你好。。
  | (?<! [{_OPENS}“‘，、；：] ) [，、；：] (?= 。 )       # 他走了，。
    """,
    re.VERBOSE,
)
# Every double mark has one of these; to look for them is quicker.
_DOUBLES = ("，，", "、、", "；；", "。。", "，。", "、。", "；。", "：。")
_NEEDLESS_SPACE = re.compile(
    rf"""
    (?<= [{HAN}] ) {_GAP}+ (?= [{HAN}] )                # 我 喜欢
  | (?<! {_GAP} ) {_GAP}++ (?= [{_MARKS}] )             # 你好 ，
  | (?<= [{_MARKS}] ) {_GAP}+ (?! {_GAP} | $ )          # ， 世界
  | (?<= [{HAN}] ) {_GAP}+ (?= [“‘] [{HAN}《] )          # 说 “好
  | (?<= [{HAN}。！？…》] [”’] ) {_GAP}+ (?= [{HAN}] )   # 好” 了
  | (?<= [“‘] ) {_GAP}+ (?= [{HAN}] )                   # “ 好
  | (?<= [{HAN}] ) {_GAP}+ (?= [”’] )                   # 好 ”
  | (?<= …… ) {_GAP}+ (?= [{HAN}] )                     # …… 好
    """,
    re.VERBOSE,
)
_BETWEEN_SCRIPTS = re.compile(
    rf"""
    (?<= [{HAN}] ) {_GAP}* (?= [A-Za-z\d{_WORD}] )       # 用Python
  | (?<= [A-Za-z\d%{_WORD}] ) {_GAP}* (?= [{HAN}] )      # 3写
    """,
    re.VERBOSE,
)


def _repair_once(line: str, spacing: Spacing) -> str:
    """Apply every rule once, then the quotation marks and the spaces."""
    characters = _characters(line)
    for rule in _RULES:
        if not rule.marks.isdisjoint(characters):
            line = rule.repaired(line)
            characters = _characters(line)
    if _has_double_mark(line):
        line = _DOUBLE_MARK.sub(_first_mark, line)
    if '"' in characters:
        line = paired_quotes(line)
    if not _GAPS.isdisjoint(characters):
        line = _NEEDLESS_SPACE.sub("", line)
        line = joined(line)
    if spacing != "keep":
        line = _BETWEEN_SCRIPTS.sub("" if spacing == "none" else " ", line)
    return line


def _has_double_mark(line: str) -> bool:
    return any(double in line for double in _DOUBLES)


def _first_mark(match: re.Match[str]) -> str:
    return match["first"] or ""


def _characters(line: str) -> set[str]:
    """The characters of a line, and … where 。。。 stands for it."""
    characters = set(line)
    if "。。。" in line:
        characters.add("…")
    return characters
