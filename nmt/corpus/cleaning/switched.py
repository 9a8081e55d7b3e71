"""English with one of its words in Chinese, as people type names that have no English one: He works at 华为."""

import re
from random import Random

from nmt.corpus.cleaning.augment import Variant, turns
from nmt.corpus.reading.pairs import SentencePair
from nmt.spans.masking import find, mask_pair
from nmt.text.scripts import HAN

_ENGLISH_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]{3,}(?![\w'’-])")
_CHINESE_WORD = re.compile(f"[{HAN}]{{2,5}}")


class Switcher:
    """Makes this kind of variant, which needs a dictionary: the pairs of one word each that the corpora have.

    The word is masked on both sides, as a Chinese word of the source is when it is translated.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._dictionary: dict[str, set[str]] = {}  # in memory, the English in small letters

    def learn(self, pair: SentencePair) -> None:
        """Enter a pair in the dictionary, if it has one word on each side."""
        if self._share == 0 or _CHINESE_WORD.fullmatch(pair.tgt) is None:
            return
        if _ENGLISH_WORD.fullmatch(pair.src) is not None:
            self._dictionary.setdefault(pair.src.lower(), set()).add(pair.tgt)

    def __call__(self, pair: SentencePair, key: int, weight: float = 1) -> list[Variant]:
        """The variants of a pair; where several of its words can be in Chinese, chance chooses one of them."""
        due = list(turns(key, "switched", self._share * max(1, weight)))
        places = self._places(pair) if due else []
        if not places:
            return []
        made = (_switched(pair, *Random(turn).choice(places), first=turn) for turn in due)
        return [variant for variant in made if variant is not None]

    def _places(self, pair: SentencePair) -> list[tuple[re.Match[str], str]]:
        """The words of the source whose translation occurs once in the target, each with that translation."""
        if _ENGLISH_WORD.fullmatch(pair.src):  # nothing would be left to translate
            return []
        if find(pair.src):  # a word in code or in a link is not one of the sentence
            return []
        places: list[tuple[re.Match[str], str]] = []
        for word in _ENGLISH_WORD.finditer(pair.src):
            found = self._dictionary.get(word[0].lower(), ())
            places += [(word, chinese) for chinese in sorted(found) if pair.tgt.count(chinese) == 1]
        return places


def _switched(pair: SentencePair, word: re.Match[str], chinese: str, first: int) -> Variant | None:
    """A pair with one word in Chinese, masked; None if it has that Chinese word already."""
    src = pair.src[: word.start()] + chinese + pair.src[word.end() :]
    masked = mask_pair(src, pair.tgt, first=first, chinese=True)
    if masked is None or chinese not in masked.spans.values():
        return None
    return Variant("switched", *masked.sides)
