"""The terms of a glossary on their way through a translator.

A model that translates a term as the glossary wants it anyway does so best where it reads the term. So only those that
it does not know are hidden from it at once; the others where a translation turned out to lack one.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter

from nmt.spans.masking import Hidden, replaced
from nmt.terms.glossary import Glossary, Term
from nmt.terms.matching import Match, Matcher
from nmt.terms.success import Use, uses

Translate = Callable[[list[str]], list[str]]


class LineTerms:
    """Finds the terms of lines, and what became of them."""

    def __init__(self, glossary: Glossary) -> None:
        # Each line of a window is asked for several times.
        self._find = lru_cache(maxsize=4096)(Matcher(glossary).find)
        self._is_known: dict[Term, bool] = {}

    def learn(self, lines: Sequence[str], translate: Translate) -> None:
        """Find out which terms of lines the model knows, by its translations of them alone."""
        new = [
            term for line in lines for _, _, term in self._find(line) if term not in self._is_known
        ]
        terms = list(dict.fromkeys(new))
        for term, alone in zip(terms, translate([term.source for term in terms]), strict=True):
            self._is_known[term] = any(target in alone for target in term.allowed(term.source))

    def hidden(self, line: str) -> list[Hidden]:
        """All terms of a line, with what stands for them in its translation."""
        return _hidden(line, self._find(line))

    def unknown(self, line: str) -> list[Hidden]:
        """The terms of a line that the model is not known to translate as the glossary does."""
        found = self._find(line)
        return _hidden(line, [each for each in found if not self._is_known.get(each.term, False)])

    def wanted(self, line: str) -> list[str]:
        """What a translation of the line has to have."""
        return [each.text for each in self.hidden(line)]

    def in_place(self, line: str) -> str:
        """The line with its terms in the other language, as translations are held against it."""
        return replaced(line, self.hidden(line), attrgetter("text"))

    def uses(self, line: str, translation: str) -> list[Use]:
        """What became of the terms of a line in its translation."""
        return uses(line, self._find(line), translation)

    def missing(self, line: str, translation: str) -> int:
        """How many terms of a line its translation lacks."""
        return sum(not use.found for use in self.uses(line, translation))


def _hidden(line: str, matches: Sequence[Match]) -> list[Hidden]:
    return [Hidden(start, end, term.written(line[start:end])) for start, end, term in matches]
