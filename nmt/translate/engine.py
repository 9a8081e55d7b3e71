"""What searches for translations: ids in, hypotheses out. Nothing here needs torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nmt.config.schema import Config, SearchConfig
from nmt.run_dir import RunDir

TrainedRun = tuple[Config, RunDir]


@dataclass(frozen=True)
class Hypothesis:
    """A target sequence."""

    ids: list[int]  # without EOS
    log_prob: float  # with EOS
    score: float  # after the length penalty


NBest = list[Hypothesis]  # of one sentence, best first


def length_penalty(length: float, alpha: float) -> float:
    """What a log-probability is divided by (Wu et al., 2016, equation 14); `length` counts EOS."""
    return float(((5.0 + length) / 6.0) ** alpha)


class Engine(Protocol):
    """A model that decodes."""

    name: str  # for reports: what computes, and how exactly

    @property
    def protects(self) -> bool:
        """Whether both vocabularies have placeholders for protected spans."""

    @property
    def longest(self) -> int:
        """The most tokens of a sentence."""

    @property
    def threads(self) -> int:
        """How many batches are searched at a time; the cut into batches depends on it."""

    def decode(self, sources: Sequence[list[int]], search: SearchConfig) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order."""

    def fingerprint(self) -> str:
        """A hash of all that decides what is found for a source."""
