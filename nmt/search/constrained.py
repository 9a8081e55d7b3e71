"""Beam search for translations that have to have some phrases.

The beams of a sentence are shared out among hypotheses that have as many tokens of the phrases (Post and Vilar, 2018,
"dynamic beam allocation"): so those that begin a phrase early, which costs probability, are not crowded out by those
that put it off. All sentences of a batch advance at once (Hu et al., 2019).

Shapes: B sentences, K beams, N = B·K rows, V target tokens, C candidates of a row, X = K·C of a sentence, P phrases
of a sentence, M tokens of a phrase, L positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.machine.device import accumulation_dtype
from nmt.search.active_sentences import ActiveSentences
from nmt.search.filters import TokenFilter
from nmt.search.hypotheses import NBest, length_penalty
from nmt.search.search import INCOMPLETE, Beams, Finished, all_filters, empty_beams, pick, settled
from nmt.search.stepper import Stepper
from nmt.search.top_tokens import top_tokens
from nmt.text.vocab import EOS

Phrase = Sequence[int]
_NONE = -1  # no token, no phrase


@dataclass
class _Progress:
    """How far each hypothesis is with the phrases of its sentence."""

    phrases: Tensor  # [B,P,M], filled up with `_NONE`
    lengths: Tensor  # [B,P]; 0 where a sentence has fewer phrases
    is_met: Tensor  # bool [B,K,P]
    current: Tensor  # [B,K]: the phrase that is being written, or `_NONE`
    written: Tensor  # [B,K]: how many of its tokens are

    @classmethod
    def of(
        cls, wanted: Sequence[Sequence[Phrase]], beams: int, device: torch.device
    ) -> "_Progress":
        """Nothing is written yet."""
        most = max(1, *map(len, wanted))
        longest = max((len(phrase) for phrases in wanted for phrase in phrases), default=1)
        phrases = torch.full((len(wanted), most, longest), _NONE)
        lengths = torch.zeros((len(wanted), most), dtype=torch.long)
        for sentence, of_sentence in enumerate(wanted):
            for place, phrase in enumerate(of_sentence):
                phrases[sentence, place, : len(phrase)] = torch.tensor(phrase)
                lengths[sentence, place] = len(phrase)
        none = torch.full((len(wanted), beams), _NONE, device=device)
        lengths = lengths.to(device)
        is_met = (lengths == 0)[:, None, :].expand(-1, beams, -1)
        return cls(phrases.to(device), lengths, is_met, none, torch.zeros_like(none))

    def is_complete(self) -> Tensor:
        """Which hypotheses have all phrases, bool [B,K]."""
        return self.is_met.all(dim=2)

    def wanted(self) -> Tensor:
        """The tokens that take each hypothesis further, [B,K,P]; `_NONE` where there is none."""
        first = self.phrases[:, None, :, 0].expand_as(self.is_met)
        tokens = first.masked_fill(self.is_met, _NONE)
        return torch.where(self._is_writing()[:, :, None], self._next()[:, :, None], tokens)

    def _is_writing(self) -> Tensor:
        return self.current != _NONE

    def _next(self) -> Tensor:
        """The next token of the current phrase [B,K]; anything where there is none."""
        sentence = torch.arange(len(self.phrases), device=self.phrases.device)[:, None]
        at = self.written.clamp(max=self.phrases.shape[2] - 1)
        return self.phrases[sentence, self.current.clamp(min=0), at]

    def extended(self, origins: Tensor, tokens: Tensor) -> "_Progress":
        """The progress of candidates [B,X]: tokens behind the hypotheses of some beams.

        A token that does not go on with the current phrase may begin another one; of several, the longest. (What a
        phrase that was broken off has at its end is not taken for the beginning of another.)
        """
        goes_on = self._is_writing().gather(1, origins) & (
            self._next().gather(1, origins) == tokens
        )
        is_met = self.is_met.gather(1, origins[:, :, None].expand(-1, -1, self.is_met.shape[2]))
        begins = (self.phrases[:, None, :, 0] == tokens[:, :, None]) & ~is_met  # [B,X,P]
        longest = (begins * self.lengths[:, None, :]).max(dim=2)
        begun = torch.where(longest.values > 0, longest.indices, _NONE)
        current = torch.where(goes_on, self.current.gather(1, origins), begun)
        written = torch.where(goes_on, self.written.gather(1, origins) + 1, (begun != _NONE).long())
        sizes = self.lengths.gather(1, current.clamp(min=0))
        is_whole = (current != _NONE) & (written == sizes)
        whole = torch.zeros_like(is_met).scatter(
            2, current.clamp(min=0)[:, :, None], is_whole[:, :, None]
        )
        current = current.masked_fill(is_whole, _NONE)
        written = written.masked_fill(is_whole, 0)
        return _Progress(self.phrases, self.lengths, is_met | whole, current, written)

    def count(self) -> Tensor:
        """How many tokens of the phrases each hypothesis has, [B,K]."""
        return (self.is_met * self.lengths[:, None, :]).sum(dim=2) + self.written

    def chosen(self, places: Tensor) -> "_Progress":
        """Those of some candidates [B,K]."""
        is_met = self.is_met.gather(1, places[:, :, None].expand(-1, -1, self.is_met.shape[2]))
        current, written = self.current.gather(1, places), self.written.gather(1, places)
        return _Progress(self.phrases, self.lengths, is_met, current, written)

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        for name, value in vars(self).items():
            setattr(self, name, value[places])


def constrained_beam(
    stepper: Stepper,
    limits: Tensor,
    config: SearchConfig,
    phrases: Sequence[Sequence[Phrase]],
    filters: Sequence[TokenFilter] = (),
) -> list[NBest]:
    """The n best translations of each sentence that have all of its phrases, none of them empty.

    Where the limit of a sentence leaves too little room, what ends there has fewer.
    """
    batch = ActiveSentences(limits)
    beams, finished = empty_beams(limits, config.beam_size)
    progress = _Progress.of(phrases, config.beam_size, limits.device)
    allowed = all_filters(filters, config)
    for length in range(1, beams.paths.shape[2]):
        logits = stepper.step(beams.paths[:, :, length - 1].flatten())  # [N,V]
        allowed.apply(logits, beams.paths[:, :, :length].flatten(0, 1))
        at_limit = (length > batch.limits)[:, None]  # [B,1]
        candidates = _candidates(logits, progress, beams)
        _end(beams, finished, candidates, progress, length, at_limit, config)
        rows, progress = _advance(beams, candidates, progress, length, at_limit)

        done = batch.close(settled(beams, finished, length, batch.limits, config))
        if done:
            batch.put(done, finished.n_best(done, config.n_best, config.length_penalty))
        if not batch.any_open():
            break
        places = batch.drop_closed(beams, finished, progress)
        if places is not None:
            rows = rows[places]
        stepper.select(rows.flatten())
        allowed.select(rows.flatten())
    return batch.found


@dataclass(frozen=True)
class _Candidates:
    """Ways to lengthen the hypotheses of each sentence by a token."""

    log_probs: Tensor  # [B,X]; -inf where there is none
    origins: Tensor  # [B,X]: the beam that each lengthens
    tokens: Tensor  # [B,X]
    eos_log_probs: Tensor  # [B,K], of hypotheses that end


def _candidates(logits: Tensor, progress: _Progress, beams: Beams) -> _Candidates:
    """The most likely tokens of each row, and those that take it further with its phrases."""
    count, width = beams.log_probs.shape
    top = top_tokens(logits, 2 * width)
    wanted = progress.wanted().flatten(0, 1)  # [N,P]
    is_new = (wanted != _NONE) & (wanted[:, :, None] != top.tokens[:, None, :]).all(dim=2)
    is_new &= ~_is_repeated(wanted)
    wanted = wanted.clamp(min=0)
    wide = logits.to(accumulation_dtype(logits.dtype))
    of_wanted = wide.gather(1, wanted) - wide.logsumexp(dim=1, keepdim=True)
    log_probs = torch.cat([top.log_probs, of_wanted.masked_fill(~is_new, -math.inf)], dim=1)
    tokens = torch.cat([top.tokens, wanted], dim=1)  # [N,C]
    total = beams.log_probs[:, :, None] + log_probs.view(count, width, -1)  # [B,K,C]
    origins = torch.arange(width, device=logits.device)[None, :, None].expand_as(total)
    eos = top.eos_log_probs.view(count, width) + beams.log_probs
    return _Candidates(total.flatten(1), origins.flatten(1), tokens.view(count, -1), eos)


def _is_repeated(tokens: Tensor) -> Tensor:
    """Which tokens of a row [N,P] it has before, bool [N,P]."""
    is_same = tokens[:, :, None] == tokens[:, None, :]
    return is_same.tril(diagonal=-1).any(dim=2)


def _end(
    beams: Beams,
    finished: Finished,
    candidates: _Candidates,
    progress: _Progress,
    length: int,
    at_limit: Tensor,
    config: SearchConfig,
) -> None:
    """Take in the hypotheses that end now: those with all phrases, and any at the limit of its sentence."""
    may_end = progress.is_complete() | at_limit
    log_probs = candidates.eos_log_probs.masked_fill(~may_end, -math.inf)
    scores = log_probs / length_penalty(length, config.length_penalty)
    scores = scores - INCOMPLETE * ~progress.is_complete()
    finished.offer(log_probs, scores, length, beams.paths)


def _advance(
    beams: Beams, candidates: _Candidates, progress: _Progress, length: int, at_limit: Tensor
) -> tuple[Tensor, _Progress]:
    """Lengthen the hypotheses in place; the rows [B,K] that the new ones come from, and their progress."""
    count, width = beams.log_probs.shape
    extended = progress.extended(candidates.origins, candidates.tokens)
    is_closed = (candidates.tokens == EOS) | at_limit
    log_probs = candidates.log_probs.masked_fill(is_closed, -math.inf)
    places = _shared_out(log_probs, extended.count(), width)
    beams.log_probs = log_probs.gather(1, places)
    origins = candidates.origins.gather(1, places)
    beams.paths = pick(beams.paths, origins)
    beams.paths[:, :, length] = candidates.tokens.gather(1, places)
    first_rows = torch.arange(count, device=places.device)[:, None] * width
    return first_rows + origins, extended.chosen(places)


def _shared_out(log_probs: Tensor, counts: Tensor, width: int) -> Tensor:
    """The places [B,K] of candidates [B,X] for the beams: of each count the best, then the second best, and so on."""
    order = log_probs.argsort(dim=1, descending=True, stable=True)
    ranked = counts.gather(1, order)  # [B,X], best first
    is_like = ranked[:, :, None] == ranked[:, None, :]
    rank = is_like.tril(diagonal=-1).sum(dim=2)  # [B,X]: how many of its count are better
    is_none = log_probs.gather(1, order) == -math.inf
    most = ranked.max(dim=1, keepdim=True).values + 1
    key = (rank * most - ranked).masked_fill(is_none, torch.iinfo(rank.dtype).max)
    return order.gather(1, key.argsort(dim=1, stable=True)[:, :width])
