"""What is tried again for a line whose best translation looks wrong."""

from collections.abc import Callable
from dataclasses import dataclass

from nmt.config.schema import SearchConfig
from nmt.text import spans
from nmt.text.spans import Masked

# A retry looks at this many times as many hypotheses, in batches that much smaller: it takes no more memory.
_WIDER = 3

Mask = Callable[[str], Masked]


def mask_nothing(line: str) -> Masked:
    """The line as it is."""
    return Masked(line, ())


def mask_spans(line: str) -> Masked:
    """Placeholders for protected spans."""
    return spans.mask(line)


def mask_spans_and_numbers(line: str) -> Masked:
    """Placeholders for protected spans and for numbers."""
    return spans.mask(line, numbers=True)


@dataclass(frozen=True)
class Attempt:
    """One way to translate a line again."""

    mask: Mask
    no_repeat_ngram: int = 0

    def search(self, first: SearchConfig) -> SearchConfig:
        """What the first search, which must be a beam search, becomes."""
        hypotheses = _WIDER * first.beam_size
        changes = {
            "beam_size": hypotheses,
            "n_best": hypotheses,
            "batch_tokens": max(1, first.batch_tokens // _WIDER),
            "no_repeat_ngram": self.no_repeat_ngram,
        }
        return first.model_copy(update=changes)


ATTEMPTS = (
    # A translation without faults may be further down.
    Attempt(mask_spans),
    # Numbers that the model gets wrong come through as placeholders.
    Attempt(mask_spans_and_numbers),
    # A placeholder may itself be what confuses the model.
    Attempt(mask_nothing),
    # What goes round in circles may not.
    Attempt(mask_spans, no_repeat_ngram=4),
)
# For a model that knows no placeholders.
ATTEMPTS_UNMASKED = (
    Attempt(mask_nothing),
    Attempt(mask_nothing, no_repeat_ngram=4),
)
