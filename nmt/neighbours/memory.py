"""A translation memory: pairs that have a say in each next token, without any training.

Nearest neighbours are looked up as Khandelwal et al. (2021) do it, among the pairs whose sources are most like the
sentence (Deguchi et al., 2023). The model reads these pairs as in training; its state before each target token is the
key of that token. While it translates, the tokens whose keys are nearest to its state have a say in the next one:

    p(y) = (1 - share) · own(y) + share · recalled(y)
    share = weight · likeness

own(y) is the model's probability of y, recalled(y) the sum of softmax(-distance / temperature) over the nearest tokens
that are y. The distance of two states is the mean of the squared differences of their values, so that one temperature
suits models of any width. The likeness is that of the most similar source: a memory of other texts has little say.

Shapes: B sentences, K beams, N = B·K rows, M tokens of a sentence's pairs with padding, C nearest tokens, T tokens of
a target with EOS, d width of the model, V target tokens.
"""

import hashlib
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nmt.config.schema import SearchConfig
from nmt.machine.device import accumulation_dtype
from nmt.model.batch import collate
from nmt.model.cache import Cache
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.neighbours.similar_sources import Similar, SimilarSources
from nmt.search.batches import widest_first
from nmt.text.vocab import EOS

IdPair = tuple[list[int], list[int]]  # source and target, without BOS and EOS

_MOST_TOKENS = 2048  # of the pairs that are like a sentence
_READ_AT_ONCE = 4096  # positions of the longer side, with padding


class TranslationMemory:
    """Pairs as ids, which are found by their sources."""

    def __init__(self, pairs: Sequence[IdPair], src_tokens: int) -> None:
        """`src_tokens` is the size of the source vocabulary. Each pair counts once; there is at least one."""
        self.pairs = _each_once(pairs)
        self.similar = SimilarSources([src for src, _ in self.pairs], src_tokens)

    def fingerprint(self) -> str:
        """A hash of the pairs."""
        digest = hashlib.sha256()
        for side in chain.from_iterable(self.pairs):
            digest.update(np.array([len(side), *side], np.int64).tobytes())
        return digest.hexdigest()


def _each_once(pairs: Sequence[IdPair]) -> list[IdPair]:
    unique = {(tuple(src), tuple(tgt)): (src, tgt) for src, tgt in pairs}
    return list(unique.values())


class Remembered(NamedTuple):
    """The tokens of the pairs that are like each sentence."""

    keys: Tensor  # [B,M,d]: the state before each token
    tokens: Tensor  # int64 [B,M]
    is_there: Tensor  # bool [B,M]: not padding
    likeness: Tensor  # [B]

    def select(self, sentences: Tensor) -> "Remembered":
        """Those of some of the sentences."""
        return Remembered(*(of_all[sentences] for of_all in self))


class MemoryReader:
    """Reads pairs of a memory with a model."""

    def __init__(self, model: Transformer, memory: TranslationMemory) -> None:
        self._model = model.eval()
        self._memory = memory

    @property
    def _device(self) -> torch.device:
        return next(self._model.parameters()).device

    def remembered(self, of_sentences: Sequence[Similar]) -> Remembered:
        """What the model has in mind at the tokens of the pairs that are like each sentence."""
        numbers_of_each = [self._fitting(similar.numbers) for similar in of_sentences]
        states = self._read(sorted(set(chain.from_iterable(numbers_of_each))))
        none = torch.empty(0, self._model.config.d_model, device=self._device)
        keys = []
        tokens = []
        for numbers in numbers_of_each:
            keys.append(torch.cat([none, *(states[number] for number in numbers)]))
            of_pairs = [[*self._memory.pairs[number][1], EOS] for number in numbers]
            tokens.append(torch.tensor([*chain.from_iterable(of_pairs)], dtype=torch.int64))
        padded = pad_sequence(tokens, batch_first=True, padding_value=-1).to(self._device)  # [B,M]
        return Remembered(
            keys=pad_sequence(keys, batch_first=True),
            tokens=padded.clamp(min=0),
            is_there=padded >= 0,
            likeness=torch.tensor([each.likeness for each in of_sentences], device=self._device),
        )

    def _fitting(self, numbers: Sequence[int]) -> list[int]:
        """The first of these pairs, as many as have at most `_MOST_TOKENS` target tokens together, and at least one."""
        lengths = (len(self._memory.pairs[number][1]) + 1 for number in numbers)
        ends = accumulate(lengths)
        fitting = [number for number, end in zip(numbers, ends, strict=True) if end <= _MOST_TOKENS]
        return fitting or [*numbers[:1]]

    def _read(self, numbers: Sequence[int]) -> dict[int, Tensor]:
        """The states [T,d] of these pairs.

        Nothing is kept for later batches: the last bits of a pair's states depend on the pairs beside it, and so would
        translations on what was translated before.
        """
        found: dict[int, Tensor] = {}
        for batch in widest_first(numbers, self._width, _READ_AT_ONCE):
            found.update(zip(batch, self._states_of(batch), strict=True))
        return found

    def _width(self, number: int) -> int:
        """Of the longer side of a pair, with EOS."""
        return max(map(len, self._memory.pairs[number])) + 1

    @torch.inference_mode()
    def _states_of(self, numbers: Sequence[int]) -> list[Tensor]:
        """The state before each target token of these pairs, [T,d] each."""
        sources, targets = zip(*(self._memory.pairs[number] for number in numbers), strict=True)
        batch = collate(sources, targets, self._model.config.max_length).to(self._device)
        cache = self._model.encode(batch.src, batch.src_is_padded)
        states = self._model.decode_states(batch.tgt_in, cache)  # [B,T,d]
        kept = states.to(accumulation_dtype(states.dtype))
        return [of_pair[: len(tgt) + 1].clone() for of_pair, tgt in zip(kept, targets, strict=True)]


class MemoryStepper(ModelStepper):
    """A Transformer and what it remembers."""

    def __init__(
        self, model: Transformer, cache: Cache, remembered: Remembered, search: SearchConfig
    ) -> None:
        super().__init__(model, cache)
        self._remembered = remembered
        self._search = search

    def step(self, last: Tensor) -> Tensor:
        """Decode one position: the newest tokens [N] → logarithms of the mixed probabilities [N,V]."""
        states = self._model.decode_states(last[:, None], self._cache)[:, -1]  # [N,d]
        logits = self._model.project(states)
        own = logits.log_softmax(dim=1, dtype=accumulation_dtype(logits.dtype))
        recalled = self._recalled(states.to(own.dtype), own)
        share = self._search.memory_weight * self._remembered.likeness  # [B]
        share = share.repeat_interleave(self._search.beams)[:, None]  # [N,1]
        mixed = torch.logaddexp(own + torch.log1p(-share), (share * recalled).log())
        return torch.where(share > 0, mixed, own)

    def select(self, rows: Tensor) -> None:
        """Continue with these rows."""
        super().select(rows)
        beams = self._search.beams
        if len(rows) < beams * len(self._remembered.tokens):
            self._remembered = self._remembered.select(rows[::beams] // beams)

    def _recalled(self, states: Tensor, own: Tensor) -> Tensor:
        """The share [N,V] of each token in those nearest to the states [N,d]; `own` [N,V] gives the shape."""
        keys, tokens, is_there, _ = self._remembered
        queries = states.unflatten(0, (-1, self._search.beams))  # [B,K,d]
        distances = torch.cdist(queries, keys).square() / keys.shape[2]  # [B,K,M]
        distances = distances.masked_fill(~is_there[:, None], torch.inf)
        count = min(self._search.memory_tokens, keys.shape[1])
        nearest = distances.topk(count, dim=2, largest=False)  # [B,K,C]
        shares = (-nearest.values / self._search.memory_temperature).softmax(dim=2)
        of_beams = tokens[:, None].expand(-1, self._search.beams, -1)  # [B,K,M]
        chosen = of_beams.gather(2, nearest.indices)  # [B,K,C]
        recalled = torch.zeros_like(own)
        return recalled.scatter_add_(1, chosen.flatten(0, 1), shares.flatten(0, 1))
