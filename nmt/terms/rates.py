"""How far translations keep to a glossary, in percent of its terms in the sources.

The rules are those of WMT25's terminology task, counted exclusively as in WMT26's: see `uses`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nmt.evaluation.results import FaultRate
from nmt.terms.glossary import Glossary, Term
from nmt.terms.matching import Match, Matcher
from nmt.terms.success import uses

Lines = Sequence[str]


class TermRates(NamedTuple):
    """Rates in percent, and how many terms the sources have, and of these the first reference."""

    rates: list[FaultRate]
    in_sources: int
    in_reference: int


def term_rates(
    glossary: Glossary, sources: Lines, systems: Sequence[Lines], references: Sequence[Lines]
) -> TermRates:
    """The share of all terms that are as in the glossary; of those that the first reference has; and consistency.

    Consistency is the share of the terms that occur more than once which are translated by the target that is most
    used for them. The references' own rates are beside those of the systems. There are none without terms.
    """
    matcher = Matcher(glossary)
    matches = [matcher.find(line) for line in sources]
    in_reference = [
        [use.match for use in uses(*line) if use.found]
        for line in zip(sources, matches, references[0], strict=True)
    ]
    total = sum(map(len, matches))
    known = sum(map(len, in_reference))
    rows = [("as in the glossary", matches, _success)] if total else []
    rows += [("those in the reference", in_reference, _success)] if known else []
    rows += [("consistent", matches, _consistency)] if total else []
    rates = [
        FaultRate(
            kind,
            [rate(sources, found, lines) for lines in systems],
            sum(rate(sources, found, lines) for lines in references) / len(references),
        )
        for kind, found, rate in rows
    ]
    return TermRates(rates, total, known)


def _success(sources: Lines, matches: Sequence[Sequence[Match]], translations: Lines) -> float:
    found = list(_found(sources, matches, translations))
    return 100 * sum(bool(target) for _, target in found) / len(found)


def _consistency(sources: Lines, matches: Sequence[Sequence[Match]], translations: Lines) -> float:
    """In percent; 100 if no term occurs twice."""
    by_term: defaultdict[Term, Counter[str]] = defaultdict(Counter)
    for term, target in _found(sources, matches, translations):
        by_term[term][target] += 1
    several = [targets for targets in by_term.values() if targets.total() > 1]
    total = sum(targets.total() for targets in several)
    alike = sum(
        max((count for target, count in targets.items() if target), default=0)
        for targets in several
    )
    return 100 * alike / total if total else 100.0


def _found(
    sources: Lines, matches: Sequence[Sequence[Match]], translations: Lines
) -> Iterator[tuple[Term, str]]:
    """Each term of the sources, with what its translation has for it; "" for nothing."""
    for source, of_line, translation in zip(sources, matches, translations, strict=True):
        for use in uses(source, of_line, translation):
            yield use.match.term, use.found
