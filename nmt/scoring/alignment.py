"""Which words of a line and of its translation belong together, by the model's attention.

The model is forced through the translation as its readers see it, with repaired typography and its spans in place: so
it does not matter how that was found, and all places are places in the two strings.

Shapes: T target tokens, S source tokens, without EOS; H heads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.decoder import Decoder
from nmt.machine.oom import within_memory
from nmt.scoring.attention import cross_attention
from nmt.search.batches import widest_first
from nmt.text.offsets import Range, TokenPlace, places
from nmt.text.side import needs_translation

_BATCH_TOKENS = 4096  # source and target positions with padding, of a batch


@dataclass(frozen=True)
class Alignment:
    """The tokens of both sides as ranges of characters, and pairs of them that belong together."""

    source: tuple[Range, ...]
    target: tuple[Range, ...]
    pairs: tuple[tuple[int, int], ...]  # a source and a target token, counted from 0

    @property
    def links(self) -> list[tuple[Range, Range]]:
        """The same pairs as ranges of characters."""
        return [(self.source[source], self.target[target]) for source, target in self.pairs]

    @property
    def pharaoh(self) -> str:
        """The pairs as Moses and its successors write them: 0-0 1-2, source first."""
        return " ".join(f"{source}-{target}" for source, target in self.pairs)


class _TokenizedPair(NamedTuple):
    """A line and its translation as tokens."""

    place: int  # among all lines
    source: list[TokenPlace]
    target: list[TokenPlace]

    def src_ids(self, prefix: Sequence[int]) -> list[int]:
        return [*prefix, *_ids(self.source)]

    def width(self) -> int:
        """Of its longer side, with EOS."""
        return max(len(_ids(self.source)), len(_ids(self.target))) + 1


def align(decoder: Decoder, pairs: Sequence[SentencePair]) -> list[Alignment | None]:
    """Align each line with its translation, in order.

    None for a blank one, for one that the model was not asked about (it needs no translation), and for one that is
    longer than the model. Raises UserError if a batch does not fit in memory.
    """
    found: list[Alignment | None] = [None] * len(pairs)
    encoded = []
    for place, pair in enumerate(pairs):
        as_ids = _encoded(decoder, place, pair)
        if as_ids is not None:
            encoded.append(as_ids)
    for batch in widest_first(encoded, _TokenizedPair.width, _BATCH_TOKENS):
        with within_memory(f"a batch of {len(batch)} lines to align", "leave out --alignments"):
            for each, alignment in zip(batch, _aligned(decoder, batch), strict=True):
                found[each.place] = alignment
    return found


def _encoded(decoder: Decoder, place: int, pair: SentencePair) -> _TokenizedPair | None:
    """A line and its translation as the model sees them; None if it cannot."""
    line, text = pair
    if not text or not needs_translation(line, decoder.src, decoder.tgt):
        return None
    line, text, spans = decoder.masked(line, text)
    source = places(decoder.src, line, spans)
    target = places(decoder.tgt, text, spans)
    if not source or not target or not _visible(source):
        return None
    encoded = _TokenizedPair(place, source, target)
    width = encoded.width() + len(decoder.src.prefix)
    return encoded if width <= decoder.longest + 1 else None


def _aligned(decoder: Decoder, pairs: Sequence[_TokenizedPair]) -> list[Alignment]:
    prefix = decoder.src.prefix
    sources = [pair.src_ids(prefix) for pair in pairs]
    targets = [_ids(pair.target) for pair in pairs]
    of_pairs = cross_attention(decoder.model, sources, targets)
    alignments = []
    for pair, weights in zip(pairs, of_pairs, strict=True):
        of_ids = likeliest(weights)[:-1, len(prefix) : -1]  # without EOS
        of_tokens = _of_tokens(of_ids, pair)
        alignments.append(_linked(pair, of_tokens, _spans(decoder, pair)))
    return alignments


def likeliest(weights: Tensor) -> Tensor:
    """Which of a pair's attention [layers,H,T,S] shows best which tokens belong together: [T,S].

    It is the mean of the heads of the last layer but one (Garg et al., 2019), at the step that writes a token: see
    docs/lab/scoring.md for what was measured.
    """
    return weights[max(0, len(weights) - 2)].mean(0)


def _of_tokens(weights: Tensor, pair: _TokenizedPair) -> Tensor:
    """Weights of ids → of tokens [T,S]: summed over a source token's ids, averaged over a target token's."""
    of_sources = [part.sum(1) for part in weights.split(_sizes(pair.source), dim=1)]
    by_source = torch.stack(of_sources, dim=1)
    of_targets = [part.mean(0) for part in by_source.split(_sizes(pair.target), dim=0)]
    return torch.stack(of_targets)


def _spans(decoder: Decoder, pair: _TokenizedPair) -> dict[int, int]:
    """The target tokens that are spans, and the source token of each."""
    source_of: dict[int, int] = {}  # a target placeholder's id → a source token
    sources = {tuple(token.ids): number for number, token in enumerate(pair.source)}
    vocabularies = (decoder.src.vocab.placeholders, decoder.tgt.vocab.placeholders)
    for src_id, tgt_id in zip(*vocabularies, strict=False):
        if (src_id,) in sources:
            source_of[tgt_id] = sources[src_id,]
    spans = {}
    for number, token in enumerate(pair.target):
        if len(token.ids) == 1 and token.ids[0] in source_of:
            spans[number] = source_of[token.ids[0]]
    return spans


def _linked(pair: _TokenizedPair, weights: Tensor, spans: Mapping[int, int]) -> Alignment:
    """Link each target token to the source token with the most weight, and a span to itself; spaces to nothing."""
    source = _visible(pair.source)
    target = _visible(pair.target)
    best = weights[:, source].argmax(1).tolist()  # among what is visible
    new_number = {number: place for place, number in enumerate(source)}
    links = []
    for place, number in enumerate(target):
        link = new_number[spans[number]] if number in spans else best[number]
        links.append((link, place))
    return Alignment(
        source=tuple(pair.source[number].range for number in source),
        target=tuple(pair.target[number].range for number in target),
        pairs=tuple(links),
    )


def _visible(tokens: Sequence[TokenPlace]) -> list[int]:
    """The numbers of the tokens that are more than a space."""
    return [number for number, token in enumerate(tokens) if token.range.start < token.range.end]


def _ids(tokens: Sequence[TokenPlace]) -> list[int]:
    return [i for token in tokens for i in token.ids]


def _sizes(tokens: Sequence[TokenPlace]) -> list[int]:
    return [len(token.ids) for token in tokens]
