"""Looking for the best target sequence. Search knows no model: it sees `step` and `select`.

Shapes: B sentences still searched, K beams, N = B·K rows (the beams of a sentence side by side), V target
tokens, L room for tokens. A sentence may have at most `limits[b]` tokens before EOS; every hypothesis ends in
EOS, and its length counts EOS.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.text.vocab import BOS, EOS
from nmt.translate.top_tokens import Likeliest, likeliest

ROUND = 8  # sentences: on a CPU a new shape costs more time than a few rows that nobody needs


class Stepper(Protocol):
    """What search walks on. It starts with K rows for each sentence."""

    def step(self, last: Tensor) -> Tensor:
        """Take the newest token of each row [N]; give the logits of the next [N,V]."""

    def select(self, rows: Tensor) -> None:
        """Go on with these rows [N'] in this order; a sentence goes on with K rows or not at all."""


@dataclass(frozen=True)
class Hypothesis:
    """A target sequence."""

    ids: list[int]  # without EOS
    log_prob: float  # with EOS
    score: float  # after the length penalty


NBest = list[Hypothesis]  # of one sentence, best first
Choice = Callable[[Tensor], Likeliest]  # logits [N,V] → one token for each row (C = 1)


def length_penalty(length: float, alpha: float) -> float:
    """Give what a log-probability is divided by (Wu et al., 2016, equation 14); `length` counts EOS."""
    return ((5.0 + length) / 6.0) ** alpha


def greedy(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Take the likeliest token, always."""
    return _walk(stepper, limits, config, lambda logits: likeliest(logits, 1))


def sample(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Draw each token at a temperature, from the `top_k` likeliest (0: from all)."""

    def draw(logits: Tensor) -> Likeliest:
        top = likeliest(logits, config.top_k or logits.shape[1])
        below = top.log_probs - top.log_probs[:, :1]  # the likeliest stays at 0, however cold it is
        drawn = torch.multinomial((below / config.temperature).softmax(dim=1), 1)
        return Likeliest(top.log_probs.gather(1, drawn), top.tokens.gather(1, drawn), top.of_end)

    return _walk(stepper, limits, config, draw)


def _walk(stepper: Stepper, limits: Tensor, config: SearchConfig, choose: Choice) -> list[NBest]:
    """Follow one path for each sentence; those that have reached EOS leave the batch now and then."""
    found: list[NBest] = [[] for _ in limits]
    who = torch.arange(len(limits), device=limits.device)  # [B]: which sentence each row is
    is_open = torch.ones_like(who, dtype=torch.bool)
    paths = torch.full((len(limits), int(limits.max()) + 2), BOS, device=limits.device)  # [B,L]
    sums = torch.zeros(len(limits), device=limits.device)
    for length in range(1, paths.shape[1]):
        logits = stepper.step(paths[:, length - 1])
        _forbid_repeats(logits, paths[:, 1:length], config.no_repeat_ngram)
        chosen = choose(logits)
        at_limit = length > limits
        paths[:, length] = chosen.tokens[:, 0].masked_fill(at_limit, EOS)
        sums = sums + torch.where(at_limit, chosen.of_end, chosen.log_probs[:, 0])
        ended = (paths[:, length] == EOS) & is_open
        for row in ended.nonzero().squeeze(1).tolist():
            total = float(sums[row])
            score = total / length_penalty(length, config.length_penalty)
            found[int(who[row])] = [Hypothesis(paths[row, 1:length].tolist(), total, score)]
        is_open &= ~ended
        kept = _going_on(is_open)
        if len(kept) == 0:
            break
        if len(kept) < len(who):
            stepper.select(kept)
            who, is_open, paths, sums, limits = (
                x[kept] for x in (who, is_open, paths, sums, limits)
            )
    return found


def _forbid_repeats(logits: Tensor, paths: Tensor, size: int) -> None:
    """Forbid the tokens that would end a sequence of `size` tokens which the row's path [N,t] has already."""
    length = paths.shape[1]
    if not 0 < size <= length:
        return
    sequences = paths.unfold(1, size, 1)  # [N,t-size+1,size]
    begun = (sequences[:, :, :-1] == paths[:, None, length - size + 1 :]).all(dim=2)
    rows, starts = begun.nonzero(as_tuple=True)
    logits[rows, sequences[rows, starts, -1]] = -torch.inf


def _going_on(is_open: Tensor) -> Tensor:
    """The sentences, of [B], to go on with, in order: those still open, and some others.

    To drop the others costs copies, so it is done when a quarter of all can leave, and leaves a multiple of `ROUND`.
    """
    left = int(is_open.sum())
    wanted = -(-left // ROUND) * ROUND
    if left and wanted > 0.75 * len(is_open):
        wanted = len(is_open)
    return (~is_open).to(torch.uint8).argsort(stable=True)[:wanted].sort().values


@dataclass
class _Beams:
    """The open hypotheses of all sentences: log-probability and tokens (BOS first)."""

    live: Tensor  # [B,K]; -inf where there is none
    paths: Tensor  # [B,K,L]


@dataclass
class _Finished:
    """The best K hypotheses of each sentence that have reached EOS, in falling order of score."""

    scores: Tensor  # [B,K]; -inf where there is none
    log_probs: Tensor  # [B,K]
    lengths: Tensor  # [B,K], EOS counted
    paths: Tensor  # [B,K,L]

    def offer(self, log_probs: Tensor, length: int, paths: Tensor, alpha: float) -> None:
        """Take in candidates [B,C] with paths [B,C,L] that end at `length`; -inf: none."""
        scores = torch.cat([self.scores, log_probs / length_penalty(length, alpha)], dim=1)
        top = scores.topk(self.scores.shape[1], dim=1)
        self.scores = top.values
        self.log_probs = torch.cat([self.log_probs, log_probs], dim=1).gather(1, top.indices)
        lengths = torch.cat([self.lengths, torch.full_like(log_probs, length)], dim=1)
        self.lengths = lengths.gather(1, top.indices)
        self.paths = _rows(torch.cat([self.paths, paths], dim=1), top.indices)


def beam(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Keep the K likeliest open hypotheses of each sentence, until its n best are `_settled`."""
    count, width, alpha = len(limits), config.beam_size, config.length_penalty
    beams, finished = _start(limits, width)
    found: list[NBest] = [[] for _ in range(count)]
    who = torch.arange(count, device=limits.device)
    is_open = torch.ones_like(who, dtype=torch.bool)
    for length in range(1, beams.paths.shape[2]):
        logits = stepper.step(beams.paths[:, :, length - 1].flatten())
        _forbid_repeats(logits, beams.paths[:, :, 1:length].flatten(0, 1), config.no_repeat_ngram)
        rows = _advance(beams, finished, likeliest(logits, 2 * width), length, limits, alpha)
        done = _settled(beams, finished, length, limits, config) & is_open
        for b in done.nonzero().squeeze(1).tolist():
            found[int(who[b])] = _n_best(finished, b, config.n_best)
        is_open &= ~done
        kept = _going_on(is_open)
        if len(kept) == 0:
            break
        if len(kept) < len(who):
            beams = _Beams(*(tensor[kept] for tensor in vars(beams).values()))
            finished = _Finished(*(tensor[kept] for tensor in vars(finished).values()))
            who, is_open, limits, rows = who[kept], is_open[kept], limits[kept], rows[kept]
        stepper.select(rows.flatten())
    return found


def _start(limits: Tensor, width: int) -> tuple[_Beams, _Finished]:
    none = torch.full((len(limits), width), -math.inf, device=limits.device)
    live = none.clone()
    live[:, 0] = 0.0
    paths = torch.full((*none.shape, int(limits.max()) + 2), BOS, device=limits.device)
    return _Beams(live, paths), _Finished(none, none.clone(), torch.zeros_like(none), paths.clone())


def _advance(
    beams: _Beams, finished: _Finished, top: Likeliest, length: int, limits: Tensor, alpha: float
) -> Tensor:
    """Lengthen every hypothesis by a token, in place; gives the rows [B,K] that the new beams come from.

    Of the 2K best candidates, at most K end in EOS, so K open ones are left; all 2K are among the 2K best of their
    own rows. As in fairseq, only an end among the first K counts: a worse one would crowd out hypotheses that are
    still open.
    """
    sentences, width = beams.live.shape
    choices = top.tokens.shape[1]
    at_limit = (length > limits)[:, None]
    total = beams.live[:, :, None] + top.log_probs.view(sentences, width, choices)
    values, flat = total.flatten(1).topk(min(2 * width, width * choices), dim=1)  # [B,2K]
    origin, token = flat // choices, top.tokens.view(sentences, -1).gather(1, flat)
    ends = token == EOS
    closing = values.masked_fill(~ends, -math.inf)[:, :width]
    closing = torch.where(
        at_limit, beams.live + top.of_end.view(sentences, width), closing
    )  # all must end here
    came_from = torch.where(at_limit, torch.arange(width, device=limits.device), origin[:, :width])
    finished.offer(closing, length, _rows(beams.paths, came_from), alpha)
    live, chosen = values.masked_fill(ends | at_limit, -math.inf).topk(width, dim=1)
    origin = origin.gather(1, chosen)
    beams.live, beams.paths = live, _rows(beams.paths, origin)
    beams.paths[:, :, length] = token.gather(1, chosen)
    return origin + torch.arange(sentences, device=limits.device)[:, None] * width


def _rows(paths: Tensor, index: Tensor) -> Tensor:
    """Pick from paths [B,C,L] by index [B,K] → [B,K,L]."""
    return paths.gather(1, index[:, :, None].expand(-1, -1, paths.shape[2]))


def _settled(
    beams: _Beams, finished: _Finished, length: int, limits: Tensor, config: SearchConfig
) -> Tensor:
    """Tell which sentences need no more steps, bool [B].

    Those of which no open hypothesis can still get among the n best; and those of which K have ended, and no open one
    would beat the best of them by ending now. A log-probability only falls, and counts least at the greatest length:
    that bounds what can still come. (To stop as soon as K have ended cost 0.5 BLEU on Tatoeba: the first to end are
    the short ones.)
    """
    likeliest = beams.live.max(dim=1).values
    within_reach = likeliest / ((6.0 + limits) / 6.0) ** config.length_penalty
    full = finished.scores[:, -1] > -math.inf
    beaten = likeliest / length_penalty(length + 1, config.length_penalty) <= finished.scores[:, 0]
    return (full & beaten) | (within_reach <= finished.scores[:, config.n_best - 1])


def _n_best(finished: _Finished, b: int, count: int) -> NBest:
    columns = (
        values[b, :count].tolist()
        for values in (finished.lengths, finished.log_probs, finished.scores)
    )
    ranked = zip(finished.paths[b, :count].tolist(), *columns, strict=True)
    return [
        Hypothesis(path[1 : int(end)], total, score)
        for path, end, total, score in ranked
        if score > -math.inf
    ]


SEARCHES = {"greedy": greedy, "beam": beam, "sample": sample}
