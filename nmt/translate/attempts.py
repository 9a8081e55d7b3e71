"""What is tried again for a line whose best translation looks wrong."""

from collections.abc import Callable
from dataclasses import dataclass

from nmt.config.schema import AugmentConfig, SearchConfig
from nmt.numbers.rewording import reworded
from nmt.run.sides import numbers_masked
from nmt.spans import masking as spans
from nmt.spans.masking import Masked, Numbers, Terms

# A retry looks at this many times as many hypotheses, in batches that much smaller: it takes no more memory.
_WIDER = 3

Mask = Callable[[str], Masked]


def mask_nothing(line: str) -> Masked:
    """The line as it is."""
    return Masked(line, {})


def masking(numbers: Numbers, into_chinese: bool, terms: Terms | None) -> Mask:
    """What hides the spans of a line; the amounts of one in English that becomes Chinese are reworded first."""

    def mask(line: str) -> Masked:
        read = reworded(line) if into_chinese else line
        return spans.mask(read, numbers, into_chinese, terms)

    return mask


def showing_figures(
    protects: bool, taught: AugmentConfig, into_chinese: bool, terms: Terms | None = None
) -> Mask | None:
    """The mask under which the model reads the figures that the first search hides from it; None if it hides none.

    The arguments are those of `attempts`.
    """
    if not protects or numbers_masked(taught, into_chinese) == "long":
        return None
    return masking("long", into_chinese, terms)


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


def attempts(
    protects: bool, taught: AugmentConfig, into_chinese: bool, terms: Terms | None = None
) -> tuple[Attempt, ...]:
    """What to try with a model, in order. The first has the mask of the first search.

    `protects`: it has placeholders. `taught`: the variants of pairs that it was trained with.
    `into_chinese`: it translates English into Chinese. `terms` finds those of a glossary.
    """
    if not protects:
        return (Attempt(mask_nothing), Attempt(mask_nothing, no_repeat_ngram=4))
    mask_spans = masking(numbers_masked(taught, into_chinese), into_chinese, terms)
    # A translation without faults may be further down.
    chosen = [Attempt(mask_spans)]
    if taught.masked_numbers > 0:
        # Numbers that the model gets wrong come through as placeholders, or better without.
        chosen.append(Attempt(masking("all", into_chinese, terms)))
        chosen.append(Attempt(masking("long", into_chinese, terms)))
    # A placeholder may itself be what confuses the model.
    chosen.append(Attempt(mask_nothing))
    # What goes round in circles may not.
    chosen.append(Attempt(mask_spans, no_repeat_ngram=4))
    return tuple(chosen)
