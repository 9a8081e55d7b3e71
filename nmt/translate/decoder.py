"""Ids in, the n best sequences out, in order. Shapes: B sentences, S source positions, K beams, P placeholders."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from itertools import chain

import torch

from nmt.config.schema import SearchConfig
from nmt.corpus.batching import pad
from nmt.model.device import Precision, dtype_of
from nmt.model.kernels.packed_linear import pack
from nmt.model.transformer import Transformer
from nmt.text.side import Side
from nmt.text.vocab import BOS, PAD, UNK
from nmt.translate.search import ROUND, SEARCHES, NBest
from nmt.translate.stepper import ModelStepper, Owed

_WIDTH = 4  # positions: on a CPU a new shape costs more time than a little padding
_WORTH_A_THREAD = (
    500  # source tokens: a batch is not made smaller than that for the sake of another thread
)


class Decoder:
    """A model, and what of its two vocabularies search has to know."""

    def __init__(self, model: Transformer, src: Side, tgt: Side, precision: Precision) -> None:
        self.model = _cast(model, dtype_of(precision))
        self.device = next(model.parameters()).device
        ours, theirs = src.vocab.placeholders, tgt.vocab.placeholders
        self._placeholders = (ours, theirs) if ours and theirs else ([], [])
        self._forbidden = [PAD, BOS, UNK] if tgt.never_unknown else [PAD, BOS]

    @property
    def protects(self) -> bool:
        """Whether the vocabularies have placeholders of protected spans."""
        return bool(self._placeholders[0])

    @property
    def longest(self) -> int:
        """The tokens of a sentence at the most: EOS takes a position on the one side, BOS on the other."""
        return self.model.config.max_length - 1

    def decode(self, sources: Sequence[list[int]], search: SearchConfig) -> list[NBest]:
        """Translate sentences, each without EOS and of `longest` tokens at the most; in order."""
        found: list[NBest] = [[] for _ in sources]
        alone = (
            self.device.type != "cpu" or search.method == "sample"
        )  # what chance draws must come in order
        threads = 1 if alone else torch.get_num_threads()
        batches = list(_batches(sources, search.batch_tokens, threads))
        results = self._search_each(
            [[sources[i] for i in batch] for batch in batches], search, threads
        )
        for indices, result in zip(batches, results, strict=True):
            for index, n_best in zip(indices, result, strict=True):
                found[index] = n_best
        return found

    def _search_each(
        self, batches: list[list[list[int]]], search: SearchConfig, threads: int
    ) -> Iterator[list[NBest]]:
        """Search every batch; on a CPU several at a time, which uses its cores better than one at a time does."""
        work = partial(self._search, search=search)
        threads = min(threads, len(batches))
        if threads <= 1:
            yield from map(work, batches)
            return
        each = torch.get_num_threads() // threads
        with ThreadPoolExecutor(
            threads, initializer=torch.set_num_threads, initargs=(each,)
        ) as pool:
            yield from pool.map(work, batches)

    @torch.inference_mode()
    def _search(self, sources: list[list[int]], search: SearchConfig) -> list[NBest]:
        longest = min(self.longest, search.max_length or self.longest)
        limits = torch.tensor(
            [min(longest, int(len(ids) * search.max_ratio) + 10) for ids in sources]
        )
        beams = search.beam_size if search.method == "beam" else 1
        self.model.eval()
        width = min(_width(max(map(len, sources))), self.model.config.max_length)
        cache = self.model.encode(pad(sources, width).to(self.device))
        cache.reserve(beams)
        owed = self._owed(sources, beams)
        forbidden = self._forbidden if owed else self._forbidden + self._placeholders[1]
        stepper = ModelStepper(self.model, cache, torch.tensor(forbidden, device=self.device), owed)
        return SEARCHES[search.method](stepper, limits.to(self.device), search)

    def _owed(self, sources: list[list[int]], beams: int) -> Owed | None:
        """What translations owe, K rows for each: the placeholders of their sources. None: nobody owes any."""
        ours, theirs = self._placeholders
        if set(ours).isdisjoint(chain.from_iterable(sources)):
            return None
        rows = torch.tensor(
            [[placeholder in ids for placeholder in ours] for ids in sources], device=self.device
        )
        return Owed(torch.tensor(theirs, device=self.device), rows.repeat_interleave(beams, dim=0))


def _batches(sources: Sequence[list[int]], batch_tokens: int, threads: int) -> Iterator[list[int]]:
    """Group indices, longest first: a batch too large for the memory fails at once and not at the end."""
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    share = sum(map(len, sources)) // threads  # so that all cores have work
    room = min(batch_tokens, max(share, _WORTH_A_THREAD))
    start = 0
    while start < len(order):
        size = room // _width(len(sources[order[start]]))
        size = max(1, size - size % ROUND if size > ROUND else size)
        yield order[start : start + size]
        start += size


def _width(tokens: int) -> int:
    """The positions of a source of so many tokens: with EOS, up to the next of few widths."""
    return -(-(tokens + 1) // _WIDTH) * _WIDTH


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
