"""What `nmt evaluate` scores: translations from a file, or a model's, with their references."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt import __version__
from nmt.commands.streams import warn
from nmt.corpus.lines import read_lines
from nmt.errors import ConfigError, DataError, Say
from nmt.run_dir import RunDir

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.evaluate.evaluation import Evaluation


@dataclass(frozen=True)
class Submission:
    """Translations, line for line with their references and, where they are known, their sources."""

    hypotheses: list[str]
    references: list[str]
    sources: list[str] | None
    about: dict[str, str]  # what reports say of it

    def evaluate(self, baseline: list[str] | None, metrics: list[str]) -> "Evaluation":
        """Score it, and compare it with a baseline's translations if they are given."""
        from nmt.evaluate import evaluation

        return evaluation.evaluate(
            self.hypotheses, self.references, baseline, metrics, self.about, self.sources
        )


def from_file(hyp: Path, src: Path | None, ref: Path | None) -> Submission:
    """Translations from a file. Raises ConfigError without references, DataError for unequal sources."""
    if ref is None:
        raise ConfigError("--hyp needs --ref FILE, the reference translations")
    hypotheses = list(read_lines(hyp))
    references = list(read_lines(ref))
    sources = None
    if src is not None:
        sources = list(read_lines(src))
        _refuse_unequal(src, sources, hyp, hypotheses)
    about = {"nmt": __version__, "hypothesis": str(hyp), "reference": str(ref)}
    return Submission(hypotheses, references, sources, about)


def from_model(
    settings: "Config",
    run: RunDir,
    src: Path | None,
    ref: Path | None,
    device: str,
    precision: str,
    say: Say | None = None,
) -> Submission:
    """A trained model's translations of `src`, or of the run's test split; `say` is told which model it is.

    Raises ConfigError for one file without the other, DataError for empty or unequal files.
    """
    if (src is None) != (ref is None):
        message = "without both, the run's test split is translated"
        raise ConfigError(f"--src and --ref go together; {message}")
    source = src or run.text("test", settings.src.language)
    reference = ref or run.text("test", settings.tgt.language)
    sources = list(read_lines(source))
    references = list(read_lines(reference))
    if not sources:
        raise DataError(f"{source}: has no sentences; give others with --src and --ref")
    _refuse_unequal(source, sources, reference, references)

    from nmt.translate.load import load_translator

    translator = load_translator(settings, run, device, precision, warn, say)
    hypotheses = [translation.text for translation in translator.translate(sources)]
    about = {
        "nmt": __version__,
        "model": str(run.checkpoint or run.path),
        "source": str(source),
        "reference": str(reference),
    }
    return Submission(hypotheses, references, sources, about)


def _refuse_unequal(first: Path, lines: list[str], second: Path, others: list[str]) -> None:
    if len(lines) != len(others):
        message = f"{first} has {len(lines)} lines, {second} {len(others)}"
        raise DataError(f"{message}; give line-aligned files")
