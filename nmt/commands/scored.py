"""What `nmt evaluate` scores: translations from a file, or a model's."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nmt import __version__
from nmt.config.schema import Config
from nmt.corpus.lines import read_lines
from nmt.errors import ConfigError, DataError
from nmt.run_dir import RunDir

Translate = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Judged:
    """What is to be scored, under which settings, and how to call it."""

    settings: Config
    hypotheses: list[str]
    references: list[str]
    sources: list[str] | None
    about: dict[str, str]


def given(hyp: Path, src: Path | None, ref: Path | None, settings: Config) -> Judged:
    """Translations from a file. Raises ConfigError without references, DataError for sources that do not fit."""
    if ref is None:
        raise ConfigError("--hyp needs --ref FILE, the reference translations")
    about = {"nmt": __version__, "hypothesis": str(hyp), "reference": str(ref)}
    hypotheses, references = list(read_lines(hyp)), list(read_lines(ref))
    sources = None if src is None else list(read_lines(src))
    if sources is not None and len(sources) != len(hypotheses):
        raise DataError(
            f"{src} has {len(sources)} lines, {hyp} {len(hypotheses)}; give line-aligned files"
        )
    return Judged(settings, hypotheses, references, sources, about)


def translated(
    src: Path | None, ref: Path | None, settings: Config, run: RunDir, translate: Translate
) -> Judged:
    """Translations of a file, or of the run's test split, by `translate`; which is not called where there is none."""
    if (src is None) != (ref is None):
        raise ConfigError(
            "--src and --ref go together; without both, the run's test split is translated"
        )
    source = src or run.text("test", settings.src.language)
    reference = ref or run.text("test", settings.tgt.language)
    lines, references = list(read_lines(source)), list(read_lines(reference))
    if not lines:
        raise DataError(f"{source}: has no sentences; give others with --src and --ref")
    if len(lines) != len(references):
        raise DataError(
            f"{source} has {len(lines)} lines, {reference} {len(references)}; give line-aligned files"
        )
    about = {
        "nmt": __version__,
        "model": str(run.path),
        "source": str(source),
        "reference": str(reference),
    }
    return Judged(settings, translate(lines), references, lines, about)
