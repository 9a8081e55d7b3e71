"""Scores of Chinese translations, by sacrebleu, each with its signature and a 95 % bootstrap interval.

Strings in, numbers out. BLEU and chrF lie between 0 and 100, more is better; TER starts at 0, less is better.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.significance import PairedTest, Result

from nmt.errors import ConfigError, DataError

Lines = Sequence[str]

RESAMPLES = 1000  # as many as `sacrebleu --confidence` draws
LOWER_IS_BETTER = frozenset({"ter"})

_HALF_WIDTH = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | {
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
_SPACE_AT_PUNCTUATION = re.compile(r"\s+(?=[^\w\s])|(?<=[^\w\s])\s+")

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAS_HAN = re.compile(f"[{_HAN}]")
_NEIGHBOURS = re.compile(f"[{_HAN}](\\s*)(?=[{_HAN}，。、；：？！])")
_SPACED_LINE = 0.25  # of the gaps in a line; jieba's words put a space into more than half of them
_NOTABLE = 0.1  # of all lines: from here on a doubt is worth a word


def fold_width(line: str) -> str:
    """Rewrite `line` so that lines which differ only in how punctuation is set become equal.

    In this order: full-width forms of ASCII characters (U+FF01 to U+FF5E: ，；：？！（） and also digits and
    letters) become ASCII; 。 and ｡ become "."; “” become '"'; ‘’ become "'"; … becomes "..." and — or ― "--";
    white space beside any character that is neither letter, digit nor "_" goes; a run of three or more "."
    becomes "..." and a run of two or more "-" becomes "--". Everything else stays: 、《》「」【】 have no
    half-width twin, and a space between letters or digits is text.
    """
    folded = _SPACE_AT_PUNCTUATION.sub("", line.translate(_HALF_WIDTH))
    return re.sub("-{2,}", "--", re.sub(r"\.{3,}", "...", folded))


class WidthBLEU(BLEU):
    """BLEU after `fold_width` of hypothesis and reference; the signature says `width:folded`."""

    def _preprocess_segment(self, sent: str) -> str:
        return super()._preprocess_segment(fold_width(sent))

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

    Raises DataError where the counts differ or nothing is given, ConfigError for an unknown metric.
    """
    check_counts(hypotheses, references)
    return [_score(name, hypotheses, references) for name in metrics]


def _score(name: str, hypotheses: Lines, references: Lines) -> Score:
    (result,), signature = bootstrap(name, [hypotheses], references)
    mean, half = cast(float, result.mean), cast(float, result.ci)  # a bootstrap always sets them
    ceiling = math.inf if name in LOWER_IS_BETTER else 100.0
    low, value, high = (
        min(ceiling, max(0.0, float(x))) for x in (mean - half, result.score, mean + half)
    )
    return Score(name, value, low, high, signature)


def bootstrap(name: str, systems: Sequence[Lines], references: Lines) -> tuple[list[Result], str]:
    """Resample the test set 1000 times: one Result a system, and the signature.

    The systems after the first are compared with it and carry a p-value. PairedTest serves a single system
    too: `corpus_score(n_bootstrap=1000)` of sacrebleu 2.6 raises TypeError where chrF is 0 in some resamples
    only. One test a metric, since PairedTest keeps results by sacrebleu's names, and two of ours are "BLEU".
    """
    named = [(str(number), lines) for number, lines in enumerate(systems)]
    test = PairedTest(
        named, {name: new_metric(name)}, [references], test_type="bs", n_samples=RESAMPLES
    )
    signatures, columns = test()
    ((column, signature),) = signatures.items()
    return [result for result in columns[column] if isinstance(result, Result)], str(signature)


def new_metric(name: str) -> Metric:
    """Make the metric of that name. Raises ConfigError naming the nearest one."""
    if name not in METRICS:
        near = difflib.get_close_matches(name.lower(), METRICS, n=1, cutoff=0.5)
        mend = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(METRICS)}"
        raise ConfigError(f"unknown metric {name!r}; {mend}")
    return METRICS[name]()


def values(hypotheses: Lines, references: Lines, metrics: Iterable[str]) -> dict[str, float]:
    """Measure without intervals: metric → value; for the many measurements during training."""
    return {name: new_metric(name).corpus_score(hypotheses, [references]).score for name in metrics}


def check_counts(hypotheses: Lines, references: Lines) -> None:
    """Raise DataError unless there are as many hypotheses as references, and at least one."""
    if len(hypotheses) != len(references):
        told = f"{_lines(len(hypotheses))} of hypothesis but {_lines(len(references))} of reference"
        mend = "give line-aligned files of the same test set, and check that neither was cut short"
        raise DataError(f"{told}; {mend}")
    if not hypotheses:
        raise DataError(
            "hypothesis and reference have 0 lines; give files with at least one sentence"
        )


def check_hypotheses(hypotheses: Lines, references: Lines) -> list[str]:
    """Say what would make a score doubtful, one sentence each; call it before `score`.

    Raises DataError where the counts differ, or where most hypotheses but not the references are segmented.
    """
    check_counts(hypotheses, references)
    looks = (_segmented, _blank, _not_chinese, _same)
    return [doubt for look in looks for doubt in look(hypotheses, references)]


def segmented_share(lines: Iterable[str]) -> float:
    """Find the share of lines, 0 to 1, with spaces between Han characters, as a tokenizer leaves them.

    Only lines in which a Han character meets another, or Chinese punctuation, are counted.
    """
    gaps = [_NEIGHBOURS.findall(line) for line in lines]
    spaced = [sum(map(bool, line)) / len(line) >= _SPACED_LINE for line in gaps if line]
    return sum(spaced) / len(spaced) if spaced else 0.0


def _segmented(hypotheses: Lines, references: Lines) -> Iterator[str]:
    share, usual = segmented_share(hypotheses), segmented_share(references)
    told = f"{share:.0%} of the hypothesis lines are segmented by spaces ({usual:.0%} of the reference)"
    message = f"{told}, which BLEU's zh tokenizer and chrF hide but a reader sees; join the Chinese tokens first"
    if share > max(0.5, 2 * usual):
        raise DataError(message)
    if share > max(_NOTABLE, 2 * usual):
        yield message


def _blank(hypotheses: Lines, references: Lines) -> Iterator[str]:
    pairs = enumerate(zip(hypotheses, references, strict=True), start=1)
    numbers = [number for number, (ours, theirs) in pairs if not ours.strip() and theirs.strip()]
    if numbers:
        yield f"{len(numbers)} of {_lines(len(hypotheses))} of hypothesis are blank, first line {numbers[0]}"


def _not_chinese(hypotheses: Lines, references: Lines) -> Iterator[str]:
    both = zip(hypotheses, references, strict=True)
    chinese = [ours for ours, theirs in both if ours.strip() and _HAS_HAN.search(theirs)]
    foreign = sum(not _HAS_HAN.search(line) for line in chinese)
    if foreign > _NOTABLE * len(chinese):
        told = f"{foreign} of {_lines(len(chinese))} of hypothesis have no Chinese character though their reference has"
        yield f"{told}; check that the hypothesis is the translation and not the source"


def _same(hypotheses: Lines, references: Lines) -> Iterator[str]:
    if list(hypotheses) == list(references):
        yield "hypothesis and reference are the same text; check that the hypothesis is not the reference itself"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def format_scores(scores: Sequence[Score]) -> str:
    """Lay out a table for people, one line a metric: name, value, interval, signature."""
    rows = ((one, f"[{one.low:.2f}, {one.high:.2f}]") for one in scores)
    return "\n".join(
        f"{one.metric:<10} {one.value:6.2f}  {interval:<16}  {one.signature}"
        for one, interval in rows
    )


def by_metric(results: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Turn results of one metric each, Score or Comparison, into JSON-able values: metric → its other fields."""
    return {
        each.metric: {name: value for name, value in vars(each).items() if name != "metric"}
        for each in results
    }
