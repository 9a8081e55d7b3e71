"""Marks that touch each other, where repairing one by one would take as many passes: dashes, dots, brackets."""

import re

from nmt.spans.patterns import CHINESE
from nmt.text.scripts import HAS_HAN

GAPS = " \t\xa0\u3000"
_GAPS_IN_A_ROW = re.compile(f"[{GAPS}]+")
_DASHES = re.compile(f"[—{GAPS}]{{2,}}")  # 好 —— 的
_DOTS = re.compile(f"[…{GAPS}]{{2,}}")  # 好 ……
_BRACKETS = re.compile(r"\(([^()（）]*)\)")
_IS_CHINESE = re.compile(f"[{CHINESE}]")


def without_gaps(text: str) -> str:
    """A text without its white space."""
    return _GAPS_IN_A_ROW.sub("", text)


def joined(line: str) -> str:
    """A line in which no space is beside a ——, nor before a ……; one at the end of the line stays."""
    return _DOTS.sub(_dots, _DASHES.sub(_dashes, line))


def _dashes(match: re.Match[str]) -> str:
    run = match[0]
    if "——" not in run:
        return run
    at_end = match.end() == len(match.string)
    gaps = run[len(run.rstrip(GAPS)) :] if at_end else ""
    return without_gaps(run) + gaps


def _dots(match: re.Match[str]) -> str:
    end = match[0].rfind("……")
    return match[0] if end < 0 else without_gaps(match[0][:end]) + match[0][end:]


def full_width_brackets(line: str) -> str:
    """（） around Chinese and where they touch it; (Latin) between spaces is a style of its own."""
    repaired = ""
    end = 0
    for match in _BRACKETS.finditer(line):
        repaired += line[end : match.start()]
        end = match.end()
        beside = repaired[-1:] or line[end : end + 1]
        is_chinese = HAS_HAN.search(match[1]) or _IS_CHINESE.match(beside)
        repaired += f"（{match[1].strip()}）" if is_chinese else match[0]
    return repaired + line[end:]
