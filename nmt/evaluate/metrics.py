"""Scores of Chinese translations, by sacrebleu, each with its signature and a 95 % bootstrap interval.

Strings in, numbers out. BLEU and chrF lie between 0 and 100, more is better; TER starts at 0, less is better.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.significance import PairedTest, Result

from nmt.errors import ConfigError, DataError, counted

Lines = Sequence[str]

RESAMPLES = 1000  # as many as `sacrebleu --confidence` draws
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
    white space goes if it stands beside a character that is neither letter, digit nor "_"; a run of three or
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
METRICS: dict[str, Callable[[], Metric]] = {
    "bleu": lambda: BLEU(tokenize="zh", force=True),
    "bleu_width": lambda: WidthBLEU(tokenize="zh", force=True),
    "chrf": CHRF,
    "ter": lambda: TER(normalized=True, asian_support=True),
}


def prepared(name: str, lines: Lines) -> Lines:
    """The lines as a metric is to see them."""
    return [fold_width(line) for line in lines] if name == "bleu_width" else lines


@dataclass(frozen=True)
class Score:
    """One metric of one system: `value` in 0 to 100 (TER: 0 or more), `low` to `high` its 95 % interval.

    The interval is sacrebleu's μ ± half-width (`sacrebleu --confidence`, 1000 resamples, seed 12345 unless
    $SACREBLEU_SEED is set), cut at the ends of the metric's range.
    """

    metric: str
    value: float
    low: float
    high: float
    signature: str


def score(hypotheses: Lines, references: Lines, metrics: Iterable[str]) -> list[Score]:
    """Measure detokenised hypotheses against one reference each; `metrics` are names in METRICS.

    Raises DataError if the counts differ or nothing is given, ConfigError for an unknown metric.
    """
    check_counts(hypotheses, references)
    return [_score(name, hypotheses, references) for name in metrics]


def _score(name: str, hypotheses: Lines, references: Lines) -> Score:
    (result,), signature = bootstrap(name, [hypotheses], references)
    mean = cast(float, result.mean)  # a bootstrap always sets `mean` and `ci`
    half_width = cast(float, result.ci)
    return Score(
        metric=name,
        value=_within_range(name, result.score),
        low=_within_range(name, mean - half_width),
        high=_within_range(name, mean + half_width),
        signature=signature,
    )


def _within_range(name: str, value: float) -> float:
    ceiling = math.inf if name in LOWER_IS_BETTER else 100.0
    return min(ceiling, max(0.0, float(value)))


def bootstrap(name: str, systems: Sequence[Lines], references: Lines) -> tuple[list[Result], str]:
    """Resample the test set 1000 times; give one Result for each system, and the signature.

    The systems after the first are compared with it and carry a p-value. PairedTest serves a single system
    too, since `corpus_score(n_bootstrap=1000)` of sacrebleu 2.6 raises TypeError if chrF is 0 in only some of
    the resamples. Each metric needs a test of its own: PairedTest keeps results by sacrebleu's names, and two
    of our metrics are "BLEU" there.
    """
    test = PairedTest(
        [(str(number), prepared(name, lines)) for number, lines in enumerate(systems)],
        {name: new_metric(name)},
        [prepared(name, references)],
        test_type="bs",
        n_samples=RESAMPLES,
    )
    signatures, columns = test()
    ((column, signature),) = signatures.items()
    results = [result for result in columns[column] if isinstance(result, Result)]
    return results, str(signature)


def new_metric(name: str) -> Metric:
    """Make the metric of that name. Raises ConfigError naming the nearest one."""
    if name not in METRICS:
        near = difflib.get_close_matches(name.lower(), METRICS, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(METRICS)}"
        raise ConfigError(f"unknown metric {name!r}; {fix}")
    return METRICS[name]()


def values(hypotheses: Lines, references: Lines, metrics: Iterable[str]) -> dict[str, float]:
    """Measure without intervals: metric → value; for the many measurements during training."""
    scores: dict[str, float] = {}
    for name in metrics:
        found = new_metric(name).corpus_score(
            prepared(name, hypotheses), [prepared(name, references)]
        )
        scores[name] = found.score
    return scores


def check_counts(hypotheses: Lines, references: Lines) -> None:
    """Raise DataError unless there are as many hypotheses as references, and at least one."""
    if len(hypotheses) != len(references):
        raise DataError(
            f"{count_of_lines(hypotheses)} of hypothesis but {count_of_lines(references)} of "
            "reference; give line-aligned files of the same test set, and check that neither was "
            "cut short"
        )
    if not hypotheses:
        raise DataError(
            "hypothesis and reference have 0 lines; give files with at least one sentence"
        )


def count_of_lines(lines: Lines) -> str:
    """Say how many lines there are: "1 line", "2 lines"."""
    return counted(len(lines), "line")
