"""The log-probability of translations that are given: forced decoding.

As in translating, protected spans that both sides have travel as placeholders, and the tokens that no translation has
are not among the choices; so a translation gets the log-probability that `nmt translate` gives it.

Shapes: B pairs, T target positions with EOS, n target tokens without padding, d width of the model, V target
vocabulary, F tokens that no translation has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.corpus.reading.pairs import SentencePair
from nmt.engines.decoder import Decoder
from nmt.engines.encoded_pairs import EncodedPair, Unfit, encode_pair
from nmt.machine.device import accumulation_dtype
from nmt.machine.oom import within_memory
from nmt.model.batch import Batch, collate
from nmt.search.batches import widest_first
from nmt.text.vocab import EOS, PAD

_LOGITS_AT_ONCE = 2**23  # 32 MB in float32


@dataclass(frozen=True)
class Scored:
    """A translation as the model's tokens, EOS last, with the log-probability of each: natural logarithms."""

    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]

    @property
    def log_prob(self) -> float:
        """That of the whole translation."""
        return sum(self.log_probs)

    @property
    def mean(self) -> float:
        """That of a token."""
        return self.log_prob / len(self.log_probs)


class Scorer:
    """Scores pairs with a model."""

    def __init__(self, decoder: Decoder, batch_tokens: int) -> None:
        """`batch_tokens` is how many positions of the longer side, with padding, are computed at a time."""
        self._decoder = decoder
        self._batch_tokens = batch_tokens

    def score(self, pairs: Sequence[SentencePair]) -> list[Scored | Unfit]:
        """Score each pair, in order; a pair that is empty on a side, or too long for the model, has a reason instead.

        Raises UserError if a batch does not fit in memory.
        """
        found: list[Scored | Unfit] = []
        fitting: dict[int, EncodedPair] = {}  # by their places
        for place, pair in enumerate(pairs):
            encoded = encode_pair(self._decoder, pair)
            if isinstance(encoded, EncodedPair):
                fitting[place] = encoded
                found.append(Unfit("not scored yet"))
            else:
                found.append(encoded)
        for places in widest_first(fitting, lambda at: fitting[at].width, self._batch_tokens):
            with within_memory(f"a batch of {len(places)} pairs", "lower --batch-tokens"):
                log_probs = self._log_probs([fitting[place] for place in places])
            for place, of_pair in zip(places, log_probs, strict=True):
                found[place] = Scored(self._tokens(fitting[place]), of_pair)
        return found

    def _tokens(self, pair: EncodedPair) -> tuple[str, ...]:
        """The target as tokens, with its spans in their places."""
        tokens = self._decoder.tgt.vocab.tokens
        written = [pair.spans.get(tokens[i], tokens[i]) for i in pair.tgt]
        return (*written, tokens[EOS])

    @torch.inference_mode()
    def _log_probs(self, pairs: list[EncodedPair]) -> list[tuple[float, ...]]:
        """The log-probability of each token of each pair."""
        model = self._decoder.model.eval()
        sources = [pair.src for pair in pairs]
        targets = [pair.tgt for pair in pairs]
        batch = collate(sources, targets, model.config.max_length).to(self._decoder.device)
        cache = model.encode(batch.src, batch.src_is_padded)
        states = model.decode_states(batch.tgt_in, cache)  # [B,T,d]
        chosen = batch.target_positions[: batch.tokens]  # [n]
        log_probs = self._of_labels(states.flatten(0, 1)[chosen], batch)  # [n]
        rest = iter(log_probs.tolist())
        return [tuple(next(rest) for _ in range(len(tgt) + 1)) for tgt in targets]

    def _of_labels(self, states: Tensor, batch: Batch) -> Tensor:
        """States [n,d] → the log-probability [n] of each label, among the tokens that a translation may have."""
        labels = batch.labels  # [n]
        never = torch.tensor(self._decoder.never_written, device=labels.device)  # [F]
        # A given translation may have such a token all the same, as a character that the vocabulary does not know.
        written = (batch.tgt_out[:, :, None] == never).any(dim=1) & (never != PAD)  # [B,F]
        rows = batch.target_positions[: batch.tokens] // batch.tgt_out.shape[1]  # [n]
        is_held_back = ~written[rows]  # [n,F]
        size = max(1, _LOGITS_AT_ONCE // self._decoder.model.tgt_tokens)
        found = []
        for start in range(0, len(labels), size):
            part = slice(start, start + size)
            logits = self._decoder.model.project(states[part])
            logits[:, never] = logits[:, never].masked_fill(is_held_back[part], -torch.inf)
            log_probs = logits.log_softmax(1, dtype=accumulation_dtype(logits.dtype))
            found.append(log_probs.gather(1, labels[part, None]).squeeze(1))
        return torch.cat(found)
