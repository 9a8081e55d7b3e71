"""Terms: words of the source that have words of their own in every translation."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Case = Literal["exact", "any", ""]


@dataclass(frozen=True)
class Term:
    """One line of a glossary.

    The first of `targets` is written, and any of them is right; without one, the words stay as they are in the text.
    `case`: "exact", the text has to have the same letters; "any", it may have others; "": a capital of the term has to
    be one in the text. `forbidden` are wrong translations. `place` is where the term was read: `terms.tsv:7`.
    """

    source: str
    targets: tuple[str, ...]
    place: str = ""
    case: Case = ""
    forbidden: tuple[str, ...] = ()

    @property
    def stays(self) -> bool:
        """Whether the words stay as they are in the text: there is no target, or it is the source in other letters."""
        is_same = bool(self.targets) and self.targets[0].casefold() == self.source.casefold()
        return not self.targets or (is_same and self.case != "exact")

    def written(self, words: str) -> str:
        """What stands in a translation for words of the text."""
        return words if self.stays else self.targets[0]

    def allowed(self, words: str) -> tuple[str, ...]:
        """What may stand in a translation for words of the text."""
        return (words, *self.targets) if self.stays else self.targets


@dataclass(frozen=True)
class Glossary:
    """Terms in the order of their files. Of two with the same source, the first is taken."""

    terms: tuple[Term, ...]

    def fingerprint(self) -> str:
        """A hash of what decides about translations."""
        deciding = [
            repr((term.source, term.targets, term.case, term.forbidden)) for term in self.terms
        ]
        return hashlib.sha256("\n".join(deciding).encode()).hexdigest()


def joined(glossaries: Iterable[Glossary]) -> Glossary:
    """Several glossaries as one: those that are named first come first."""
    return Glossary(tuple(term for glossary in glossaries for term in glossary.terms))
