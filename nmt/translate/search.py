"""Search for the best target sequence. It knows no model: it sees `step` and `select`.

Shapes: B sentences still in the batch, K beams, N = B·K rows (the beams of a sentence side by side), V target
tokens, C candidates, L token positions with BOS and EOS, t tokens so far. A sentence may have at most
`limits[b]` tokens before EOS. Every hypothesis ends in EOS, and its length counts EOS.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.text.vocab import BOS, EOS
from nmt.translate.top_tokens import TopTokens, top_tokens

# Sentences. On a CPU a new shape costs more time than a few rows that nobody needs.
BATCH_MULTIPLE = 8


class Stepper(Protocol):
    """What search steps through. It starts with K rows for each sentence."""

    def step(self, last: Tensor) -> Tensor:
        """Take the newest token of each row [N]; give the logits of the next [N,V]."""

    def select(self, rows: Tensor) -> None:
        """Continue with these rows [N'] in this order: K rows of a sentence, or none of it."""


@dataclass(frozen=True)
class Hypothesis:
    """A target sequence."""

    ids: list[int]  # without EOS
    log_prob: float  # with EOS
    score: float  # after the length penalty


NBest = list[Hypothesis]  # of one sentence, best first
Choose = Callable[[Tensor], TopTokens]  # logits [N,V] → one token for each row (C = 1)


def length_penalty(length: float, alpha: float) -> float:
    """What a log-probability is divided by (Wu et al., 2016, equation 14); `length` counts EOS."""
    return ((5.0 + length) / 6.0) ** alpha


def greedy(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Always take the likeliest token."""

    def likeliest(logits: Tensor) -> TopTokens:
        return top_tokens(logits, 1)

    return _follow_one_path(stepper, limits, config, likeliest)


def sample(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Draw each token at a temperature, from the `top_k` likeliest (0: from all)."""

    def draw(logits: Tensor) -> TopTokens:
        top = top_tokens(logits, config.top_k or logits.shape[1])
        # The likeliest token stays at 0, so that nothing overflows at a temperature near 0.
        relative = top.log_probs - top.log_probs[:, :1]
        probabilities = (relative / config.temperature).softmax(dim=1)
        drawn = torch.multinomial(probabilities, 1)  # [N,1]
        return TopTokens(
            log_probs=top.log_probs.gather(1, drawn),
            tokens=top.tokens.gather(1, drawn),
            eos_log_probs=top.eos_log_probs,
        )

    return _follow_one_path(stepper, limits, config, draw)


# --- what all searches share ---


class _Batch:
    """The sentences still in the batch: open ones, and some closed ones that wait to be dropped."""

    def __init__(self, limits: Tensor) -> None:
        self.limits = limits  # [B]
        self.sentences = torch.arange(len(limits), device=limits.device)  # [B]: places in the input
        self.is_open = torch.ones_like(self.sentences, dtype=torch.bool)  # [B]

    def __len__(self) -> int:
        return len(self.sentences)

    def close(self, done: Tensor) -> list[int]:
        """Close those of the open sentences that are `done` [B]; give their places in the batch."""
        newly_closed = done & self.is_open
        self.is_open = self.is_open & ~newly_closed
        return newly_closed.nonzero().squeeze(1).tolist()

    def worth_keeping(self) -> Tensor:
        """Places in the batch to continue with, in order: the open sentences, and some closed ones.

        To drop the others costs copies, so it is done when a quarter of the batch can leave, and leaves a
        multiple of `BATCH_MULTIPLE`.
        """
        count = int(self.is_open.sum())
        wanted = math.ceil(count / BATCH_MULTIPLE) * BATCH_MULTIPLE
        if count and wanted > 0.75 * len(self):
            wanted = len(self)
        open_first = (~self.is_open).to(torch.uint8).argsort(stable=True)
        return open_first[:wanted].sort().values

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.limits = self.limits[places]
        self.sentences = self.sentences[places]
        self.is_open = self.is_open[places]


def _empty_paths(limits: Tensor, *shape: int) -> Tensor:
    """Paths of BOS alone, [*shape,L]: with space for the longest limit, BOS and EOS."""
    return torch.full((*shape, int(limits.max()) + 2), BOS, device=limits.device)


def _forbid_repeats(logits: Tensor, paths: Tensor, size: int) -> None:
    """Forbid the tokens that would end a sequence of `size` tokens that the row's path [N,t] already has.

    The logits [N,V] change in place; size 0 forbids nothing.
    """
    length = paths.shape[1]
    if not 0 < size <= length:
        return
    sequences = paths.unfold(1, size, 1)  # [N,t-size+1,size]
    newest = paths[:, None, length - size + 1 :]  # [N,1,size-1]
    is_begun = (sequences[:, :, :-1] == newest).all(dim=2)  # [N,t-size+1]
    rows, starts = is_begun.nonzero(as_tuple=True)
    logits[rows, sequences[rows, starts, -1]] = -torch.inf


# --- greedy and sample: one path for each sentence, so that N = B ---


@dataclass
class _Paths:
    """One path for each sentence."""

    tokens: Tensor  # [B,L], BOS first
    log_probs: Tensor  # [B]

    def extend(self, chosen: TopTokens, length: int, at_limit: Tensor) -> None:
        """Lengthen each path by the token chosen for it, or by EOS where it is `at_limit` [B]."""
        self.tokens[:, length] = chosen.tokens[:, 0].masked_fill(at_limit, EOS)
        added = torch.where(at_limit, chosen.eos_log_probs, chosen.log_probs[:, 0])
        self.log_probs = self.log_probs + added

    def hypothesis(self, place: int, length: int, alpha: float) -> Hypothesis:
        """The path at one place of the batch, which has just ended."""
        log_prob = float(self.log_probs[place])
        return Hypothesis(
            ids=self.tokens[place, 1:length].tolist(),
            log_prob=log_prob,
            score=log_prob / length_penalty(length, alpha),
        )

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.tokens = self.tokens[places]
        self.log_probs = self.log_probs[places]


def _follow_one_path(
    stepper: Stepper, limits: Tensor, config: SearchConfig, choose: Choose
) -> list[NBest]:
    """Lengthen one path for each sentence by the chosen tokens, until all have reached EOS."""
    found: list[NBest] = [[] for _ in limits]
    batch = _Batch(limits)
    start = torch.zeros(len(limits), device=limits.device)
    paths = _Paths(_empty_paths(limits, len(limits)), start)
    for length in range(1, paths.tokens.shape[1]):
        logits = stepper.step(paths.tokens[:, length - 1])  # [B,V]
        _forbid_repeats(logits, paths.tokens[:, 1:length], config.no_repeat_ngram)
        paths.extend(choose(logits), length, at_limit=length > batch.limits)

        for place in batch.close(paths.tokens[:, length] == EOS):
            hypothesis = paths.hypothesis(place, length, config.length_penalty)
            found[int(batch.sentences[place])] = [hypothesis]

        selected = batch.worth_keeping()
        if len(selected) == 0:
            break
        if len(selected) < len(batch):
            stepper.select(selected)
            batch.select(selected)
            paths.select(selected)
    return found


# --- beam search ---


@dataclass
class _Beams:
    """The open hypotheses of all sentences."""

    log_probs: Tensor  # [B,K]; -inf where there is none
    paths: Tensor  # [B,K,L], BOS first

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.log_probs = self.log_probs[places]
        self.paths = self.paths[places]


@dataclass
class _Finished:
    """The best K hypotheses of each sentence that have reached EOS, in falling order of score."""

    scores: Tensor  # [B,K]; -inf where there is none
    log_probs: Tensor  # [B,K]
    lengths: Tensor  # [B,K], EOS counted
    paths: Tensor  # [B,K,L]

    def offer(self, log_probs: Tensor, length: int, paths: Tensor, alpha: float) -> None:
        """Take in candidates [B,C] with paths [B,C,L] that end at `length`; -inf: none."""
        width = self.scores.shape[1]
        scores = log_probs / length_penalty(length, alpha)
        lengths = torch.full_like(log_probs, length)
        top = torch.cat([self.scores, scores], dim=1).topk(width, dim=1)
        self.scores = top.values
        self.log_probs = torch.cat([self.log_probs, log_probs], dim=1).gather(1, top.indices)
        self.lengths = torch.cat([self.lengths, lengths], dim=1).gather(1, top.indices)
        self.paths = _pick(torch.cat([self.paths, paths], dim=1), top.indices)

    def n_best(self, place: int, count: int) -> NBest:
        """The best hypotheses of the sentence at one place of the batch."""
        hypotheses = []
        for path, length, log_prob, score in zip(
            self.paths[place, :count].tolist(),
            self.lengths[place, :count].tolist(),
            self.log_probs[place, :count].tolist(),
            self.scores[place, :count].tolist(),
            strict=True,
        ):
            if score > -math.inf:
                hypotheses.append(Hypothesis(path[1 : int(length)], log_prob, score))
        return hypotheses

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.scores = self.scores[places]
        self.log_probs = self.log_probs[places]
        self.lengths = self.lengths[places]
        self.paths = self.paths[places]


def beam(stepper: Stepper, limits: Tensor, config: SearchConfig) -> list[NBest]:
    """Keep the K likeliest open hypotheses of each sentence, until its n best are `_settled`."""
    found: list[NBest] = [[] for _ in limits]
    batch = _Batch(limits)
    beams, finished = _start(limits, config.beam_size)
    for length in range(1, beams.paths.shape[2]):
        logits = stepper.step(beams.paths[:, :, length - 1].flatten())  # [N,V]
        _forbid_repeats(logits, beams.paths[:, :, 1:length].flatten(0, 1), config.no_repeat_ngram)
        top = top_tokens(logits, 2 * config.beam_size)
        rows = _advance(beams, finished, top, length, batch.limits, config.length_penalty)

        for place in batch.close(_settled(beams, finished, length, batch.limits, config)):
            found[int(batch.sentences[place])] = finished.n_best(place, config.n_best)

        selected = batch.worth_keeping()
        if len(selected) == 0:
            break
        if len(selected) < len(batch):
            batch.select(selected)
            beams.select(selected)
            finished.select(selected)
            rows = rows[selected]
        stepper.select(rows.flatten())
    return found


def _start(limits: Tensor, width: int) -> tuple[_Beams, _Finished]:
    """One open hypothesis for each sentence, of BOS alone; none has finished."""
    none = torch.full((len(limits), width), -math.inf, device=limits.device)  # [B,K]
    paths = _empty_paths(limits, len(limits), width)  # [B,K,L]
    beams = _Beams(log_probs=none.clone(), paths=paths)
    beams.log_probs[:, 0] = 0.0
    finished = _Finished(
        scores=none,
        log_probs=none.clone(),
        lengths=torch.zeros_like(none),
        paths=paths.clone(),
    )
    return beams, finished


def _advance(
    beams: _Beams, finished: _Finished, top: TopTokens, length: int, limits: Tensor, alpha: float
) -> Tensor:
    """Lengthen every hypothesis by a token, in place; give the rows [B,K] that the new beams come from.

    Of the 2K best candidates at most K end in EOS, so K open ones are left. All 2K are among the 2K best
    tokens of their own rows.
    """
    count, width = beams.log_probs.shape
    at_limit = (length > limits)[:, None]  # [B,1]: these can only end
    candidates = _candidates(beams, top)
    log_probs, origins = _endings(beams, candidates, top, at_limit)
    finished.offer(log_probs, length, _pick(beams.paths, origins), alpha)

    still_open = candidates.log_probs.masked_fill(candidates.is_end | at_limit, -math.inf)
    beams.log_probs, chosen = still_open.topk(width, dim=1)  # [B,K]
    origins = candidates.origins.gather(1, chosen)
    beams.paths = _pick(beams.paths, origins)
    beams.paths[:, :, length] = candidates.tokens.gather(1, chosen)
    first_rows = torch.arange(count, device=limits.device)[:, None] * width  # [B,1]
    return first_rows + origins


@dataclass(frozen=True)
class _Candidates:
    """The 2K likeliest ways to lengthen the hypotheses of each sentence by a token, best first."""

    log_probs: Tensor  # [B,2K]
    origins: Tensor  # [B,2K]: the beam that each lengthens
    tokens: Tensor  # [B,2K]
    is_end: Tensor  # [B,2K]: whether the token is EOS


def _candidates(beams: _Beams, top: TopTokens) -> _Candidates:
    """Choose from the C likeliest tokens of each row; fewer than 2K if there are no more."""
    count, width = beams.log_probs.shape
    choices = top.tokens.shape[1]
    total = beams.log_probs[:, :, None] + top.log_probs.view(count, width, choices)  # [B,K,C]
    wanted = min(2 * width, width * choices)
    log_probs, places = total.flatten(1).topk(wanted, dim=1)  # [B,2K] of [B,K·C]
    tokens = top.tokens.view(count, -1).gather(1, places)
    return _Candidates(
        log_probs=log_probs,
        origins=places // choices,
        tokens=tokens,
        is_end=tokens == EOS,
    )


def _endings(
    beams: _Beams, candidates: _Candidates, top: TopTokens, at_limit: Tensor
) -> tuple[Tensor, Tensor]:
    """The hypotheses that end now: log-probabilities [B,K], -inf where there is none, and their beams [B,K].

    A sentence at its limit ends in every beam. Else, as in fairseq, only an end among the first K candidates
    counts: a worse one would crowd out hypotheses that are still open.
    """
    count, width = beams.log_probs.shape
    chosen_ends = candidates.log_probs.masked_fill(~candidates.is_end, -math.inf)[:, :width]
    forced_ends = beams.log_probs + top.eos_log_probs.view(count, width)
    log_probs = torch.where(at_limit, forced_ends, chosen_ends)
    every_beam = torch.arange(width, device=at_limit.device)
    origins = torch.where(at_limit, every_beam, candidates.origins[:, :width])
    return log_probs, origins


def _pick(paths: Tensor, indices: Tensor) -> Tensor:
    """Pick from paths [B,C,L] by index [B,K] → [B,K,L]."""
    return paths.gather(1, indices[:, :, None].expand(-1, -1, paths.shape[2]))


def _settled(
    beams: _Beams, finished: _Finished, length: int, limits: Tensor, config: SearchConfig
) -> Tensor:
    """Which sentences need no more steps, bool [B].

    A sentence is settled if no open hypothesis can still get among its n best; a log-probability only falls,
    and counts least at the greatest length, which bounds what can still come. It is settled too if K have
    ended and no open one would beat the best of them by ending now. (To stop as soon as K have ended cost
    0.5 BLEU on Tatoeba: the first to end are the short ones.)
    """
    alpha = config.length_penalty
    best_open = beams.log_probs.max(dim=1).values  # [B]
    best_possible = best_open / ((6.0 + limits) / 6.0) ** alpha
    is_out_of_reach = best_possible <= finished.scores[:, config.n_best - 1]
    has_all = finished.scores[:, -1] > -math.inf
    is_beaten = best_open / length_penalty(length + 1, alpha) <= finished.scores[:, 0]
    return is_out_of_reach | (has_all & is_beaten)


SEARCHES = {
    "greedy": greedy,
    "beam": beam,
    "sample": sample,
}
