"""What a search finds. Nothing here needs torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A target sequence."""

    ids: list[int]  # without EOS
    log_prob: float  # with EOS
    score: float  # after the length penalty


NBest = list[Hypothesis]  # of one sentence, best first


def length_penalty(length: float, alpha: float) -> float:
    """What a log-probability is divided by (Wu et al., 2016, equation 14); `length` counts EOS."""
    return float(((5.0 + length) / 6.0) ** alpha)
