"""Where the terms of a glossary are in a line: the longest first, none within another, on the borders of words.

A term is found in its plural too, and before an apostrophe: banks, heads of state, the bank's.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nmt.spans import exact
from nmt.terms.glossary import Glossary, Term

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SPACES = re.compile(r"\s+")
_HEAD = re.compile(r"(\w+)(?= (?:of|in|for|at|on|to|under|by|with)\b)")
_IRREGULAR = {
    "children": "child",
    "men": "man",
    "women": "woman",
    "people": "person",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "lives": "life",
    "wives": "wife",
    "knives": "knife",
    "leaves": "leaf",
    "shelves": "shelf",
    "halves": "half",
    "data": "datum",
    "media": "medium",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "bacteria": "bacterium",
    "indices": "index",
    "matrices": "matrix",
    "vertices": "vertex",
    "appendices": "appendix",
    "analyses": "analysis",
    "crises": "crisis",
    "diagnoses": "diagnosis",
    "hypotheses": "hypothesis",
    "theses": "thesis",
    "syntheses": "synthesis",
    "prognoses": "prognosis",
    "foci": "focus",
    "nuclei": "nucleus",
    "stimuli": "stimulus",
    "fungi": "fungus",
    "loci": "locus",
}
_TAKES_ES = re.compile(r"(?:s|x|z|ch|sh|o)es$")


class Match(NamedTuple):
    """A term in a line, from one character to before another."""

    start: int
    end: int
    term: Term


class Matcher:
    """Finds terms in time that does not depend on how many there are."""

    def __init__(self, glossary: Glossary) -> None:
        self._by_words: dict[str, list[Term]] = {}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for term in glossary.terms:
            for words in _forms(_key(term.source)):
                tokens = _TOKEN.findall(words)
                if tokens:
                    self._by_words.setdefault(words, []).append(term)
                    lengths[tokens[0]].add(len(tokens))
        self._lengths: Mapping[str, list[int]] = {
            first: sorted(found, reverse=True) for first, found in lengths.items()
        }

    def find(self, line: str) -> list[Match]:
        """The terms of a line, in order. Of those that overlap, the longest is taken, then the first.

        None is within a URL, code, or what else has to come through byte for byte, nor begins or ends there.
        """
        found = sorted(self._all(line), key=lambda match: (match.start - match.end, match.start))
        if not found:
            return []
        taken: list[Match] = []
        spans = exact.places(line)
        is_free = bytearray(b"\1" * len(line))
        for match in found:
            if all(is_free[match.start : match.end]) and not _is_cut(match, spans):
                taken.append(match)
                is_free[match.start : match.end] = bytes(match.end - match.start)
        return sorted(taken)

    def _all(self, line: str) -> Iterator[Match]:
        tokens = [
            (match[0].casefold(), match.start(), match.end()) for match in _TOKEN.finditer(line)
        ]
        for at, (first, start, _) in enumerate(tokens):
            for length in self._lengths_of(first):
                if at + length > len(tokens):
                    continue
                end = tokens[at + length - 1][2]
                term = self.term(line[start:end])
                if term is not None and not _is_part(line, start, end, term):
                    yield Match(start, end, term)

    def _lengths_of(self, first: str) -> list[int]:
        """How many tokens the terms have that begin with one; those of a single token may be inflected."""
        lengths = self._lengths.get(first, [])
        return lengths if 1 in lengths else [*lengths, 1]

    def term(self, words: str) -> Term | None:
        """The first term that words of a line are, in whatever form."""
        for key in singulars(_key(words)):
            for term in self._by_words.get(key, ()):
                if _has_case(term, words):
                    return term
        return None


def _key(words: str) -> str:
    return _SPACES.sub(" ", words.strip()).casefold().replace("’", "'")


def _forms(source: str) -> Iterator[str]:
    """A term, and its plural where its head is not its last word: heads of state."""
    yield source
    head = _HEAD.match(source)
    if head is not None and not head[0].endswith("s"):
        yield f"{_plural(head[0])}{source[head.end() :]}"


def _plural(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", word) else "s")


def singulars(words: str) -> Iterator[str]:
    """Words in small letters, and what they may be the plural of."""
    yield words
    before, space, last = words.rpartition(" ")
    front, hyphen, last = last.rpartition("-")
    start = before + space + front + hyphen
    if last in _IRREGULAR:
        yield start + _IRREGULAR[last]
    if len(last) > 4 and last.endswith("ies"):
        yield f"{start}{last[:-3]}y"
    if _TAKES_ES.search(last):
        yield start + last[:-2]
    if len(last) > 2 and last.endswith("s") and not last.endswith(("ss", "us", "is")):
        yield start + last[:-1]


def _has_case(term: Term, words: str) -> bool:
    if term.case == "any":
        return True
    if term.case == "exact":
        return words.startswith(term.source)
    # A capital of the term has to be one in the text.
    return all(
        there == letter or not letter.isupper()
        for letter, there in zip(term.source, words, strict=False)
    )


def _is_cut(match: Match, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a span overlaps a match without being whole in it."""
    return any(
        start < match.end and match.start < end and not (match.start <= start and end <= match.end)
        for start, end in spans
    )


def _is_part(line: str, start: int, end: int, term: Term) -> bool:
    """Whether words are a part of one with hyphens: flu in flu-like. A name, as in COVID-19-related, is not."""
    if not term.source.islower() or any(map(str.isdigit, term.source)):
        return False
    before = line[max(start - 2, 0) : start]
    behind = line[end : end + 2]
    is_behind = before[-1:] == "-" and before[:1].isalnum()
    return is_behind or (behind[:1] == "-" and behind[1:].isalnum())
