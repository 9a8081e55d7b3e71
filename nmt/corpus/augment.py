"""Variants of training pairs, so that a model has seen how people really type.

Each kind is made of a share of the pairs that it fits, chosen by their keys, and stands in train beside the original.
"""

import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from itertools import count
from math import ceil
from random import Random

from nmt.config.schema import AugmentConfig
from nmt.corpus.lines import SentencePair
from nmt.text.chinese_numbers import chinese
from nmt.text.english_numbers import english
from nmt.text.numbers import Number
from nmt.text.spans import NUMBER_ENDS, NUMBER_STARTS, PLACEHOLDERS, mask, mask_pair

_LATIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_WORDS = "two|three|five|ten|eleven|twelve|twenty|(?:four|six|seven|eight|nine)(?:teen)?|(?:thir|fif|eigh)teen"
_WORDS += "|(?:thir|for|fif|six|seven|eigh|nine)ty"
_NUMBER = re.compile(rf"(?ai:{NUMBER_STARTS}(?:\d{{1,4}}{NUMBER_ENDS}|(?:{_WORDS})(?![\w-])))")
_NUMERAL = "(?<!分之)(?<!、)[零〇一二两三四五六七八九十百千万亿]+(?!分之|、)"
_NUMBER_IN_CHINESE = re.compile(
    rf"(?<![A-Za-z\d.,:/+#-])\d{{1,4}}(?![A-Za-z\d-]|[.,:/]\d|[百千万亿])|{_NUMERAL}"
)
_YEARS, _HOURS, _OCLOCK = (1800, 2050), (2, 12), ("点", " 点")
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}
_LONGEST = 3  # digits of the number that takes the place of a word


Variant = tuple[str, str, str]  # how it came about, and its two sides
Make = Callable[
    [SentencePair, int], tuple[str, str] | None
]  # of the pair and its key; None: it is not of that kind


def variants(pair: SentencePair, key: int, shares: AugmentConfig, weight: int = 1) -> list[Variant]:
    """The variants of one pair, a function of its key; with a share times weight of 2.5 two or three of a kind."""
    asked = [(kind, getattr(shares, kind) * weight) for kind in _KINDS]
    turns = [
        (kind, key + turn, share - turn) for kind, share in asked for turn in range(ceil(share))
    ]
    drawn = [
        (kind, _KINDS[kind](pair, chance))
        for kind, chance, share in turns
        if _wins(chance, kind, share)
    ]
    return [(kind, *made) for kind, made in drawn if made is not None and made != pair]


def _wins(key: int, kind: str, share: float) -> bool:
    """Whether a pair is in a kind's share. A key is random; a factor for each kind makes lots of their own of it."""
    return key * _FACTORS[kind] % 2**60 < share * 2**60


class Joiner:
    """Two whole sentences as one line: the kind that takes two pairs, given in the order of train."""

    def __init__(self, share: float) -> None:
        self._share, self._before = share, ("", "")

    def __call__(self, src: str, tgt: str, key: int, weight: int = 1) -> Variant | tuple[()]:
        """Join a pair with the one before; or do not."""
        before, self._before = self._before, (src, tgt)
        whole = before[0].endswith((".", "!", "?")) and before[1].endswith(("。", "！", "？"))
        joins = _wins(key, "joined", self._share * weight) and whole
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
    """With another number, in digits, in the place of one that both sides state once, in digits or in a word."""
    ours = _stated(_NUMBER, english, pair.src)
    theirs = _stated(_NUMBER_IN_CHINESE, chinese, pair.tgt) if ours else {}
    shared = [value for value in ours if value > 1 and value in theirs]
    if not shared:
        return None
    chance = Random(key)
    old = chance.choice(shared)
    length = len(ours[old][0]) if ours[old][0].isdigit() else chance.randint(1, _LONGEST)
    is_year = length == 4 and _YEARS[0] <= old <= _YEARS[1]
    low, high = _YEARS if is_year else (max(2, 10 ** (length - 1)), 10**length - 1)
    if theirs[old].string.startswith(_OCLOCK, theirs[old].end()):
        low, high = _HOURS
    new = str(
        next(
            number for number in count(chance.randint(low, high)) if _ends_alike(number, ours[old])
        )
    )
    src, tgt = (
        match.string[: match.start()] + new + match.string[match.end() :]
        for match in (ours[old], theirs[old])
    )
    return src, tgt


def _ends_alike(number: int, place: re.Match[str]) -> bool:
    """Whether a number can stand where another did: 21 before st, 22 before nd, any where there is no ordinal."""
    ending = place.string[place.end() : place.end() + 2]
    ordinal = "th" if number // 10 % 10 == 1 else _ORDINALS.get(number % 10, "th")
    return ending == ordinal or ending not in ("th", *_ORDINALS.values())


def _stated(
    number: re.Pattern[str], read: Callable[[str], list[Number]], text: str
) -> dict[Decimal, re.Match[str]]:
    """Where each number stands that a text states once."""
    found = [
        (stated.values[0], match)
        for match in number.finditer(text)
        for stated in read(match[0])[:1]
    ]
    counts = Counter(value for value, _ in found)
    return {value: match for value, match in found if counts[value] == 1}


def _masked(pair: SentencePair, key: int) -> tuple[str, str] | None:
    return mask_pair(*pair, key % len(PLACEHOLDERS))


def _masked_numbers(pair: SentencePair, key: int) -> tuple[str, str] | None:
    """With placeholders for numbers too, also for one that stands in words."""
    return mask_pair(*(_renumbered(pair, key) or pair), key % len(PLACEHOLDERS), numbers=True)


_KINDS: dict[str, Make] = {"masked": _masked, "masked_numbers": _masked_numbers}
_KINDS |= {
    "tagged": _tagged,
    "upper": partial(_recased, str.upper),
    "lower": partial(_recased, str.lower),
}
_KINDS |= {"title": partial(_recased, _title), "renumbered": _renumbered}
_KINDS |= {"unpunctuated": _unpunctuated, "quoted": _quoted}

# Odd, and far apart from each other, so that who wins in one kind is no likelier to win in another.
_FACTORS = {
    kind: int.from_bytes(blake2b(kind.encode(), digest_size=8).digest()) | 1
    for kind in (*_KINDS, "joined")
}
