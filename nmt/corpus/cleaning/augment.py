"""Variants of training pairs, so that a model has seen how people really type.

Each kind is made of a share of the pairs that it fits, chosen by their keys, and is in train beside the original.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from math import ceil
from random import Random
from typing import NamedTuple

from nmt.config.schema import AugmentConfig
from nmt.corpus.cleaning.shorthand import shorthand
from nmt.corpus.reading.pairs import SentencePair
from nmt.numbers.chinese import chinese
from nmt.numbers.english import english
from nmt.numbers.reading import Number
from nmt.spans.masking import SPAN_PLACEHOLDERS, Numbers, mask, mask_pair
from nmt.spans.number_patterns import NUMBER_ENDS, NUMBER_STARTS

# Kinds that say something else than the pair they are made of: it may be a sentence of a test set.
NEW_SENTENCES = frozenset({"renumbered", "joined", "switched"})

_KEY_RANGE = 2**60  # every key of a pair is below it
_COPIES = "copies"  # beside the kinds of variants

_LATIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")  # wife, Tom's
_LATIN = re.compile("[A-Za-z]")
_NUMBER = re.compile(
    rf"""
    (?ai:
        {NUMBER_STARTS}
        (?:
            \d{{1,4}} {NUMBER_ENDS}    # 42, 1984, 10 of 10th
            |
            (?: two | three | four | five | six | seven | eight | nine | ten | eleven | twelve
            | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen
            | twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety )
            (?! [\w-] )                # twelve, but not twenty-one
        )
    )
    """,
    re.VERBOSE,
)
_NUMBER_IN_CHINESE = re.compile(
    r"""
    (?<! [A-Za-z\d.,:/+#-] )
    \d{1,4}                                        # 42, 1984
    (?! [A-Za-z\d-] | [.,:/]\d | [百千万亿] )        # but not 3:30 or 2万
    |
    (?<! 分之 ) (?<! 、 )
    [零〇一二两三四五六七八九十百千万亿]+              # 十二
    (?! 分之 | 、 )                                 # but not 四分之三 or 两、三
    """,
    re.VERBOSE,
)
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}  # by the last digit; others end in th
_OCLOCK = ("点", " 点")
_YEARS = (1800, 2050)
_HOURS = (2, 12)
_LONGEST = 3  # digits of the number that takes the place of a word

Sides = tuple[str, str]
Make = Callable[[SentencePair, int], Sides | None]  # of a pair and its key; None if it does not fit


class Variant(NamedTuple):
    """A varied pair, and of what kind it is."""

    kind: str
    src: str
    tgt: str


def copies(key: int, weight: float) -> int:
    """How often a pair with this key is in train: a weight of 2.5 gives two of every pair, and a third of half."""
    return len(list(turns(key, _COPIES, weight)))


def variants(
    pair: SentencePair, key: int, shares: AugmentConfig, weight: float = 1
) -> list[Variant]:
    """The variants of one pair that is in train, a function of its key.

    A share times weight of 2.5 gives two of a kind for every pair, and a third for half of them.
    """
    varied: list[Variant] = []
    for kind, make in _KINDS.items():
        for turn_key in turns(key, kind, getattr(shares, kind) * max(1, weight)):
            sides = make(pair, turn_key)
            if sides is not None and sides != pair:
                varied.append(Variant(kind, *sides))
    return varied


def turns(key: int, kind: str, share: float) -> Iterator[int]:
    """A key for each variant of a kind, or copy, that is due for a pair with this key."""
    for turn in range(ceil(share)):
        if _is_in_share(key + turn, kind, share - turn):
            yield key + turn


def _is_in_share(key: int, kind: str, share: float) -> bool:
    """Whether a pair is among the share of all pairs that a kind is made of.

    A key is a random number below 2^60. Times an odd factor, modulo 2^60, it is another: each kind has its own
    factor, so that the pairs of one kind are not those of another.
    """
    return key * _FACTORS[kind] % _KEY_RANGE < share * _KEY_RANGE


class Joiner:
    """Makes one pair of two: the kind that needs the pair before, so that pairs are given in the order of train."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._before = SentencePair("", "")

    def __call__(self, pair: SentencePair, key: int, weight: float = 1) -> Variant | None:
        """The pair before and this one, if it is in the share and the one before is a whole sentence."""
        before = self._before
        self._before = pair
        if not _is_in_share(key, "joined", self._share * max(1, weight)):
            return None
        if not before.src.endswith((".", "!", "?")) or not before.tgt.endswith(("。", "！", "？")):
            return None
        return Variant("joined", f"{before.src} {pair.src}", before.tgt + pair.tgt)


def _masked(pair: SentencePair, key: int) -> Sides | None:
    """With placeholders for the spans that both sides share."""
    return _with_placeholders(pair, key)


def _masked_numbers(pair: SentencePair, key: int) -> Sides | None:
    """With placeholders for numbers too, also for one that is in words."""
    return _with_placeholders(_renumbered(pair, key) or pair, key, numbers="all")


def _with_placeholders(sides: Sides, key: int, numbers: Numbers = "long") -> Sides | None:
    masked = mask_pair(*sides, first=key, numbers=numbers)
    return None if masked is None else masked.sides


def _tagged(pair: SentencePair, key: int) -> Sides:
    """With a span at an end, as a mention, an emoji or an address is there."""
    chance = Random(key)
    span = chance.choice(SPAN_PLACEHOLDERS)
    if chance.random() < 0.3:
        return f"{span} {pair.src}", f"{span} {pair.tgt}"
    space = chance.choice(("", " "))
    return f"{pair.src}{space}{span}", f"{pair.tgt}{space}{span}"


def _recased(recase: Callable[[str], str], pair: SentencePair, _key: int) -> Sides:
    return _outside_spans(recase, pair.src), pair.tgt


def _outside_spans(change: Callable[[str], str], text: str) -> str:
    """A text that is changed everywhere but in its protected spans."""
    masked = mask(text)
    return masked.fill(change(masked.text))


def _title(text: str) -> str:
    return _LATIN_WORD.sub(lambda word: word[0][0].upper() + word[0][1:], text)


def _unpunctuated(pair: SentencePair, _key: int) -> Sides | None:
    """Without the final mark; a question stays one in Chinese."""
    if pair.src.endswith(("...", "。")) or not pair.src.endswith((".", "!", "?")):
        return None
    return pair.src[:-1], pair.tgt.removesuffix("。")


def _casual(pair: SentencePair, key: int) -> Sides | None:
    """As people type in a hurry: in one case, mostly the lower one, without the final mark; half of it in shorthand."""
    sides = _unpunctuated(pair, key)
    if sides is None:
        return None
    chance = Random(key)
    recase = chance.choices((str.lower, str.upper), (3, 1))[0]
    short = _shorthand(SentencePair(*sides), key) if chance.random() < 0.5 else None
    return _recased(recase, SentencePair(*(short or sides)), key)


def _shorthand(pair: SentencePair, key: int) -> Sides | None:
    """With the short spellings of chats: pls, gonna, dont.

    Not if there are Latin letters in the Chinese: it may quote the words that would be shortened.
    """
    if _LATIN.search(mask(pair.tgt).text) is not None:
        return None
    return _outside_spans(partial(shorthand, chance=Random(key)), pair.src), pair.tgt


def _quoted(pair: SentencePair, _key: int) -> Sides | None:
    if '"' in pair.src or "“" in pair.tgt:
        return None
    return f'"{pair.src}"', f"“{pair.tgt}”"


def _renumbered(pair: SentencePair, key: int) -> Sides | None:
    """With another number, in digits, for one that both sides state once, in digits or in a word."""
    src_places = _stated_once(_NUMBER, english, pair.src)
    if not src_places:
        return None
    tgt_places = _stated_once(_NUMBER_IN_CHINESE, chinese, pair.tgt)
    shared = [value for value in src_places if value > 1 and value in tgt_places]
    if not shared:
        return None
    chance = Random(key)
    old = chance.choice(shared)
    src_place = src_places[old]
    tgt_place = tgt_places[old]
    new = chance.randint(*_range_of_new(old, src_place, tgt_place, chance))
    while not _fits_ending(new, src_place):
        new += 1
    return _replaced(src_place, new), _replaced(tgt_place, new)


def _stated_once(
    number: re.Pattern[str], read: Callable[[str], list[Number]], text: str
) -> dict[Decimal, re.Match[str]]:
    """The numbers that a text states exactly once, and where."""
    places: dict[Decimal, re.Match[str]] = {}
    counts: Counter[Decimal] = Counter()
    for place in number.finditer(text):
        numbers = read(place[0])
        if numbers:
            value = numbers[0].values[0]
            places[value] = place
            counts[value] += 1
    return {value: place for value, place in places.items() if counts[value] == 1}


def _range_of_new(
    old: Decimal, src_place: re.Match[str], tgt_place: re.Match[str], chance: Random
) -> tuple[int, int]:
    """The smallest and the largest number that can stand for the old one: as long, a year for a year, an hour."""
    digits = len(src_place[0]) if src_place[0].isdigit() else chance.randint(1, _LONGEST)
    if tgt_place.string.startswith(_OCLOCK, tgt_place.end()):
        return _HOURS
    if digits == 4 and _YEARS[0] <= old <= _YEARS[1]:
        return _YEARS
    return max(2, 10 ** (digits - 1)), 10**digits - 1


def _fits_ending(number: int, place: re.Match[str]) -> bool:
    """Whether a number fits what follows the old one: 21 before st, 22 before nd, any where there is no ordinal."""
    ending = place.string[place.end() : place.end() + 2]
    if ending not in ("st", "nd", "rd", "th"):
        return True
    is_teen = number // 10 % 10 == 1
    return ending == ("th" if is_teen else _ORDINAL_ENDINGS.get(number % 10, "th"))


def _replaced(place: re.Match[str], number: int) -> str:
    return f"{place.string[: place.start()]}{number}{place.string[place.end() :]}"


_KINDS: dict[str, Make] = {
    "masked": _masked,
    "masked_numbers": _masked_numbers,
    "tagged": _tagged,
    "upper": partial(_recased, str.upper),
    "lower": partial(_recased, str.lower),
    "title": partial(_recased, _title),
    "renumbered": _renumbered,
    "unpunctuated": _unpunctuated,
    "casual": _casual,
    "shorthand": _shorthand,
    "quoted": _quoted,
}

# Odd, and far apart from each other, so that a pair in one kind's share is no likelier to be in another's.
_FACTORS = {
    kind: int.from_bytes(blake2b(kind.encode(), digest_size=8).digest()) | 1
    for kind in (*_KINDS, "joined", "switched", "enclosed", _COPIES)
}
