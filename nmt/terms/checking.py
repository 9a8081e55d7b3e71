"""What is odd in a glossary: what a person would want to know before it is used."""

import re
from collections import defaultdict
from collections.abc import Iterator

from nmt.terms.glossary import Glossary, Term
from nmt.terms.matching import Matcher
from nmt.text.scripts import HAS_HAN, is_traditional

# Words that stand in almost every sentence: as terms they would be forced everywhere.
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also an and any are as at be been but by can could did do does for from had has have he her
        his how if in into is it its may more most my no not of on one only or other our out over she should so some
        such than that the their them then there these they this those to up us was we were what when where which who
        will with would you your
        """,
    )
)
_SHORTEST = 2  # letters


def oddities(glossary: Glossary) -> Iterator[str]:
    """A line for each thing that is odd, in the order of the terms; contradictions first."""
    by_source: defaultdict[str, list[Term]] = defaultdict(list)
    for term in glossary.terms:
        by_source[term.source.casefold()].append(term)
    for terms in by_source.values():
        yield from _doubles(terms)
    matcher = Matcher(glossary)
    for term in glossary.terms:
        yield from _alone(term)
        yield from _nested(term, matcher)


def _doubles(terms: list[Term]) -> Iterator[str]:
    """Terms with the same source, but for capitals."""
    first, *others = terms
    for other in others:
        if other.source != first.source:
            yield f"{other.place}: {other.source!r} differs from {first.source!r} ({first.place}) in capitals only"
        elif set(other.targets) == set(first.targets):
            yield f"{other.place}: {other.source!r} stands in {first.place} too"
        else:
            targets = " and ".join(" | ".join(each.targets) or "itself" for each in (first, other))
            yield f"{other.place}: {other.source!r} has two translations, {targets}; {first.place} is taken"


def _alone(term: Term) -> Iterator[str]:
    """What is odd about a term by itself."""
    where = f"{term.place}: {term.source!r}"
    if term.source in _STOP_WORDS:
        yield f"{where} is a word of almost every sentence"
    elif len(term.source) < _SHORTEST:
        yield f"{where} has one character"
    if HAS_HAN.search(term.source):
        yield f"{where} is Chinese; are the columns the wrong way round?"
    for target in term.targets:
        if is_traditional(target):
            yield f"{where}: {target!r} is in Traditional characters"
        elif not HAS_HAN.search(target) and target.casefold() != term.source.casefold():
            yield f"{where}: {target!r} has no Chinese character"
    wrong = set(term.targets) & set(term.forbidden)
    if wrong:
        yield f"{where}: {min(wrong)!r} is both a target and forbidden"


def _nested(term: Term, matcher: Matcher) -> Iterator[str]:
    """Whether another term within a longer one is translated otherwise there."""
    words = term.source.split(" ")
    whole = term.targets[0].casefold() if term.targets else ""
    if len(words) < 2 or not term.targets:
        return
    for number in range(len(words)):
        for part in (" ".join(words[: number + 1]), " ".join(words[number + 1 :])):
            inner = matcher.term(part) if part and part != term.source else None
            if inner is None or not inner.targets:
                continue
            if not any(target.casefold() in whole for target in inner.targets):
                targets = f"{inner.targets[0]!r} is not in {term.targets[0]!r}"
                yield f"{term.place}: {term.source!r} has {inner.source!r} in it, whose {targets}"
