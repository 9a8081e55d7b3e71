"""Is it better than before, and good enough? Paired bootstrap, the gate, and the history of scores."""

import fcntl
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from nmt.errors import ConfigError, DataError, GateError, UserError
from nmt.evaluate.metrics import LOWER_IS_BETTER, Lines, Score, bootstrap, check_counts, new_metric

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """A system and its baseline by one metric; `difference` = `value` - `baseline`, in the metric's points.

    `p_value` is how often chance alone would move the score further than `difference` (Koehn, 2004, as in
    Moses and `sacrebleu --paired-bs`): each tail of it is tested at the level given, not both together.
    """

    metric: str
    value: float
    baseline: float
    difference: float
    p_value: float
    signature: str

    @property
    def is_significant(self) -> bool:
        """Chance alone would make such a difference in fewer than 5 of 100 cases."""
        return self.p_value < SIGNIFICANT

    @property
    def is_worse(self) -> bool:
        """The system's score lies on the worse side of the baseline's, by however little."""
        return self.difference > 0 if self.metric in LOWER_IS_BETTER else self.difference < 0


def compare(
    hypotheses: Lines, baseline: Lines, references: Lines, metrics: Iterable[str]
) -> list[Comparison]:
    """Paired bootstrap of a system against a baseline, 1000 resamples, the seed as for `score`.

    Raises DataError where the counts differ or nothing is given, ConfigError for an unknown metric.
    """
    check_counts(hypotheses, references)
    if len(baseline) != len(references):
        mend = "give the baseline's translation of the same test set"
        raise DataError(
            f"{len(baseline)} lines of baseline but {len(references)} of reference; {mend}"
        )
    return [_compare(name, hypotheses, baseline, references) for name in metrics]


def _compare(name: str, hypotheses: Lines, baseline: Lines, references: Lines) -> Comparison:
    (before, after), signature = bootstrap(name, [baseline, hypotheses], references)
    value, usual = float(after.score), float(before.score)
    # sacrebleu gives its smallest p to equal scores, since no resample can then exceed the difference
    p_value = 1.0 if value == usual else float(cast(float, after.p_value))
    return Comparison(name, value, usual, value - usual, p_value, signature)


def format_comparisons(comparisons: Sequence[Comparison]) -> str:
    """Lay out a table for people, one line a metric: name, difference, both scores, p-value."""
    return "\n".join(
        f"{c.metric:<10} {c.difference:+6.2f}  ({c.value:.2f} against {c.baseline:.2f})  "
        f"p = {c.p_value:.4f}, {'significant' if c.is_significant else 'not significant'}"
        for c in comparisons
    )


def parse_floors(texts: Iterable[str]) -> dict[str, float]:
    """Read `METRIC=X` strings such as "bleu=20". Raises ConfigError naming the string and the mend."""
    floors: dict[str, float] = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals:
            raise ConfigError(f"{text!r} is no bar; write METRIC=X, such as bleu=20")
        new_metric(name)
        if name in floors:
            raise ConfigError(f"{text!r}: {name} already has the bar {floors[name]:g}; give one")
        with suppress(ValueError):
            floors[name] = float(number)
        if not math.isfinite(floors.get(name, math.nan)):
            raise ConfigError(
                f"{text!r}: {number!r} is not a number; write METRIC=X, such as {name}=20"
            )
    return floors


def check_gate(
    scores: Sequence[Score], floors: Mapping[str, float], comparisons: Sequence[Comparison] = ()
) -> None:
    """Hold scores to their bars, and `comparisons` to being not significantly worse than the baseline.

    A bar is a floor, for TER a ceiling. Raises GateError, one line with everything that does not hold;
    ConfigError for a bar on a metric that was not measured.
    """
    measured = {score.metric: score.value for score in scores}
    for name in [name for name in floors if name not in measured]:
        raise ConfigError(
            f"{name} has the bar {floors[name]:g} but was not measured; add it to evaluate.metrics"
        )
    failures = [_missed(name, measured[name], bar) for name, bar in floors.items()]
    failures += [
        _lost(comparison)
        for comparison in comparisons
        if comparison.is_worse and comparison.is_significant
    ]
    if any(failures):
        raise GateError("; ".join(filter(None, failures)))


def _missed(name: str, value: float, bar: float) -> str:
    side, is_missed = ("over", value > bar) if name in LOWER_IS_BETTER else ("under", value < bar)
    return f"{name} {value:.4f} is {side} {bar:g}" if is_missed else ""


def _lost(c: Comparison) -> str:
    return f"{c.metric} {c.value:.4f} is significantly worse than the baseline's {c.baseline:.4f} (p = {c.p_value:.4f})"


def append_history(path: Path, record: Mapping[str, Any]) -> None:
    """Append one JSON line: `time` (ISO 8601, UTC), then `record`, such as `Evaluation.as_json` gives.

    Runs that append at once wait for each other, and a line that could not be written whole is taken back; what a
    power failure left of one keeps a line of its own.
    Raises UserError naming the file if it cannot be written.
    """
    entry = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **record}
    # the name of a file may be no text
    line = (json.dumps(entry, ensure_ascii=False) + "\n").encode(errors="backslashreplace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, line)
    except OSError as error:
        mend = "mend that or change evaluate.history"
        raise UserError(f"{path}: cannot append the scores ({error.strerror}); {mend}") from None


def _append(path: Path, line: bytes) -> None:
    with path.open("ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
            line = b"\n" + line
        try:
            while line:  # a disk that is nearly full takes a part, and refuses the rest
                line = line[file.write(line) :]
        except OSError:
            file.truncate(size)
            raise
        os.fsync(file.fileno())
