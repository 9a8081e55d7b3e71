"""Search for the best target sequence. It knows no model: it sees a `Stepper`.

Shapes: B sentences still in the batch, K beams, N = B·K rows (the beams of a sentence side by side), V target
tokens, C candidates, L token positions with BOS and EOS, t tokens so far. A sentence may have at most
`limits[b]` tokens before EOS. Every hypothesis ends in EOS, and its length counts EOS.

The device is waited for once per step, to read which sentences are done, and twice more where some are, to copy
their hypotheses; and once at the start, to read the longest limit. A GPU that is ahead never idles for more.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.config.schema import SearchConfig
from nmt.search.active_sentences import ActiveSentences, to_device
from nmt.search.filters import Filters, NoRepeats, TokenFilter
from nmt.search.hypotheses import Hypothesis, NBest, length_penalty
from nmt.search.sampling import draw
from nmt.search.stepper import Stepper
from nmt.search.top_tokens import TopTokens, top_tokens
from nmt.text.vocab import BOS, EOS

# Taken from the score of what had to end incomplete: any complete hypothesis comes before it.
INCOMPLETE = 1e4


# Logits [N,V], the sentence of each row [N] and the length with this token → a token for each row (C = 1).
Choose = Callable[[Tensor, Tensor, int], TopTokens]


def greedy(
    stepper: Stepper, limits: Tensor, config: SearchConfig, filters: Sequence[TokenFilter] = ()
) -> list[NBest]:
    """Always take the most likely token."""

    def likeliest(logits: Tensor, _sentences: Tensor, _length: int) -> TopTokens:
        return top_tokens(logits, 1)

    return _follow_one_path(stepper, limits, config, likeliest, filters)


def sample(
    stepper: Stepper,
    limits: Tensor,
    config: SearchConfig,
    uniforms: Tensor,
    filters: Sequence[TokenFilter] = (),
) -> list[NBest]:
    """Draw each token at a temperature, from the `top_k` most likely (0: from all).

    `uniforms` [B,L] are evenly distributed over [0,1): they are all the chance there is.
    """

    def draw_next(logits: Tensor, sentences: Tensor, length: int) -> TopTokens:
        return draw(logits, uniforms[sentences, length - 1], config.temperature, config.top_k)

    return _follow_one_path(stepper, limits, config, draw_next, filters)


# --- what all searches share ---


def _empty_paths(limits: Tensor, *shape: int) -> Tensor:
    """Paths of BOS alone, [*shape,L]: with space for the longest limit, BOS and EOS."""
    return torch.full((*shape, int(limits.max()) + 2), BOS, device=limits.device)


def all_filters(filters: Sequence[TokenFilter], config: SearchConfig) -> Filters:
    """The filters that are given, and those of the configuration."""
    size = config.no_repeat_ngram
    return Filters([*filters, NoRepeats(size)] if size else filters)


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

    def hypotheses(self, places: list[int], length: int, alpha: float) -> list[NBest]:
        """The paths at these places of the batch, which have just ended."""
        ended = to_device(places, self.tokens.device)
        found = []
        for ids, log_prob in zip(
            self.tokens[ended, 1:length].tolist(),
            self.log_probs[ended].tolist(),
            strict=True,
        ):
            found.append([Hypothesis(ids, log_prob, log_prob / length_penalty(length, alpha))])
        return found

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.tokens = self.tokens[places]
        self.log_probs = self.log_probs[places]


def _follow_one_path(
    stepper: Stepper,
    limits: Tensor,
    config: SearchConfig,
    choose: Choose,
    filters: Sequence[TokenFilter],
) -> list[NBest]:
    """Lengthen one path for each sentence by the chosen tokens, until all have reached EOS."""
    batch = ActiveSentences(limits)
    start = torch.zeros(len(limits), device=limits.device)
    paths = _Paths(_empty_paths(limits, len(limits)), start)
    allowed = all_filters(filters, config)
    for length in range(1, paths.tokens.shape[1]):
        logits = stepper.step(paths.tokens[:, length - 1])  # [B,V]
        allowed.apply(logits, paths.tokens[:, :length])
        chosen = choose(logits, batch.sentences, length)
        paths.extend(chosen, length, at_limit=length > batch.limits)

        done = batch.close(paths.tokens[:, length] == EOS)
        if done:
            batch.put(done, paths.hypotheses(done, length, config.length_penalty))
        if not batch.any_open():
            break
        batch.drop_closed(stepper, allowed, paths)
    return batch.found


# --- beam search ---


@dataclass
class Beams:
    """The open hypotheses of all sentences."""

    log_probs: Tensor  # [B,K]; -inf where there is none
    paths: Tensor  # [B,K,L], BOS first

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.log_probs = self.log_probs[places]
        self.paths = self.paths[places]


@dataclass
class Finished:
    """The best K hypotheses of each sentence that have reached EOS, in falling order of score."""

    scores: Tensor  # [B,K]; -inf where there is none; less `INCOMPLETE` where something is missing
    log_probs: Tensor  # [B,K]
    lengths: Tensor  # [B,K], EOS counted
    paths: Tensor  # [B,K,L]

    def offer(self, log_probs: Tensor, scores: Tensor, length: int, paths: Tensor) -> None:
        """Take in candidates [B,C] with paths [B,C,L] that end at `length`; -inf: none."""
        width = self.scores.shape[1]
        lengths = torch.full_like(log_probs, length)
        top = torch.cat([self.scores, scores], dim=1).topk(width, dim=1)
        self.scores = top.values
        self.log_probs = torch.cat([self.log_probs, log_probs], dim=1).gather(1, top.indices)
        self.lengths = torch.cat([self.lengths, lengths], dim=1).gather(1, top.indices)
        self.paths = pick(torch.cat([self.paths, paths], dim=1), top.indices)

    def n_best(self, places: list[int], count: int, alpha: float) -> list[NBest]:
        """The best hypotheses of the sentences at these places of the batch."""
        settled = to_device(places, self.paths.device)
        numbers = torch.stack((self.log_probs, self.lengths), dim=2)[settled, :count]  # [F,n,2]
        found = []
        for paths, of_paths in zip(
            self.paths[settled, :count].tolist(), numbers.tolist(), strict=True
        ):
            hypotheses = []
            for path, (log_prob, length) in zip(paths, of_paths, strict=True):
                if log_prob > -math.inf:
                    score = log_prob / length_penalty(length, alpha)
                    hypotheses.append(Hypothesis(path[1 : int(length)], log_prob, score))
            found.append(hypotheses)
        return found

    def select(self, places: Tensor) -> None:
        """Continue with these places of the batch."""
        self.scores = self.scores[places]
        self.log_probs = self.log_probs[places]
        self.lengths = self.lengths[places]
        self.paths = self.paths[places]


def beam(
    stepper: Stepper, limits: Tensor, config: SearchConfig, filters: Sequence[TokenFilter] = ()
) -> list[NBest]:
    """Keep the K most likely open hypotheses of each sentence, until its n best are `settled`."""
    batch = ActiveSentences(limits)
    beams, finished = empty_beams(limits, config.beam_size)
    allowed = all_filters(filters, config)
    for length in range(1, beams.paths.shape[2]):
        rows = _lengthen(stepper, allowed, beams, finished, length, batch.limits, config)

        done = batch.close(settled(beams, finished, length, batch.limits, config))
        if done:
            batch.put(done, finished.n_best(done, config.n_best, config.length_penalty))
        if not batch.any_open():
            break
        places = batch.drop_closed(beams, finished)
        if places is not None:
            rows = rows[places]
        stepper.select(rows.flatten())
        allowed.select(rows.flatten())
    return batch.found


def empty_beams(limits: Tensor, width: int) -> tuple[Beams, Finished]:
    """One open hypothesis for each sentence, of BOS alone; none has finished."""
    none = torch.full((len(limits), width), -math.inf, device=limits.device)  # [B,K]
    paths = _empty_paths(limits, len(limits), width)  # [B,K,L]
    beams = Beams(log_probs=none.clone(), paths=paths)
    beams.log_probs[:, 0] = 0.0
    finished = Finished(
        scores=none,
        log_probs=none.clone(),
        lengths=torch.zeros_like(none),
        paths=paths.clone(),
    )
    return beams, finished


def _lengthen(
    stepper: Stepper,
    allowed: Filters,
    beams: Beams,
    finished: Finished,
    length: int,
    limits: Tensor,
    config: SearchConfig,
) -> Tensor:
    """One step of the model and of all beams; gives the rows [B,K] that the new beams come from.

    Nothing in it waits for the device.
    """
    logits = stepper.step(beams.paths[:, :, length - 1].flatten())  # [N,V]
    allowed.apply(logits, beams.paths[:, :, :length].flatten(0, 1))
    top = top_tokens(logits, 2 * config.beam_size)
    incomplete = allowed.incomplete()
    return _advance(beams, finished, top, incomplete, length, limits, config.length_penalty)


def _advance(
    beams: Beams,
    finished: Finished,
    top: TopTokens,
    incomplete: Tensor | None,
    length: int,
    limits: Tensor,
    alpha: float,
) -> Tensor:
    """Lengthen every hypothesis by a token, in place; give the rows [B,K] that the new beams come from.

    Of the 2K best candidates at most K end in EOS, so K open ones are left. All 2K are among the 2K best
    tokens of their own rows. `incomplete` [N] is of the filters.
    """
    count, width = beams.log_probs.shape
    at_limit = (length > limits)[:, None]  # [B,1]: these can only end
    candidates = _candidates(beams, top)
    log_probs, origins = _endings(beams, candidates, top, at_limit)
    scores = log_probs / length_penalty(length, alpha)
    if incomplete is not None:
        scores = scores - INCOMPLETE * incomplete.view(count, width).gather(1, origins)
    finished.offer(log_probs, scores, length, pick(beams.paths, origins))

    still_open = candidates.log_probs.masked_fill(candidates.is_end | at_limit, -math.inf)
    beams.log_probs, chosen = still_open.topk(width, dim=1)  # [B,K]
    origins = candidates.origins.gather(1, chosen)
    beams.paths = pick(beams.paths, origins)
    beams.paths[:, :, length] = candidates.tokens.gather(1, chosen)
    first_rows = torch.arange(count, device=limits.device)[:, None] * width  # [B,1]
    return first_rows + origins


@dataclass(frozen=True)
class _Candidates:
    """The 2K most likely ways to lengthen the hypotheses of each sentence by a token, best first."""

    log_probs: Tensor  # [B,2K]
    origins: Tensor  # [B,2K]: the beam that each lengthens
    tokens: Tensor  # [B,2K]
    is_end: Tensor  # [B,2K]: whether the token is EOS


def _candidates(beams: Beams, top: TopTokens) -> _Candidates:
    """Choose from the C most likely tokens of each row; fewer than 2K if there are no more."""
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
    beams: Beams, candidates: _Candidates, top: TopTokens, at_limit: Tensor
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


def pick(paths: Tensor, indices: Tensor) -> Tensor:
    """Pick from paths [B,C,L] by index [B,K] → [B,K,L]."""
    return paths.gather(1, indices[:, :, None].expand(-1, -1, paths.shape[2]))


def settled(
    beams: Beams, finished: Finished, length: int, limits: Tensor, config: SearchConfig
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


# Without chance; `sample` needs random numbers as well.
SEARCHES = {
    "greedy": greedy,
    "beam": beam,
}
