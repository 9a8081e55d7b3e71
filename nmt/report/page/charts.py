"""Which plots a page has, and of which figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nmt.report.page.plots import Series, lines
from nmt.report.run.runs import RunPart
from nmt.report.systems.buckets import Bucketed
from nmt.report.systems.quality import Distribution, Quality

_CURVES = {
    "dev loss": "Loss on dev (nats a token)",
    "dev bleu": "BLEU on dev (greedy)",
    "dev chrf": "chrF on dev (greedy)",
    "train loss": "Loss in training (label smoothing in it)",
    "train lr": "Learning rate",
    "train tokens_per_second": "Tokens a second",
}


@dataclass(frozen=True)
class Chart:
    """A plot with its title."""

    title: str
    svg: str


# --- training ---


def training_charts(runs: Sequence[RunPart], axis: str) -> list[Chart]:
    """The curves of all runs over `updates` or `minutes`, one chart a kind of curve."""
    charts = []
    for name, title in _CURVES.items():
        series = [
            _curve(number, run, name, axis)
            for number, run in enumerate(runs)
            if name in run.course.curves
        ]
        if series:
            prefix = f"{axis}-{name.replace(' ', '-')}-"
            charts.append(Chart(title, lines(series, title, axis, prefix)))
    return charts


def _curve(number: int, run: RunPart, name: str, axis: str) -> Series:
    curve = run.course.curves[name]
    x: list[float] = list(curve.minutes if axis == "minutes" else curve.updates)
    star = None
    if name.startswith("dev"):
        best = _update_of(run.facts.training.best)
        if best in curve.updates:
            place = curve.updates.index(best)
            star = (x[place], curve.values[place])
    return Series(number, x, curve.values, star=star, breaks=_breaks(run, name, axis))


def _update_of(checkpoint: str | None) -> int | None:
    """The number in a checkpoint's name; None for an average, which has no place on a curve."""
    if checkpoint is None or not checkpoint.startswith("step-"):
        return None
    return int(checkpoint.partition("-")[2])


def _breaks(run: RunPart, name: str, axis: str) -> list[float]:
    """Where a training went on after an interruption."""
    if axis == "updates":
        return [float(update) for update in run.course.resumed]
    curve = run.course.curves[name]
    places = []
    for update in run.course.resumed:
        for (before, start), (after, end) in pairwise(
            zip(curve.updates, curve.minutes, strict=True)
        ):
            if before <= update < after:
                places.append(start + (end - start) * (update - before) / (after - before))
    return places


# --- quality ---


def bucket_chart(bucketed: Bucketed, prefix: str) -> str:
    """Values of systems in buckets, as lines over the buckets."""
    series = []
    for number, values in enumerate(bucketed.values):
        present = [(place, value) for place, value in enumerate(values) if value is not None]
        series.append(Series(number, [p for p, _ in present], [v for _, v in present]))
    return lines(series, bucketed.value, bucketed.title, prefix, categories=bucketed.labels)


def distribution_chart(metric: str, distribution: Distribution, prefix: str) -> str:
    """How often resampled test sets gave which score."""
    middles = [(low + high) / 2 for low, high in pairwise(distribution.edges)]
    series = []
    for number, counts in enumerate(distribution.counts):
        present = [place for place, count in enumerate(counts) if count]
        whole = slice(max(0, present[0] - 1), present[-1] + 2)
        series.append(Series(number, middles[whole], counts[whole]))
    return lines(series, f"resampled {metric}", "score", prefix)


def quality_charts(quality: Quality) -> list[Chart]:
    """The charts of the page's second part."""
    charts = []
    parts = [
        ("By length", quality.by_length),
        ("By frequency of words", quality.by_frequency),
        ("Length of outputs", quality.by_ratio),
    ]
    for number, (title, bucketed) in enumerate(parts):
        charts.append(Chart(f"{title}: {bucketed.value}", bucket_chart(bucketed, f"b{number}-")))
    for number, part in enumerate(quality.metrics):
        svg = distribution_chart(part.metric, part.distribution, f"d{number}-")
        charts.append(Chart(f"{part.metric} on 1,000 resampled test sets", svg))
    return charts
