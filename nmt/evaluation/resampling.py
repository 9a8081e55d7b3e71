"""Test sets drawn again: with replacement (bootstrap), or with systems' outputs swapped (approximate randomisation).

Shapes: S systems, N lines, C statistics of a line, R trials. The draws are those of sacrebleu 2.6, with the same seed,
and the same for all systems.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from nmt.errors import ConfigError

Statistics = np.ndarray[Any, np.dtype[np.float64]]
Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

RESAMPLES = 1000  # as many as `sacrebleu --confidence` and `--paired-bs` draw
TRIALS = 10_000  # as many as `sacrebleu --paired-ar` draws

_DRAWN_AT_ONCE = 2**23  # numbers
_WORD = 32  # numpy cuts 32 booleans from one random number, so a part ends where such a number does


def seed() -> int | None:
    """Sacrebleu's seed: $SACREBLEU_SEED, or 12345; None, for chance, if it says "none".

    Raises ConfigError for anything else that is no number.
    """
    text = os.environ.get("SACREBLEU_SEED", "12345")
    if text.lower() == "none":
        return None
    if not text.isdecimal():
        raise ConfigError(
            f"$SACREBLEU_SEED is {text!r}; give a whole number, or 'none' for random seeds"
        )
    return int(text)


def bootstrap_sums(statistics: Statistics, trials: int = RESAMPLES) -> Statistics:
    """Sums of N lines drawn with replacement: statistics [S, N, C] → [S, trials, C]."""
    systems, lines, _ = statistics.shape
    by_line = _by_line(statistics)
    chance = np.random.default_rng(seed())
    at_once = max(1, _DRAWN_AT_ONCE // lines)
    sums = []
    for start in range(0, trials, at_once):
        count = min(at_once, trials - start)
        drawn = chance.choice(lines, size=(count, lines), replace=True)
        sums.append(_times_drawn(drawn).astype(by_line.dtype) @ by_line)
    return _by_system(sums, systems)


def _times_drawn(drawn: Ints) -> Ints:
    """How often each line was drawn: line numbers [R, N] → [R, N]."""
    trials, lines = drawn.shape
    places = drawn + lines * np.arange(trials)[:, None]
    return np.bincount(places.ravel(), minlength=trials * lines).reshape(trials, lines)


def kept_sums(statistics: Statistics, trials: int = TRIALS) -> Statistics:
    """Sums of the lines that a fair coin picked: statistics [S, N, C] → [S, trials, C].

    A trial of approximate randomisation gives the picked lines of one system and the other lines of the second one to
    a third, and the rest to a fourth.
    """
    systems, lines, _ = statistics.shape
    by_line = _by_line(statistics)
    chance = np.random.default_rng(seed())
    at_once = max(1, _DRAWN_AT_ONCE // lines // _WORD) * _WORD
    sums = []
    for start in range(0, trials, at_once):
        count = min(at_once, trials - start)
        is_picked = chance.integers(2, size=(count, lines), dtype=bool)
        sums.append(is_picked.astype(by_line.dtype) @ by_line)
    return _by_system(sums, systems)


_EXACT = 2**24  # up to which a float32 holds each whole number


def _by_line(statistics: Statistics) -> Floats:
    """Statistics as a matrix [S, N, C] → [N, S * C], in float32 where no sum of drawn lines can need more."""
    systems, lines, columns = statistics.shape
    by_line = statistics.transpose(1, 0, 2).reshape(lines, systems * columns)
    largest_sum = lines * np.abs(by_line).max(initial=0)
    is_whole = largest_sum < _EXACT and bool((by_line == by_line.round()).all())
    return by_line.astype(np.float32) if is_whole else by_line


def _by_system(sums: Sequence[Floats], systems: int) -> Statistics:
    """Sums in blocks of trials, [R, S * C] in all → [S, R, C]."""
    whole = np.concatenate(sums).astype(np.float64)
    return whole.reshape(len(whole), systems, -1).transpose(1, 0, 2)
