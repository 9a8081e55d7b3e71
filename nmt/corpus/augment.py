"""Variants of training pairs, so that a model has seen how people really type.

Each kind is made of a share of the pairs that it fits, chosen by their keys, and stands in train beside the original.
"""

import re
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from random import Random

from nmt.config import AugmentConfig
from nmt.corpus.lines import SentencePair
from nmt.text.spans import PLACEHOLDERS, mask, mask_pair

_LATIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_NUMBER = re.compile(r"(?a:(?<![\w.,:/+#-])\d{1,4}(?![\w-]|[.,:/]\d))")
_NUMBER_IN_CHINESE = re.compile(r"(?<![A-Za-z\d.,:/+#-])\d{1,4}(?![A-Za-z\d-]|[.,:/]\d)")
_YEARS = (1800, 2050)


Variant = tuple[str, str, str]  # how it came about, and its two sides
Make = Callable[[SentencePair, int], tuple[str, str] | None]  # of the pair and its key; None: it is not of that kind


def variants(pair: SentencePair, key: int, shares: AugmentConfig) -> list[Variant]:
    """The variants of one pair: a function of its key."""
    asked = [(kind, share) for kind in _KINDS if (share := getattr(shares, kind))]
    drawn = [(kind, _KINDS[kind](pair, key)) for kind, share in asked if _wins(key, kind, share)]
    return [(kind, *made) for kind, made in drawn if made is not None and made != pair]


def _wins(key: int, kind: str, share: float) -> bool:
    """Whether a pair is in a kind's share. A key is random; a factor for each kind makes lots of their own of it."""
    return key * _FACTORS[kind] % 2**60 < share * 2**60


class Joiner:
    """Two whole sentences as one line: the kind that takes two pairs, given in the order of train."""

    def __init__(self, share: float) -> None:
        self._share, self._before = share, ("", "")

    def __call__(self, src: str, tgt: str, key: int) -> Variant | tuple[()]:
        """Join a pair with the one before; or do not."""
        before, self._before = self._before, (src, tgt)
        whole = before[0].endswith((".", "!", "?")) and before[1].endswith(("。", "！", "？"))
        joins = _wins(key, "joined", self._share) and whole
        return ("joined", f"{before[0]} {src}", before[1] + tgt) if joins else ()


def _recased(recase: Callable[[str], str], pair: SentencePair, _key: int) -> tuple[str, str]:
    masked = mask(pair.src)
    return masked.fill(recase(masked.text)), pair.tgt


def _title(text: str) -> str:
    return _LATIN_WORD.sub(lambda word: word[0][0].upper() + word[0][1:], text)


def _unpunctuated(pair: SentencePair, _key: int) -> tuple[str, str] | None:
    """Without the final mark; a question stays one in Chinese."""
    if pair.src.endswith(("...", "。")) or not pair.src.endswith((".", "!", "?")):
        return None
    return pair.src[:-1], pair.tgt.removesuffix("。")


def _quoted(pair: SentencePair, _key: int) -> tuple[str, str] | None:
    return None if '"' in pair.src or "“" in pair.tgt else (f'"{pair.src}"', f"“{pair.tgt}”")


def _tagged(pair: SentencePair, key: int) -> tuple[str, str]:
    """With a span at an end, as a mention, an emoji or an address stands there."""
    chance = Random(key)
    span = chance.choice(PLACEHOLDERS)
    if chance.random() < 0.3:
        return f"{span} {pair.src}", f"{span} {pair.tgt}"
    space = chance.choice(("", " "))
    return f"{pair.src}{space}{span}", f"{pair.tgt}{space}{span}"


def _renumbered(pair: SentencePair, key: int) -> tuple[str, str] | None:
    """With another number in the place of one that stands in digits on both sides."""
    ours, theirs = _NUMBER.findall(pair.src), _NUMBER_IN_CHINESE.findall(pair.tgt)
    shared = [number for number in ours if ours.count(number) == theirs.count(number) == 1 and number not in "01"]
    if not shared:
        return None
    chance = Random(key)
    old = chance.choice(shared)
    is_year = len(old) == 4 and _YEARS[0] <= int(old) <= _YEARS[1]
    low, high = _YEARS if is_year else (max(2, 10 ** (len(old) - 1)), 10 ** len(old) - 1)
    new = str(chance.randint(low, high))

    def exchange(match: re.Match[str]) -> str:
        return new if match[0] == old else match[0]

    return _NUMBER.sub(exchange, pair.src), _NUMBER_IN_CHINESE.sub(exchange, pair.tgt)


def _masked(numbers: bool, pair: SentencePair, key: int) -> tuple[str, str] | None:
    return mask_pair(*pair, key % len(PLACEHOLDERS), numbers)


_KINDS: dict[str, Make] = {"masked": partial(_masked, False), "masked_numbers": partial(_masked, True)}
_KINDS |= {"tagged": _tagged, "upper": partial(_recased, str.upper), "lower": partial(_recased, str.lower)}
_KINDS |= {"title": partial(_recased, _title), "renumbered": _renumbered}
_KINDS |= {"unpunctuated": _unpunctuated, "quoted": _quoted}

# Odd, and far apart from each other, so that who wins in one kind is no likelier to win in another.
_FACTORS = {kind: int.from_bytes(blake2b(kind.encode(), digest_size=8).digest()) | 1 for kind in (*_KINDS, "joined")}
