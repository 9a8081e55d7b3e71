"""All figures of a page, in one value: what `nmt report --json` prints, and what the page shows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nmt import __version__
from nmt.config.schema import Config
from nmt.errors import Say
from nmt.evaluation.annotations import SegmentScores
from nmt.evaluation.measurement import measure_segments, measurement_of
from nmt.evaluation.metrics import check_counts
from nmt.evaluation.results import FaultRate
from nmt.evaluation.test_set import TestSet
from nmt.report.run.runs import Difference, RunPart, differences, read_runs
from nmt.report.systems.attention import Looked
from nmt.report.systems.lines import look
from nmt.report.systems.quality import Quality, quality_of
from nmt.report.systems.sentences import Sentence, sentences_of
from nmt.run.folder import RunDir
from nmt.terms.glossary import Glossary
from nmt.terms.rates import term_rates
from nmt.text.side import Side

Runs = Sequence[tuple[Config, RunDir]]


@dataclass(frozen=True)
class Figures:
    """What a page shows; what was not asked for is empty."""

    nmt: str
    made: str  # ISO 8601, UTC
    src: str
    tgt: str
    runs: list[RunPart]
    differences: list[Difference]
    quality: Quality | None
    sentences: list[Sentence]
    looked: list[Looked]

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return asdict(self)


def figures_of_runs(
    runs: Runs, history: Path | None, warn: Say
) -> tuple[list[RunPart], list[Difference]]:
    """Runs, and the settings in which they differ. Raises ModelError for a damaged checkpoint or report."""
    if not runs:
        return [], []
    return read_runs(runs, history, warn), differences([config for config, _ in runs])


def figures_of_systems(
    test_set: TestSet,
    metrics: Sequence[str],
    segment_scores: Sequence[SegmentScores],
    side: Side | None,
    say: Say,
    glossary: Glossary | None = None,
) -> tuple[Quality, list[Sentence]]:
    """Systems beside each other, and their sentences; `side` gives words and how often they are in train.

    Raises DataError for texts that cannot be scored, ConfigError for an unknown metric.
    """
    for lines in test_set.systems.values():
        check_counts(lines, test_set.references)
    say(f"nmt: looking at each line; measuring {', '.join(metrics)}")
    counted = list(dict.fromkeys([*metrics, "chrf"]))
    seen = look(test_set, counted, side)
    say("nmt: comparing the systems")
    measurements = {
        metric: measurement_of(metric, test_set.systems, statistics, test_set.references)
        for metric, statistics in seen.statistics.items()
    }
    asked = [measurements[metric] for metric in metrics]
    asked += map(measure_segments, segment_scores)
    terms: list[FaultRate] = []
    if glossary is not None and test_set.sources is not None:
        systems = list(test_set.systems.values())
        terms = term_rates(glossary, test_set.sources, systems, test_set.references).rates
    quality = quality_of(test_set, asked, seen, _train_counts(side), terms)
    return quality, sentences_of(test_set, measurements["chrf"], seen.faults)


def _train_counts(side: Side | None) -> dict[str, int] | None:
    if side is None:
        return None
    return dict(zip(side.vocab.tokens, side.vocab.counts, strict=True))


def figures(
    made: str,
    languages: tuple[str, str],
    of_runs: tuple[list[RunPart], list[Difference]],
    of_systems: tuple[Quality, list[Sentence]] | None,
    looked: list[Looked],
) -> Figures:
    """Put the parts together."""
    runs, differing = of_runs
    quality, sentences = of_systems or (None, [])
    src, tgt = languages
    return Figures(__version__, made, src, tgt, runs, differing, quality, sentences, looked)
