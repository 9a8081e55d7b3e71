"""A pair that is given, as a decoder sees it."""

from typing import NamedTuple

from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.decoder import Decoder
from nmt.text.side import LONGEST_TOKEN


class EncodedPair(NamedTuple):
    """A pair as ids, without BOS or EOS."""

    src: list[int]
    tgt: list[int]
    spans: dict[str, str]  # what each placeholder in it stands for

    @property
    def width(self) -> int:
        """Of its longer side, with EOS."""
        return max(len(self.src), len(self.tgt)) + 1


class Unfit(NamedTuple):
    """A pair that a model cannot take."""

    why: str  # "empty": it has no ids on a side; or "too long"


def encode_pair(decoder: Decoder, pair: SentencePair) -> EncodedPair | Unfit:
    """The pair as ids, with placeholders for what occurs once on each side, as in translating."""
    if max(map(len, pair)) > LONGEST_TOKEN * decoder.longest:
        return Unfit("too long")
    masked = decoder.masked(pair.src, pair.tgt)
    src = decoder.src.encode(masked.src)
    tgt = decoder.tgt.encode(masked.tgt)
    if not src or not tgt:
        return Unfit("empty")
    if max(len(src), len(tgt)) > decoder.longest:
        return Unfit("too long")
    return EncodedPair(src, tgt, masked.spans)
