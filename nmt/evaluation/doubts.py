"""What makes a score doubtful: few lines, or hypotheses that are segmented, blank, not Chinese, or the references."""

import re
from collections.abc import Iterable, Iterator

from nmt.errors import DataError, counted
from nmt.evaluation.metrics import Lines, References, check_counts, count_of_lines
from nmt.text.scripts import HAN, HAS_HAN

# The white space, most often none, between a Han character and another one or Chinese punctuation.
_GAP = re.compile(f"[{HAN}](\\s*)(?=[{HAN}，。、；：？！])")

# The share of a line's gaps from which on it is segmented; jieba's words put a space into more than half.
_SPACED_GAPS = 0.25
_FEW = 10  # lines, below which chance decides the score
_NOTABLE = 0.1  # of all lines, above which a doubt is worth a warning
_MOST = 0.5  # of all lines, above which segmentation is an error


def check_hypotheses(hypotheses: Lines, references: References) -> list[str]:
    """Say what would make a score doubtful, one sentence each; call it before `score`.

    Raises DataError if the counts differ, or if most hypotheses but not the references are segmented.
    """
    check_counts(hypotheses, references)
    found = [
        _few(hypotheses),
        _segmented(hypotheses, references),
        _blank(hypotheses, references),
        _not_chinese(hypotheses, references),
        _same_text(hypotheses, references),
    ]
    return [doubt for doubt in found if doubt is not None]


def segmented_share(lines: Iterable[str]) -> float:
    """Find the share of lines, 0 to 1, with spaces between Han characters, as a tokenizer leaves them.

    Only lines in which a Han character meets another, or Chinese punctuation, are counted.
    """
    with_gaps = 0
    segmented = 0
    for line in lines:
        gaps = _GAP.findall(line)
        if not gaps:
            continue
        with_gaps += 1
        spaced = len(gaps) - gaps.count("")
        if spaced / len(gaps) >= _SPACED_GAPS:
            segmented += 1
    return segmented / with_gaps if with_gaps else 0.0


def _segmented(hypotheses: Lines, references: References) -> str | None:
    share = segmented_share(hypotheses)
    usual = max(segmented_share(reference) for reference in references)
    doubt = (
        f"{share:.0%} of the hypothesis lines are segmented by spaces ({usual:.0%} of the "
        "reference), which BLEU's zh tokenizer and chrF hide but a reader sees; join the Chinese "
        "tokens first"
    )
    if share > max(_MOST, 2 * usual):
        raise DataError(doubt)
    return doubt if share > max(_NOTABLE, 2 * usual) else None


def _blank(hypotheses: Lines, references: References) -> str | None:
    blank = []
    for number, (hypothesis, *versions) in _aligned(hypotheses, references):
        if "".join(versions).strip() and not hypothesis.strip():
            blank.append(number)
    if not blank:
        return None
    return (
        f"{len(blank)} of {count_of_lines(hypotheses)} of hypothesis are blank, "
        f"first line {blank[0]}"
    )


def _not_chinese(hypotheses: Lines, references: References) -> str | None:
    expected_chinese = []
    for _number, (hypothesis, *versions) in _aligned(hypotheses, references):
        if hypothesis.strip() and HAS_HAN.search("".join(versions)):
            expected_chinese.append(hypothesis)
    foreign = sum(HAS_HAN.search(line) is None for line in expected_chinese)
    if foreign <= _NOTABLE * len(expected_chinese):
        return None
    return (
        f"{foreign} of {count_of_lines(expected_chinese)} of hypothesis have no Chinese character "
        "though their reference has; check that the hypothesis is the translation and not the source"
    )


def _few(hypotheses: Lines) -> str | None:
    if len(hypotheses) >= _FEW:
        return None
    lines = counted(len(hypotheses), "line")
    return f"only {lines}: too few for a reliable score; use several hundred"


def _same_text(hypotheses: Lines, references: References) -> str | None:
    if all(list(hypotheses) != list(reference) for reference in references):
        return None
    return (
        "each translation is equal to its reference; "
        "check that the translations are not the references themselves"
    )


def _aligned(hypotheses: Lines, references: References) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each line's number, from 1, and the hypothesis with its references."""
    return enumerate(zip(hypotheses, *references, strict=True), start=1)
