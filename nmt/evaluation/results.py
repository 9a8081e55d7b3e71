"""What an evaluation finds: data alone. `tables.py` makes text of it, `records.py` plain values for JSON.

Shapes: S systems.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nmt.evaluation.metrics import LOWER_IS_BETTER

About = Mapping[str, Any]  # plain values that say what was evaluated
PairedTest = Literal["bootstrap", "randomisation"]
# Of pairs that do not differ it marks 5 in 100; bootstrap, as sacrebleu counts it, marks 12.
USUAL_TEST: PairedTest = "randomisation"

SIGNIFICANT = 0.05


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


@dataclass(frozen=True)
class BadLine:
    """A line, counted from 1, and its score."""

    line: int
    score: float


@dataclass(frozen=True)
class SegmentScore:
    """The mean of a system's segment scores with its interval, and the worst of them."""

    score: Score
    worst: list[BadLine]


@dataclass(frozen=True)
class LabelScores:
    """The scores of one system on the lines of one label."""

    label: str
    lines: int
    scores: list[Score]


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


@dataclass(frozen=True)
class SystemPair:
    """Two systems by one metric; `difference` is the first one's score less the second one's."""

    first: str
    second: str
    difference: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """As of a Comparison."""
        return self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class PairsByMetric:
    """Each pair of systems by one metric."""

    metric: str
    signature: str
    pairs: list[SystemPair]


@dataclass(frozen=True)
class FaultRate:
    """How many lines have a fault of one kind, in percent: of each system [S], and of the references."""

    kind: str
    systems: list[float]
    references: float


@dataclass(frozen=True)
class SystemResult:
    """What was measured of one system, and what makes it doubtful."""

    about: About
    warnings: list[str]
    scores: list[Score]
    segment_scores: list[SegmentScore] = field(default_factory=list)
    labels: list[LabelScores] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)  # with the baseline

    @property
    def all_scores(self) -> list[Score]:
        """The scores of the whole test set, by metrics and by segment scores."""
        return [*self.scores, *(each.score for each in self.segment_scores)]


@dataclass(frozen=True)
class Evaluation:
    """One or several systems on a test set, by name; of several, each pair by each metric."""

    about: About
    systems: dict[str, SystemResult]
    fault_rates: list[FaultRate]
    test: PairedTest
    pairs: list[PairsByMetric]
    term_rates: list[FaultRate] = field(default_factory=list)  # in percent: more is better
