"""Ids in, the n best sequences out, in order. Shapes: B sentences, S source positions, N rows, P placeholders."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial

import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.corpus.batching import pad
from nmt.model.device import Precision, dtype_of
from nmt.model.kernels.packed_linear import pack
from nmt.model.transformer import Transformer
from nmt.text.side import Side
from nmt.text.vocab import BOS, PAD, UNK
from nmt.translate.search import BATCH_MULTIPLE, SEARCHES, NBest
from nmt.translate.stepper import ModelStepper, PendingPlaceholders

# Positions. On a CPU a new shape costs more time than a little padding.
_WIDTH_MULTIPLE = 4
# Source tokens. A batch is not made smaller than this only to give another thread work.
_WORTH_A_THREAD = 500


class Decoder:
    """A model, and what search has to know about its two vocabularies."""

    def __init__(self, model: Transformer, src: Side, tgt: Side, precision: Precision) -> None:
        self.model = _cast(model, dtype_of(precision))
        self.device = next(model.parameters()).device
        # Whether both vocabularies have placeholders for protected spans.
        self.protects = bool(src.vocab.placeholders and tgt.vocab.placeholders)
        self._src_placeholders = src.vocab.placeholders if self.protects else []
        self._tgt_placeholders = tgt.vocab.placeholders if self.protects else []
        self._forbidden = [PAD, BOS, UNK] if tgt.never_unknown else [PAD, BOS]

    @property
    def longest(self) -> int:
        """The most tokens of a sentence: EOS takes a position on the source side, BOS on the target side."""
        return self.model.config.max_length - 1

    def decode(self, sources: Sequence[list[int]], search: SearchConfig) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order."""
        threads = self._threads(search)
        batches = _batches(sources, search.batch_tokens, threads)
        of_batches = [[sources[i] for i in batch] for batch in batches]
        results = self._search_each(of_batches, search, threads)

        found: list[NBest] = [[] for _ in sources]
        for batch, n_bests in zip(batches, results, strict=True):
            for i, n_best in zip(batch, n_bests, strict=True):
                found[i] = n_best
        return found

    def _threads(self, search: SearchConfig) -> int:
        """How many batches are searched at a time. Random draws have to come in order."""
        if self.device.type != "cpu" or search.effective_method == "sample":
            return 1
        return torch.get_num_threads()

    def _search_each(
        self, batches: list[list[list[int]]], search: SearchConfig, threads: int
    ) -> Iterator[list[NBest]]:
        """Search every batch. On a CPU, several batches at a time use the cores better than one does."""
        search_batch = partial(self._search, search=search)
        workers = min(threads, len(batches))
        if workers <= 1:
            yield from map(search_batch, batches)
            return
        threads_each = torch.get_num_threads() // workers
        with ThreadPoolExecutor(
            workers, initializer=torch.set_num_threads, initargs=(threads_each,)
        ) as pool:
            yield from pool.map(search_batch, batches)

    @torch.inference_mode()
    def _search(self, sources: list[list[int]], search: SearchConfig) -> list[NBest]:
        """Search one batch."""
        limits = torch.tensor([self._limit(len(ids), search) for ids in sources])  # [B]
        beams = search.beam_size if search.effective_method == "beam" else 1
        stepper = self._stepper(sources, beams)
        return SEARCHES[search.effective_method](stepper, limits.to(self.device), search)

    def _limit(self, source_tokens: int, search: SearchConfig) -> int:
        """The most tokens of a translation. The 10 let a short source have a long one."""
        by_ratio = int(source_tokens * search.max_ratio) + 10
        return min(by_ratio, self.longest, search.max_length or self.longest)

    def _stepper(self, sources: list[list[int]], beams: int) -> ModelStepper:
        """A stepper that writes the placeholders of each source, and no others."""
        width = min(_width(max(map(len, sources))), self.model.config.max_length)
        src = pad(sources, width).to(self.device)  # [B,S]
        self.model.eval()
        cache = self.model.encode(src)
        cache.reserve(beams)

        placeholders = set(self._src_placeholders)
        if all(placeholders.isdisjoint(ids) for ids in sources):
            forbidden = self._tensor(self._forbidden + self._tgt_placeholders)
            return ModelStepper(self.model, cache, forbidden)
        is_in_source = (src[:, :, None] == self._tensor(self._src_placeholders)).any(dim=1)  # [B,P]
        pending = PendingPlaceholders(
            self._tensor(self._tgt_placeholders),
            is_in_source.repeat_interleave(beams, dim=0),  # [N,P]
        )
        return ModelStepper(self.model, cache, self._tensor(self._forbidden), pending)

    def _tensor(self, ids: list[int]) -> Tensor:
        return torch.tensor(ids, device=self.device)


def _batches(sources: Sequence[list[int]], batch_tokens: int, threads: int) -> list[list[int]]:
    """Group indices, longest first: a batch too large for the memory fails at once and not at the end."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    tokens_per_thread = sum(map(len, sources)) // threads
    capacity = min(batch_tokens, max(tokens_per_thread, _WORTH_A_THREAD))  # source tokens
    batches = []
    start = 0
    while start < len(order):
        longest = len(sources[order[start]])
        size = max(1, capacity // _width(longest))
        if size > BATCH_MULTIPLE:
            size -= size % BATCH_MULTIPLE
        batches.append(order[start : start + size])
        start += size
    return batches


def _width(tokens: int) -> int:
    """The positions that a source of this many tokens and EOS is padded to."""
    return math.ceil((tokens + 1) / _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE


def _cast(model: Transformer, dtype: torch.dtype) -> Transformer:
    """The model with its parameters in `dtype`: itself, or a copy."""
    if dtype == model.dtype:
        return model
    model = deepcopy(model)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)
    if dtype == torch.bfloat16 and model.output.weight.device.type == "cpu":
        pack(model)
    return model
