"""What `nmt evaluate` scores: translations from files, or a model's, with their references."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt import __version__
from nmt.commands.evaluation.files import EvaluationFiles
from nmt.commands.evaluation.known_sentences import (
    doubts_about,
    lines_remembered,
    lines_trained_on,
    public_name,
)
from nmt.commands.shell.streams import filled_lines, is_watched, say, warn
from nmt.errors import DataError, ModelError, counted, print_nothing
from nmt.run.folder import RunDir

if TYPE_CHECKING:
    from nmt.checks.faults import Direction
    from nmt.config.schema import Config
    from nmt.engines.base import EngineRequest
    from nmt.evaluation.evaluate import EvaluationOptions, MeasuredSystems
    from nmt.evaluation.metrics import Lines
    from nmt.evaluation.results import Evaluation
    from nmt.evaluation.test_set import TestSet
    from nmt.terms.glossary import Glossary


@dataclass(frozen=True)
class Submission:
    """A test set, what reports say of it and, where there are several systems, of each; and what is asked."""

    test_set: "TestSet"
    about: dict[str, Any]
    about_systems: dict[str, dict[str, Any]]
    options: "EvaluationOptions"
    glossary: "Glossary | None" = None

    @property
    def hypotheses(self) -> "Lines":
        """The translations of the one system, or the first one."""
        return next(iter(self.test_set.systems.values()))

    def evaluate(self, metrics: list[str]) -> "tuple[MeasuredSystems, Evaluation]":
        """Measure the systems, and compare them with each other, or the one with its baseline."""
        from nmt.evaluation.evaluate import evaluate, measure_systems

        measured = measure_systems(self.test_set, metrics, self.options)
        evaluation = evaluate(measured, self.about, self.about_systems)
        sources = self.test_set.sources
        if self.glossary is None or sources is None:
            return measured, evaluation
        from nmt.terms.rates import term_rates

        systems = list(self.test_set.systems.values())
        found = term_rates(self.glossary, sources, systems, self.test_set.references)
        counts = {"terms_in_source": found.in_sources, "terms_in_reference": found.in_reference}
        about = {**evaluation.about, **counts}
        return measured, replace(evaluation, about=about, term_rates=found.rates)


def of(
    settings: "Config",
    run: RunDir | None,
    files: EvaluationFiles,
    computing: "EngineRequest",
    quiet: bool,
    baseline: list[str] | None,
) -> Submission:
    """The translations of a run, or without one from files. Raises as those do."""
    if run is None:
        return from_files(files, _direction(settings), baseline)
    return from_model(settings, run, files, computing, quiet, baseline)


def _direction(settings: "Config") -> "Direction":
    return settings.src.language, settings.tgt.language


def from_files(
    files: EvaluationFiles, direction: "Direction", baseline: list[str] | None = None
) -> Submission:
    """Translations from files. Raises DataError for unequal sources, labels or scores."""
    from nmt.evaluation.test_set import TestSet

    systems = {name: filled_lines(path) for name, path in files.hypotheses.items()}
    references = [filled_lines(path) for path in files.references]
    first_path, first = next(iter(files.hypotheses.values())), next(iter(systems.values()))
    _refuse_other_lengths(files, systems, references)
    sources = None
    if files.src is not None:
        sources = filled_lines(files.src)
        _refuse_unequal(files.src, sources, first_path, first)
    about: dict[str, Any] = {"nmt": __version__}
    if len(systems) == 1:
        about["hypothesis"] = str(first_path)
    about["reference"] = _names(files.references)
    about["public_test"] = public_name(sources, references[0])
    about["lines"] = len(first)
    about_systems = {}
    if len(systems) > 1:
        about_systems = {name: {"hypothesis": str(path)} for name, path in files.hypotheses.items()}
    test_set = TestSet(systems, references, sources, direction)
    options = files.options(list(systems), len(first), baseline)
    return Submission(test_set, about, about_systems, options)


def _refuse_other_lengths(
    files: EvaluationFiles, systems: dict[str, list[str]], references: list[list[str]]
) -> None:
    """Raise DataError naming the first file with another number of lines than the first reference."""
    texts = list(zip(files.references, references, strict=True))
    texts += zip(files.hypotheses.values(), systems.values(), strict=True)
    first_path, first = texts[0]
    for path, lines in texts[1:]:
        _refuse_unequal(path, lines, first_path, first)


def _names(paths: list[Path]) -> str | list[str]:
    """One file by its name, several in a list."""
    return str(paths[0]) if len(paths) == 1 else [str(path) for path in paths]


def from_model(
    settings: "Config",
    run: RunDir,
    files: EvaluationFiles,
    computing: "EngineRequest",
    quiet: bool,
    baseline: list[str] | None,
) -> Submission:
    """A trained model's translations of `files.src`, or of the run's test split; `say` gets a line with the model.

    Raises DataError for empty or unequal files, and for a `baseline` of another length, before anything is translated.
    """
    source, sources, references, texts = _test_of(settings, run, files)
    _refuse_other_baseline(baseline, sources)
    name = run.path.resolve().name
    options = files.options([name], len(sources), baseline)
    others = [other for _, other in computing.others]
    trained_on = lines_trained_on(settings, [run, *others], sources, texts[0])
    remembered = lines_remembered(settings, sources, texts[0])
    doubts = doubts_about(trained_on, remembered, len(sources))

    from nmt.evaluation.test_set import TestSet
    from nmt.translate.opening import open_translator
    from nmt.translate.windows import shown, windows

    tell = print_nothing if quiet else say
    translator = open_translator(settings, run, computing, warn, tell)
    about_model = _about_models(zip([run, *others], translator.checkpoints, strict=True))
    hypotheses = []
    for window in shown(windows(sources), is_watched(quiet), total=len(sources)):
        hypotheses += [translation.text for translation in translator.translate(window)]
    about = {
        "nmt": __version__,
        **about_model,
        "engine": translator.engine.name,
        "search": settings.search.model_dump(mode="json"),
        "source": str(source),
        "reference": _names(references),
        "public_test": public_name(sources, texts[0]),
        "lines_in_train": None if trained_on is None else len(trained_on),
        "lines_in_memory": len(remembered),
        "lines": len(sources),
    }
    test_set = TestSet({name: hypotheses}, texts, sources, _direction(settings), doubts)
    return Submission(test_set, about, {}, options)


def _test_of(
    settings: "Config", run: RunDir, files: EvaluationFiles
) -> tuple[Path, list[str], list[Path], list[list[str]]]:
    """What is translated and what it is compared with: the file of each and its lines."""
    source = files.src or run.text("test", settings.src.language)
    references = files.references or [run.text("test", settings.tgt.language)]
    if files.src is None and not source.is_file():
        raise DataError(
            f"{run.path}{run.note} has no test sentences; give some with --src and --ref"
        )
    fix = "give other sentences with --src and --ref"
    sources = filled_lines(source, fix)
    texts = [filled_lines(path, fix) for path in references]
    for path, lines in zip(references, texts, strict=True):
        _refuse_unequal(source, sources, path, lines)
    return source, sources, references, texts


def _refuse_other_baseline(baseline: list[str] | None, sources: list[str]) -> None:
    from nmt.evaluation.significance import check_baseline

    if baseline is not None:
        check_baseline(baseline, sources)


def _about_models(models: Iterable[tuple[RunDir, Path]]) -> dict[str, Any]:
    """What reports say of the model and, in an ensemble, of those that decide with it."""
    about, *others = [_about_model(run, folder) for run, folder in models]
    return about | {"ensemble": others} if others else about


def _about_model(run: RunDir, folder: Path) -> dict[str, Any]:
    """What reports say of a model: its run, its checkpoint, the updates behind it, and a hash of its weights."""
    from nmt.run.checkpoint import weights_hash

    about: dict[str, Any] = {
        "model": str(run.path),
        "checkpoint": folder.name,  # such as step-00012000
        "step": int(folder.name.partition("-")[2]),
    }
    with suppress(ModelError):  # a training in this run has deleted it meanwhile
        about["weights"] = weights_hash(folder)
    return about


def _refuse_unequal(first: Path, lines: list[str], second: Path, others: list[str]) -> None:
    if len(lines) != len(others):
        message = f"{first} has {counted(len(lines), 'line')}, {second} {len(others):,}"
        raise DataError(f"{message}; line n of one must translate line n of the other")
