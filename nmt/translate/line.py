"""A line on its way through the translator."""

from collections.abc import Callable
from dataclasses import dataclass, field

from nmt.spans.masking import Masked
from nmt.translate.translation import Candidate


@dataclass(eq=False)
class Line:
    """A line as it was given, as the first search reads it, and what was found for it so far, the best first."""

    source: str
    checked: str  # the source as translations are held against it: with the terms of a glossary in Chinese
    masked: Masked
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def best(self) -> Candidate | None:
        """The best translation so far; None for a blank line, and where none kept all placeholders."""
        return self.candidates[0] if self.candidates else None

    def put_faultless_first(self, others: list[Candidate], is_faulty: "IsFaulty") -> None:
        """Take in other candidates, better than those so far: each text once, those with the fewest faults first."""
        by_text: dict[str, Candidate] = {}
        for candidate in [*others, *self.candidates]:
            by_text.setdefault(candidate.text, candidate)
        self.candidates = sorted(by_text.values(), key=lambda each: is_faulty(self, each))


IsFaulty = Callable[[Line, Candidate], int]  # or how many faults it has
