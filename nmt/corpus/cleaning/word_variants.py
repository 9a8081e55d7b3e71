"""Variants that need to know which words of a pair translate each other.

`switched` is English with one of its words in Chinese, as people type names that have no English one: He works at 华为.
`enclosed` has some words between two placeholders, as they are between tags: He works at <b>Huawei</b>.
"""

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from nmt.config.schema import AugmentConfig
from nmt.corpus.cleaning.augment import Variant, turns
from nmt.corpus.reading.pairs import SentencePair
from nmt.spans.masking import find, mask_pair
from nmt.text.scripts import HAN

_ENGLISH_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]{3,}(?![\w'’-])")
_CHINESE_WORD = re.compile(f"[{HAN}]{{2,5}}")
_WIDEST = 50  # characters between tags


class Place(NamedTuple):
    """A word of a source, and where its translation is in the target."""

    start: int
    end: int
    tgt_start: int
    tgt_end: int

    def is_within(self, other: "Place") -> bool:
        """Whether it is in another place on the source side."""
        return other.start <= self.start and self.end <= other.end

    def touches(self, other: "Place") -> bool:
        """Whether the two have something in common on the target side."""
        return self.tgt_start < other.tgt_end and other.tgt_start < self.tgt_end


class Dictionary:
    """The pairs of one word each that the corpora have. It is in memory, the English in small letters."""

    def __init__(self) -> None:
        self._translations: dict[str, set[str]] = {}

    def learn(self, pair: SentencePair) -> None:
        """Enter a pair, if it has one word on each side."""
        if _CHINESE_WORD.fullmatch(pair.tgt) and _ENGLISH_WORD.fullmatch(pair.src):
            self._translations.setdefault(pair.src.lower(), set()).add(pair.tgt)

    def places(self, pair: SentencePair) -> list[Place]:
        """The words of the source whose translation occurs once in the target."""
        if _ENGLISH_WORD.fullmatch(pair.src):  # nothing else would be left
            return []
        if find(pair.src):  # a word in code or in a link is not one of the sentence
            return []
        places: list[Place] = []
        for word in _ENGLISH_WORD.finditer(pair.src):
            for chinese in sorted(self._translations.get(word[0].lower(), ())):
                if pair.tgt.count(chinese) == 1:
                    at = pair.tgt.index(chinese)
                    places.append(Place(word.start(), word.end(), at, at + len(chinese)))
        return places


Make = Callable[[SentencePair, list[Place], int], Variant | None]


class WordVariants:
    """Makes both kinds of variants."""

    def __init__(self, shares: AugmentConfig) -> None:
        self._shares = {"switched": shares.switched, "enclosed": shares.enclosed}
        self._dictionary = Dictionary()

    def learn(self, pair: SentencePair) -> None:
        """Enter a pair in the dictionary, if that is needed."""
        if any(self._shares.values()):
            self._dictionary.learn(pair)

    def __call__(self, pair: SentencePair, key: int, weight: float = 1) -> list[Variant]:
        """The variants of a pair; where several of its words can be chosen, chance does it."""
        due: list[tuple[Make, int]] = []
        for kind, share in self._shares.items():
            due += [(_MAKE[kind], turn) for turn in turns(key, kind, share * max(1, weight))]
        places = self._dictionary.places(pair) if due else []
        if not places:
            return []
        made = (make(pair, places, turn) for make, turn in due)
        return [variant for variant in made if variant is not None]


def _switched(pair: SentencePair, places: list[Place], turn: int) -> Variant | None:
    """A pair with one word in Chinese, masked; None if it has that Chinese word already."""
    word = Random(turn).choice(places)
    chinese = pair.tgt[word.tgt_start : word.tgt_end]
    src = pair.src[: word.start] + chinese + pair.src[word.end :]
    masked = mask_pair(src, pair.tgt, first=turn, foreign=True)
    if masked is None or chinese not in masked.spans.values():
        return None
    return Variant("switched", *masked.sides)


def _enclosed(pair: SentencePair, places: list[Place], turn: int) -> Variant | None:
    """A pair with a word, or all from one word to another, between tags, masked."""
    inside = _stretch(places, Random(turn))
    src = _between_tags(pair.src, inside.start, inside.end)
    tgt = _between_tags(pair.tgt, inside.tgt_start, inside.tgt_end)
    masked = mask_pair(src, tgt, first=turn)
    if masked is None or not {"<b>", "</b>"} <= set(masked.spans.values()):
        return None
    return Variant("enclosed", *masked.sides)


def _stretch(places: list[Place], chance: Random) -> Place:
    """All from one word to another if their translations stand together as well, else the first word alone."""
    first = chance.choice(places)
    near = [each for each in places if 0 <= each.start - first.start <= _WIDEST]
    whole = first._replace(end=chance.choice(near).end)
    within = [each for each in places if each.is_within(whole)]
    whole = whole._replace(
        tgt_start=min(each.tgt_start for each in within),
        tgt_end=max(each.tgt_end for each in within),
    )
    if any(each.touches(whole) for each in places if not each.is_within(whole)):
        return first
    return whole


def _between_tags(text: str, start: int, end: int) -> str:
    return f"{text[:start]}<b>{text[start:end]}</b>{text[end:]}"


_MAKE: dict[str, Make] = {"switched": _switched, "enclosed": _enclosed}
