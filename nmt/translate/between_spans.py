"""Lines whose spans did not come through the model: translated in parts, around the spans.

What the model is able to copy does not matter then: it never sees a span. It does not see the whole sentence either,
which is why this comes last.
"""

from collections.abc import Callable

from nmt.checks.faults import mangled
from nmt.spans.exact import cut
from nmt.spans.masking import joined
from nmt.translate.translation import Candidate

_NOTHING = Candidate("", 0.0, 0.0)


def texts_between(line: str) -> list[str]:
    """The parts of a line that the model is to see, in order: before, between and behind the spans."""
    return cut(line)[::2]


def with_spans(
    line: str, translated: list[list[Candidate]], repair: Callable[[str], str]
) -> Candidate:
    """A line's translation from the n best of each of `texts_between`, its spans as they are in the line.

    Spaces around a span stay. A repair that would change a span is left out.
    """
    pieces = []
    log_prob = score = 0.0
    translations = iter(translated)
    for number, piece in enumerate(cut(line)):
        if number % 2:
            pieces.append(piece)
            continue
        best = next(iter(next(translations)), _NOTHING)
        log_prob += best.log_prob
        score += best.score
        pieces.append(_spaced_as(piece, best.text))
    text = joined(pieces).strip()
    repaired = repair(text)
    return Candidate(text if mangled(line, repaired) else repaired, log_prob, score)


def _spaced_as(source: str, text: str) -> str:
    """A text with a space where its source begins or ends with one."""
    if not text:
        return " " if source else ""
    before = " " if source[:1].isspace() else ""
    behind = " " if source[-1:].isspace() else ""
    return before + text + behind
