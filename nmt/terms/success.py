"""Which terms of a source its translation has.

Counting is exclusive, as in WMT26's terminology task: a stretch of the translation stands for one term only, and the
longest terms choose first, so that 银行 within 中央银行 is not counted for both. Latin letters may be small or capital.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nmt.terms.matching import Match


class Use(NamedTuple):
    """A term in a source: its words there, what may stand for them, and which of these the translation has, if any."""

    match: Match
    words: str
    allowed: tuple[str, ...]
    found: str = ""


def uses(source: str, matches: Sequence[Match], translation: str) -> list[Use]:
    """What became of the terms of a source, in their order."""
    found = [
        Use(match, words, match.term.allowed(words))
        for match in matches
        for words in [source[match.start : match.end]]
    ]
    left = translation.lower()
    wanted = sorted(
        ((target, number) for number, use in enumerate(found) for target in use.allowed),
        key=lambda each: -len(each[0]),
    )
    for target, number in wanted:
        at = left.find(target.lower())
        if at >= 0 and not found[number].found:
            found[number] = found[number]._replace(found=target)
            left = left[:at] + "\0" * len(target) + left[at + len(target) :]
    return found


def wrong(found: Sequence[Use], translation: str) -> list[str]:
    """What is wrong with the terms of a translation, in few words: those that it lacks, and forbidden words."""
    problems = [f"{use.words} is not {' or '.join(use.allowed)}" for use in found if not use.found]
    for use in found:
        for word in use.match.term.forbidden:
            if word in translation and not any(word in target for target in use.allowed):
                problems.append(f"{use.words} must not be {word}")
    return problems
