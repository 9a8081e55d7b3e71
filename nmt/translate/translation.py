"""What a translation of a line is."""

from dataclasses import dataclass

from nmt.checks.faults import Fault
from nmt.terms.success import Use


@dataclass(frozen=True)
class Candidate:
    """One of the n best translations of a line: its log-probability, and its score after the length penalty.

    Both are sums over the parts of a line that had to be split.
    """

    text: str
    log_prob: float
    score: float


@dataclass(frozen=True)
class Translation:
    """A line and its translations, best first. A blank line has none.

    If the line was tried again, those without a fault come before all others. `faults` are those of
    the best one: spans that were lost, and if it was `verified` whatever else looks wrong. `terms` are those of the
    glossary in the source, if there is one, and what the best one has for them.
    """

    source: str
    candidates: tuple[Candidate, ...]
    faults: tuple[Fault, ...] = ()
    verified: bool = False
    terms: tuple[Use, ...] | None = None

    @property
    def text(self) -> str:
        """The best translation; a blank line's is blank."""
        return self.candidates[0].text if self.candidates else ""

    @property
    def score(self) -> float | None:
        """The score of the best translation; None for a blank line."""
        return self.candidates[0].score if self.candidates else None
