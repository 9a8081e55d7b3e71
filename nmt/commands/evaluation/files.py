"""The files that `nmt evaluate` reads beside a model: names, texts, labels, and scores that others made."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.shell.streams import filled_lines, is_standard, refuse_unreadable
from nmt.errors import ConfigError, DataError, counted

if TYPE_CHECKING:
    from nmt.evaluation.annotations import LabelledLines, SegmentScores
    from nmt.evaluation.evaluate import EvaluationOptions
    from nmt.evaluation.results import PairedTest


@dataclass(frozen=True)
class EvaluationFiles:
    """What was named on the command line; `hypotheses` and `segment_scores` by name."""

    src: Path | None
    references: list[Path]
    hypotheses: dict[str, Path]
    baseline: Path | None
    labels: Path | None
    segment_scores: dict[str, Path]
    lower_is_better: list[str]
    test: "PairedTest | None"  # of differences; None: as usual

    @classmethod
    def of(
        cls,
        src: Path | None,
        references: list[Path] | None,
        hypotheses: list[str] | None,
        baseline: Path | None,
        labels: Path | None,
        segment_scores: list[str] | None,
        lower_is_better: list[str] | None,
        test: "PairedTest | None",
    ) -> "EvaluationFiles":
        """From the command line. Raises ConfigError for a name that is given twice, or is none."""
        return cls(
            src,
            references or [],
            _named("--hyp", hypotheses or [], _file_name),
            baseline,
            labels,
            _named_segment_scores(segment_scores or []),
            lower_is_better or [],
            test,
        )

    def read(self) -> list[Path]:
        """Every file that is read."""
        optional = [self.src, *self.references, self.baseline, self.labels]
        given = [path for path in optional if path is not None]
        return [*self.hypotheses.values(), *given, *self.segment_scores.values()]

    def refuse(self) -> None:
        """Raise, before the work begins, for files that do not go together or cannot be read."""
        from nmt.evaluation.test_set import refuse_too_many

        if self.hypotheses and not self.references:
            raise ConfigError("--hyp needs --ref FILE, the reference translations")
        if not self.hypotheses and (self.src is None) != (not self.references):
            message = "without both, the run's test split is translated"
            raise ConfigError(f"--src and --ref go together; {message}")
        refuse_too_many(self.hypotheses)
        for place, path in enumerate(self.references):
            if path in self.references[:place]:
                raise ConfigError(f"--ref {path} is given twice; give each reference once")
        if len(self.hypotheses) > 1 and self.baseline is not None:
            raise ConfigError("--baseline goes with one --hyp; give it as one more --hyp")
        if self.test is not None and len(self.hypotheses) < 2 and self.baseline is None:
            raise ConfigError("--significance compares; give --baseline FILE, or --hyp twice")
        for name in self.lower_is_better:
            if name not in self.segment_scores:
                message = f"no --segment-scores {name}=FILE is given"
                raise ConfigError(f"--lower-is-better {name}: {message}")
        refuse_unreadable(*self.read())

    def options(
        self, systems: Sequence[str], lines: int, baseline: list[str] | None
    ) -> "EvaluationOptions":
        """Read the labels and scores. Raises DataError naming the file and line if they do not fit the text."""
        from nmt.evaluation.evaluate import EvaluationOptions
        from nmt.evaluation.results import USUAL_TEST

        labels = self._labels(lines)
        segment_scores = [
            self._segment_scores(name, systems, lines) for name in self.segment_scores
        ]
        return EvaluationOptions(self.test or USUAL_TEST, baseline, labels, segment_scores)

    def _labels(self, lines: int) -> "list[LabelledLines]":
        from nmt.evaluation.annotations import lines_by_label

        if self.labels is None:
            return []
        labels = filled_lines(self.labels, "give one label per line")
        _refuse_other_length(self.labels, "label", len(labels), lines)
        return lines_by_label(self.labels, labels)

    def _segment_scores(self, name: str, systems: Sequence[str], lines: int) -> "SegmentScores":
        from nmt.evaluation.annotations import read_segment_scores

        path = self.segment_scores[name]
        table = filled_lines(path, "give one score per line")
        found = read_segment_scores(name, path, table, systems, name in self.lower_is_better)
        scored = len(next(iter(found.columns.values())))
        noun = "score" if scored == len(table) else "score below the line of names"
        _refuse_other_length(path, noun, scored, lines)
        return found


def _refuse_other_length(path: Path, noun: str, found: int, lines: int) -> None:
    if found != lines:
        first, _, rest = noun.partition(" ")
        there = " ".join([counted(found, first), rest]).strip()
        raise DataError(f"{path} has {there} for {counted(lines, 'line')} of text; give one a line")


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


def _file_name(path: Path) -> str:
    return "stdin" if is_standard(path) else path.name


def _named_segment_scores(texts: Iterable[str]) -> dict[str, Path]:
    """Read NAME=FILE; without a name, comet.tsv is called comet."""
    from nmt.evaluation.metrics import METRICS

    found = _named("--segment-scores", texts, _stem)
    for name in found:
        if name in METRICS:
            message = f"{name} is the name of a metric in nmt; give these scores another name"
            raise ConfigError(f"--segment-scores {name}: {message}")
    return found


def _named(option: str, texts: Iterable[str], name_of: Callable[[Path], str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts:
        name, path = _name_and_path(option, text, name_of)
        if any(unicodedata.category(character) == "Cc" for character in name):
            fix = "give it another as NAME=FILE"
            raise ConfigError(f"{option} {path}: its name has tabs or control characters; {fix}")
        if name in files:
            message = f"{files[name]} and {path} are both called {name!r}; name them as NAME=FILE"
            raise ConfigError(f"{option}: {message}")
        files[name] = path
    return files


def _name_and_path(option: str, text: str, name_of: Callable[[Path], str]) -> tuple[str, Path]:
    """A name never holds a slash; a file whose own name holds "=" is taken as it is."""
    if not text:
        raise ConfigError(f"{option}: '' is not a file; write FILE or NAME=FILE")
    before, equals, after = text.partition("=")
    whole = Path(expanduser(text))  # noqa: PTH111 - Path's raises for ~nobody
    if not equals or "/" in before or whole.exists():
        return name_of(whole), whole
    name = before.strip()
    if not name or not after:
        raise ConfigError(f"{option} {text!r}: write NAME=FILE, such as ours=out.zh")
    return name, Path(expanduser(after))  # noqa: PTH111
