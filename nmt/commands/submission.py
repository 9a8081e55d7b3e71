"""What `nmt evaluate` scores: translations from a file, or a model's, with their references."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt import __version__
from nmt.commands.known_sentences import doubt_about, lines_trained_on, public_name
from nmt.commands.streams import input_lines, is_watched, say, warn
from nmt.errors import DataError, counted, print_nothing
from nmt.run_dir import RunDir

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.evaluate.evaluation import Evaluation
    from nmt.exchange.engines import Computing


@dataclass(frozen=True)
class Submission:
    """Translations, line for line with each of their references and, where they are known, their sources."""

    hypotheses: list[str]
    references: list[list[str]]
    sources: list[str] | None
    about: dict[str, Any]  # what reports say of it
    doubts: tuple[str, ...] = ()  # what makes its scores doubtful beside the text itself

    def evaluate(self, baseline: list[str] | None, metrics: list[str]) -> "Evaluation":
        """Score it, and compare it with a baseline's translations if they are given."""
        from nmt.evaluate import evaluation

        result = evaluation.evaluate(
            self.hypotheses, self.references, baseline, metrics, self.about, self.sources
        )
        return replace(result, warnings=[*self.doubts, *result.warnings])


def from_file(hyp: Path, src: Path | None, ref: Path) -> Submission:
    """Translations from a file. Raises DataError for unequal sources."""
    hypotheses = list(input_lines(hyp))
    references = list(input_lines(ref))
    sources = None
    if src is not None:
        sources = list(input_lines(src))
        _refuse_unequal(src, sources, hyp, hypotheses)
    about = {
        "nmt": __version__,
        "hypothesis": str(hyp),
        "reference": str(ref),
        "public_test": public_name(sources, references),
        "lines": len(hypotheses),
    }
    return Submission(hypotheses, [references], sources, about)


def from_model(
    settings: "Config",
    run: RunDir,
    src: Path | None,
    ref: Path | None,
    computing: "Computing",
    quiet: bool,
) -> Submission:
    """A trained model's translations of `src`, or of the run's test split; `say` is told which model it is.

    Raises DataError for empty or unequal files.
    """
    source = src or run.text("test", settings.src.language)
    reference = ref or run.text("test", settings.tgt.language)
    sources = list(input_lines(source))
    references = list(input_lines(reference))
    if not sources:
        raise DataError(f"{source}: has no sentences; give others with --src and --ref")
    _refuse_unequal(source, sources, reference, references)

    trained_on = lines_trained_on(settings, run, sources, references)
    doubts = (doubt_about(trained_on, len(sources)),) if trained_on else ()

    from nmt.exchange.engines import open_translator
    from nmt.translate.windows import shown, windows

    tell = print_nothing if quiet else say
    translator = open_translator(settings, run, computing, warn, tell)
    hypotheses = []
    for window in shown(windows(sources), is_watched(quiet), total=len(sources)):
        hypotheses += [translation.text for translation in translator.translate(window)]
    about = {
        "nmt": __version__,
        "model": str(run.path),
        **_about_checkpoint(translator.checkpoint),
        "engine": translator.engine.name,
        "search": settings.search.model_dump(mode="json"),
        "source": str(source),
        "reference": str(reference),
        "public_test": public_name(sources, references),
        "lines_in_train": None if trained_on is None else len(trained_on),
        "lines": len(sources),
    }
    return Submission(hypotheses, [references], sources, about, doubts)


def _about_checkpoint(folder: Path | None) -> dict[str, Any]:
    """What reports say of a checkpoint: its name, such as step-00012000, and the updates behind it."""
    if folder is None:
        return {}
    return {"checkpoint": folder.name, "step": int(folder.name.partition("-")[2])}


def _refuse_unequal(first: Path, lines: list[str], second: Path, others: list[str]) -> None:
    if len(lines) != len(others):
        message = f"{first} has {counted(len(lines), 'line')}, {second} {len(others):,}"
        raise DataError(f"{message}; give line-aligned files")
