"""Ids in, the n best sequences out, in order.

Shapes: B sentences, S source positions, N rows, P placeholders, L target positions.
"""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.engines.base import Phrases
from nmt.errors import Say, UserError, print_nothing
from nmt.machine.device import Precision
from nmt.machine.helpers import CAN_FORK
from nmt.machine.oom import Capacity, none_on_oom
from nmt.machine.threads import thread_pool
from nmt.model.batch import pad
from nmt.model.loading import in_precision
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.neighbours.memory import MemoryReader, MemoryStepper, TranslationMemory
from nmt.neighbours.similar_sources import Similar
from nmt.search.batches import batch_tokens_of, batches_of, longest_target, padded_width
from nmt.search.constrained import constrained_beam
from nmt.search.filters import ForbidTokens, TokenFilter, WriteEachOnce
from nmt.search.hypotheses import NBest
from nmt.search.sampling import uniforms
from nmt.search.search import SEARCHES, sample
from nmt.search.stepper import Ensemble, Stepper
from nmt.spans.masking import MaskedPair, Numbers, mask_pair
from nmt.text.side import Side, is_into_chinese

_BEAMS_FOR_PHRASES = 4  # at least


class Source(NamedTuple):
    """A sentence to search for: its ids without EOS, what its translation has to have, which sample of it this is."""

    ids: list[int]
    sample: int = 0
    phrases: Phrases = ()


class Decoder:
    """The engine on torch: a model, or several, and what search has to know about their two vocabularies."""

    def __init__(
        self,
        model: Transformer,
        src: Side,
        tgt: Side,
        precision: Precision,
        warn: Say = print_nothing,
        numbers: Numbers = "long",
        others: Sequence[Transformer] = (),
    ) -> None:
        """`warn` gets a line the first time that a batch does not fit in memory.

        `numbers` are those that are masked in translating.
        `others` are models of the same vocabularies, in which the probabilities of all are averaged: an ensemble.
        """
        self.name = f"torch {precision}"
        self._models = [in_precision(each, precision) for each in (model, *others)]
        self.model = self._models[0]
        self.device = next(model.parameters()).device
        self.src = src
        self.tgt = tgt
        self.protects = bool(src.vocab.placeholders and tgt.vocab.placeholders)
        self._src_placeholders = src.vocab.placeholders if self.protects else []
        self._tgt_placeholders = tgt.vocab.placeholders if self.protects else []
        self._forbidden = tgt.never_written
        self._warn = warn
        self._numbers = numbers
        self._translation_memory: TranslationMemory | None = None
        self._memory_readers: list[MemoryReader] = []  # one for each model
        self._capacity = Capacity()
        # How many batches are searched at a time; the cut into batches depends on it.
        is_cpu = self.device.type == "cpu"
        self.threads = torch.get_num_threads() if is_cpu else 1
        self.helpers = self.threads if self.threads > 1 and CAN_FORK else 0

    @property
    def longest(self) -> int:
        """The most tokens of a sentence: EOS takes a position on the source side, BOS on the target side."""
        return min(model.config.max_length for model in self._models) - 1

    def masked(self, source: str, translation: str) -> MaskedPair:
        """Both sides with placeholders, as in translating, for what occurs once in each."""
        masked = None
        if self.protects:
            foreign = is_into_chinese(self.src, self.tgt)
            masked = mask_pair(source, translation, 0, self._numbers, foreign)
        return masked or MaskedPair(source, translation, {})

    @property
    def never_written(self) -> list[int]:
        """The ids that no translation has but for a source with spans."""
        return self._forbidden + self._tgt_placeholders

    def remember(self, memory: TranslationMemory) -> None:
        """From now on, let these pairs have a say in each next token."""
        self._translation_memory = memory
        self._memory_readers = [MemoryReader(model, memory) for model in self._models]

    def fingerprint(self) -> str:
        """A hash of the weights, their precision and the memory."""
        digest = hashlib.sha256(str(self.model.dtype).encode())
        for parameter in chain.from_iterable(model.parameters() for model in self._models):
            digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().data)
        if self._translation_memory is not None:
            digest.update(self._translation_memory.fingerprint().encode())
        return digest.hexdigest()

    def decode(
        self, sources: Sequence[list[int]], search: SearchConfig, phrases: Sequence[Phrases] = ()
    ) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order.

        Where there are `phrases`, the search keeps several hypotheses, whatever is asked for. Sampling gives n samples
        of each, the most likely first. With `search.seed` they are a function of it and the sentence. Raises UserError
        if one sentence alone does not fit in memory.
        """
        if any(phrases):
            both = zip(sources, phrases, strict=True)
            several = {"method": "beam", "beam_size": max(search.beams, _BEAMS_FOR_PHRASES)}
            wanted = [Source(ids, phrases=of_each) for ids, of_each in both]
            return self._decode(wanted, search.model_copy(update=several))
        if search.effective_method != "sample":
            return self._decode([Source(ids) for ids in sources], search)
        wanted = [Source(ids, number) for ids in sources for number in range(search.n_best)]
        if search.seed is None:  # then equal sentences get different samples, too
            search = search.model_copy(update={"seed": secrets.randbits(64)})
            wanted = [Source(source.ids, place) for place, source in enumerate(wanted)]
        samples = iter(self._decode(wanted, search))
        found = []
        for _ in sources:
            drawn = [next(samples)[0] for _ in range(search.n_best)]
            found.append(sorted(drawn, key=lambda hypothesis: -hypothesis.log_prob))
        return found

    def _decode(self, sources: list[Source], search: SearchConfig) -> list[NBest]:
        """What search finds for each source, in order."""
        lengths = [len(source.ids) for source in sources]
        positions = batch_tokens_of(search, self.device.type)
        batches = batches_of(lengths, positions, self.threads)
        of_batches = [[sources[i] for i in batch] for batch in batches]
        results = self._search_each(of_batches, search)

        found: list[NBest] = [[] for _ in sources]
        for batch, n_bests in zip(batches, results, strict=True):
            for i, n_best in zip(batch, n_bests, strict=True):
                found[i] = n_best
        return found

    def _search_each(
        self, batches: list[list[Source]], search: SearchConfig
    ) -> Iterator[list[NBest]]:
        """Search every batch. On a CPU, several batches at a time use the cores better than one does."""
        search_batch = partial(self._search_within_memory, search=search)
        workers = min(self.threads, torch.get_num_threads(), len(batches))
        if workers <= 1:
            yield from map(search_batch, batches)
            return
        with thread_pool(workers) as pool:
            yield from pool.map(search_batch, batches)

    # --- out of memory ---

    def _search_within_memory(self, sources: list[Source], search: SearchConfig) -> list[NBest]:
        """Search one batch, the longest sentence first, from now on in smaller parts if it does not fit in memory."""
        found: list[NBest] = []
        while len(found) < len(sources):
            rows = self._capacity.rows(len(sources), _width(sources, search))
            part = sources[len(found) :][:rows]
            n_bests = none_on_oom(partial(self._search, part, search))
            if n_bests is None:
                self._search_less(part, search)
            else:
                found += n_bests
        return found

    def _search_less(self, sources: list[Source], search: SearchConfig) -> None:
        """From now on search at most half as much at a time as these, which did not fit in memory."""
        what = f"a sentence of {len(sources[0].ids)} tokens does not fit in memory"
        fix = "lower search.beam_size or search.max_length, or free some memory"
        is_first = self._capacity.positions is None
        self._capacity.halve(len(sources), _width(sources, search), UserError(f"{what}; {fix}"))
        if is_first:
            effect = "this and later batches are translated in parts"
            fix = "a lower search.batch_tokens avoids this"
            self._warn(
                f"a batch of {len(sources)} sentences did not fit in memory; {effect}; {fix}"
            )

    # --- one batch ---

    @torch.inference_mode()
    def _search(self, sources: list[Source], search: SearchConfig) -> list[NBest]:
        """Search one batch."""
        of_each = [longest_target(len(source.ids), self.longest, search) for source in sources]
        limits = torch.tensor(of_each).to(self.device)  # [B]
        width = min(padded_width(max(len(source.ids) for source in sources)), self.longest + 1)
        src = pad([source.ids for source in sources], width).to(self.device)  # [B,S]
        stepper = self._stepper(sources, src, search)
        filters = self._filters(sources, src, limits, search)
        if any(source.phrases for source in sources):
            phrases = [source.phrases for source in sources]
            return constrained_beam(stepper, limits, search, phrases, filters)
        if search.effective_method != "sample":
            return SEARCHES[search.effective_method](stepper, limits, search, filters)
        assert search.seed is not None  # noqa: S101 - `decode` has put one
        numbers = np.stack(
            [uniforms(search.seed, each.ids, each.sample, max(of_each) + 1) for each in sources]
        )
        return sample(stepper, limits, search, torch.from_numpy(numbers).to(self.device), filters)

    def _stepper(self, sources: list[Source], src: Tensor, search: SearchConfig) -> Stepper:
        """The model, or the ensemble, having read the sources, which are padded in src [B,S]."""
        memory = self._translation_memory
        similar: list[Similar] = []
        if memory is not None:
            similar = memory.similar([source.ids for source in sources], search.memory_pairs)
        members: list[Stepper] = []
        for number, model in enumerate(self._models):
            cache = model.eval().encode(src)
            cache.reserve(search.beams)
            if memory is None:
                members.append(ModelStepper(model, cache))
            else:
                remembered = self._memory_readers[number].remembered(similar)
                members.append(MemoryStepper(model, cache, remembered, search))
        return members[0] if len(members) == 1 else Ensemble(members)

    def _filters(
        self, sources: list[Source], src: Tensor, limits: Tensor, search: SearchConfig
    ) -> list[TokenFilter]:
        """What is never written is forbidden; the placeholders of each source are written once, and no others."""
        placeholders = set(self._src_placeholders)
        if all(placeholders.isdisjoint(source.ids) for source in sources):
            return [ForbidTokens(self._tensor(self.never_written))]
        is_in_source = (src[:, :, None] == self._tensor(self._src_placeholders)).any(dim=1)  # [B,P]
        each_once = WriteEachOnce(
            self._tensor(self._tgt_placeholders),
            is_in_source.repeat_interleave(search.beams, dim=0),  # [N,P]
            limits.repeat_interleave(search.beams),  # [N]
        )
        return [ForbidTokens(self._tensor(self._forbidden)), each_once]

    def _tensor(self, ids: list[int]) -> Tensor:
        return torch.tensor(ids, device=self.device)


def _width(sources: list[Source], search: SearchConfig) -> int:
    """The padded source positions of all beams of a sentence, the longest of which is the first."""
    return padded_width(len(sources[0].ids)) * search.beams
