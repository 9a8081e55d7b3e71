"""What is tried again for a line whose best translation looks wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from nmt.config.schema import AugmentConfig, SearchConfig
from nmt.run.sides import numbers_masked
from nmt.spans import masking as spans
from nmt.spans.masking import Masked

# A retry looks at this many times as many hypotheses, in batches that much smaller: it takes no more memory.
_WIDER = 3

Mask = Callable[[str], Masked]


def mask_nothing(line: str) -> Masked:
    """The line as it is."""
    return Masked(line, {})


def showing_figures(protects: bool, taught: AugmentConfig, chinese: bool) -> Mask | None:
    """The mask under which the model reads the figures that the first search hides from it; None if it hides none.

    The arguments are those of `attempts`.
    """
    if not protects or numbers_masked(taught, chinese) == "long":
        return None
    return partial(spans.mask, chinese=chinese, numbers="long")


@dataclass(frozen=True)
class Attempt:
    """One way to translate a line again."""

    mask: Mask
    no_repeat_ngram: int = 0  # tokens in a row that may not come twice; 0: no limit

    def search(self, first: SearchConfig) -> SearchConfig:
        """What the first search, which must be a beam search, becomes."""
        hypotheses = _WIDER * first.beam_size
        changes = {
            "beam_size": hypotheses,
            "n_best": hypotheses,
            "batch_tokens": first.batch_tokens and max(1, first.batch_tokens // _WIDER),
            "no_repeat_ngram": self._stricter(first.no_repeat_ngram),
        }
        return first.model_copy(update=changes)

    def _stricter(self, asked: int) -> int:
        """The shorter of this attempt's limit and the one that was asked for: it forbids more."""
        limits = [limit for limit in (self.no_repeat_ngram, asked) if limit]
        return min(limits, default=0)


def attempts(protects: bool, taught: AugmentConfig, chinese: bool) -> tuple[Attempt, ...]:
    """What to try with a model, in order. The first has the mask of the first search.

    `protects`: it has placeholders. `taught`: the variants of pairs that it was trained with.
    `chinese`: Chinese words in a line are to stay as they are.
    """
    if not protects:
        return (Attempt(mask_nothing), Attempt(mask_nothing, no_repeat_ngram=4))
    mask_spans = partial(spans.mask, chinese=chinese, numbers=numbers_masked(taught, chinese))
    # A translation without faults may be further down.
    chosen = [Attempt(mask_spans)]
    if taught.masked_numbers > 0:
        # Numbers that the model gets wrong come through as placeholders, or better without.
        chosen.append(Attempt(partial(spans.mask, chinese=chinese, numbers="all")))
        chosen.append(Attempt(partial(spans.mask, chinese=chinese, numbers="long")))
    # A placeholder may itself be what confuses the model.
    chosen.append(Attempt(mask_nothing))
    # What goes round in circles may not.
    chosen.append(Attempt(mask_spans, no_repeat_ngram=4))
    return tuple(chosen)
