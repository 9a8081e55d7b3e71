"""Is a system better than before? Paired bootstrap against a baseline."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from nmt.errors import DataError
from nmt.evaluate.metrics import (
    LOWER_IS_BETTER,
    Lines,
    bootstrap,
    check_counts,
    count_of_lines,
)

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """A system and its baseline by one metric; `difference` = `value` - `baseline`, in the metric's points.

    `p_value` is how often chance alone would move the score further than `difference` (Koehn, 2004, as in
    Moses and `sacrebleu --paired-bs`): each tail of it is tested at the level given, not both together.
    """

    metric: str
    value: float
    baseline: float
    difference: float
    p_value: float
    signature: str

    @property
    def is_significant(self) -> bool:
        """Chance alone would make such a difference in fewer than 5 of 100 cases."""
        return self.p_value < SIGNIFICANT

    @property
    def is_worse(self) -> bool:
        """The system's score lies on the worse side of the baseline's, by however little."""
        return self.difference > 0 if self.metric in LOWER_IS_BETTER else self.difference < 0


def compare(
    hypotheses: Lines, baseline: Lines, references: Lines, metrics: Iterable[str]
) -> list[Comparison]:
    """Paired bootstrap of a system against a baseline, 1000 resamples, the same seed as `score`.

    Raises DataError if the counts differ or nothing is given, ConfigError for an unknown metric.
    """
    check_counts(hypotheses, references)
    if len(baseline) != len(references):
        raise DataError(
            f"{count_of_lines(baseline)} of baseline but {len(references):,} of reference; "
            "give the baseline's translation of the same test set"
        )
    return [_compare(name, hypotheses, baseline, references) for name in metrics]


def _compare(name: str, hypotheses: Lines, baseline: Lines, references: Lines) -> Comparison:
    (theirs, ours), signature = bootstrap(name, [baseline, hypotheses], references)
    difference = float(ours.score) - float(theirs.score)
    p_value = float(cast(float, ours.p_value))
    if difference == 0:
        p_value = 1.0  # sacrebleu gives its smallest p: no resample can exceed such a difference
    return Comparison(
        metric=name,
        value=float(ours.score),
        baseline=float(theirs.score),
        difference=difference,
        p_value=p_value,
        signature=signature,
    )
