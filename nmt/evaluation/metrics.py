"""The metrics, by name: sacrebleu's, as they suit Chinese.

Strings in, numbers out. BLEU and chrF lie between 0 and 100, more is better; TER starts at 0, less is better.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature

from nmt.errors import ConfigError, DataError, counted
from nmt.evaluation.sentencepiece_bleu import new_sentencepiece_bleu

Lines = Sequence[str]
References = Sequence[Lines]  # one text or several, each line for line with the hypotheses

LOWER_IS_BETTER = frozenset({"ter"})

_HALF_WIDTH = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # ！ to ～
        "。": ".",
        "｡": ".",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "…": "...",
        "—": "--",
        "―": "--",
    }
)
_SPACE_BESIDE_PUNCTUATION = re.compile(
    r"""
    \s+ (?=[^\w\s])       # before it: 世界 !
    | (?<=[^\w\s]) \s+    # after it: 你好, 世界
    """,
    re.VERBOSE,
)
_DOTS = re.compile(r"\.{3,}")
_DASHES = re.compile("-{2,}")


def fold_width(line: str) -> str:
    """Rewrite `line` so that lines which differ only in how punctuation is set become equal.

    In this order: full-width forms of ASCII characters (U+FF01 to U+FF5E: ，；：？！（） and also digits and
    letters) become ASCII; 。 and ｡ become "."; “” become '"'; ‘’ become "'"; … becomes "..." and — or ― "--";
    white space is deleted beside a character that is neither letter, digit nor "_"; a run of three or
    more "." becomes "..." and a run of two or more "-" becomes "--". Everything else stays: 、《》「」【】 have
    no half-width twin, and a space between letters or digits is text.
    """
    folded = line.translate(_HALF_WIDTH)
    folded = _SPACE_BESIDE_PUNCTUATION.sub("", folded)
    folded = _DOTS.sub("...", folded)
    return _DASHES.sub("--", folded)


class WidthBLEU(BLEU):
    """BLEU of lines that `prepared` has folded; the signature says `width:folded`."""

    def get_signature(self) -> Signature:
        """Sacrebleu's signature of BLEU with one item more."""
        signature = super().get_signature()
        signature.update("width", "folded")
        return signature


# force=True silences only sacrebleu's remark on lines that end in " ."; `check_hypotheses` says more.
METRICS: dict[str, Callable[..., Metric]] = {
    "bleu": partial(BLEU, tokenize="zh", force=True),
    "bleu_width": partial(WidthBLEU, tokenize="zh", force=True),
    "bleu_flores101": partial(new_sentencepiece_bleu, "flores101"),
    "bleu_flores200": partial(new_sentencepiece_bleu, "flores200"),
    "chrf": CHRF,
    "chrf++": partial(CHRF, word_order=2),
    "ter": partial(TER, normalized=True, asian_support=True),
}


def new_metric(name: str, **options: Any) -> Metric:
    """Make the metric of that name; `options` are more settings of sacrebleu's.

    Raises ConfigError naming the nearest one, or saying how to get what the metric needs.
    """
    if name not in METRICS:
        near = difflib.get_close_matches(name.lower(), METRICS, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(METRICS)}"
        raise ConfigError(f"unknown metric {name!r}; {fix}")
    return METRICS[name](**options)


def prepared(name: str, lines: Lines) -> Lines:
    """The lines as a metric is to see them."""
    return [fold_width(line) for line in lines] if name == "bleu_width" else lines


def prepared_references(name: str, references: References) -> list[list[Any]]:
    """The references as a metric is to see them; None where one of several has no line, which sacrebleu leaves out.

    A blank line among several references says that this sentence has fewer: as a reference it would be one that is
    empty, and nearest to the shortest hypothesis.
    """
    texts = [list(prepared(name, reference)) for reference in references]
    lines: list[list[Any]] = [[] for _ in texts]
    for versions in zip(*texts, strict=True):
        is_given = any(version.strip() for version in versions)
        for kept, version in zip(lines, versions, strict=True):
            kept.append(None if is_given and not version.strip() else version)
    return lines


def values(hypotheses: Lines, references: References, metrics: Iterable[str]) -> dict[str, float]:
    """Measure without intervals: metric → value; for the many measurements during training."""
    scores: dict[str, float] = {}
    for name in metrics:
        found = new_metric(name).corpus_score(
            prepared(name, hypotheses), prepared_references(name, references)
        )
        scores[name] = found.score
    return scores


def check_counts(hypotheses: Lines, references: References, what: str = "hypothesis") -> None:
    """Raise DataError unless there are as many lines in each text, and at least one; `what` names the first text."""
    for number, reference in enumerate(references, start=1):
        name = "reference" if len(references) == 1 else f"reference {number}"
        if len(hypotheses) != len(reference):
            raise DataError(
                f"{count_of_lines(hypotheses)} of {what} but {count_of_lines(reference)} of "
                f"{name}; give files in which line n translates line n, and check that neither was "
                "cut short"
            )
    if not hypotheses:
        raise DataError(f"{what} and reference have 0 lines; give files with at least one sentence")


def count_of_lines(lines: Lines) -> str:
    """Say how many lines there are: "1 line", "2 lines"."""
    return counted(len(lines), "line")
