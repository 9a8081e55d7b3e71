"""nmt evaluate: how good a model's translations, or those in a file, are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from nmt.commands.evaluation import submission
from nmt.commands.evaluation.files import EvaluationFiles
from nmt.commands.evaluation.results import Gate, Results
from nmt.commands.shell import options
from nmt.commands.shell.output_file import refuse_history
from nmt.commands.shell.streams import filled_lines
from nmt.commands.shell.trained_run import (
    engine_request,
    find_run,
    refuse_files_elsewhere,
    refuse_history_elsewhere,
)
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.run.folder import RunDir
    from nmt.terms.glossary import Glossary

Source = Annotated[
    Path | None, options.path_option("FILE", "Source text; default: the run's test split.")
]
Hypothesis = Annotated[
    list[str] | None,
    options.option(
        "[NAME=]FILE",
        "Translations to score instead of a model's; - is stdin; repeatable: 2 to 10 systems are compared.",
    ),
]
Baseline = Annotated[
    Path | None, options.path_option("FILE", "Another system's translations, to compare with.")
]
Significance = Annotated[
    Literal["bootstrap", "randomisation"] | None,
    options.option(
        "[bootstrap|randomisation]", "How differences are tested; default: randomisation."
    ),
]
By = Annotated[
    Path | None,
    options.path_option(
        "FILE", "A label for each line, such as its domain; each label gets its scores."
    ),
]
Sentences = Annotated[
    Path | None, options.path_option("FILE.tsv", "Write the scores of each sentence here.")
]
Output = Annotated[
    Path | None,
    options.path_option(
        "FILE",
        "Write the translations here; the file appears whole or not at all.",
        "--output",
        "-o",
    ),
]
Overwrite = Annotated[
    bool, options.flag("Replace the --output and --sentences files if they exist.", "--overwrite")
]
FailUnder = Annotated[
    list[str] | None, options.option("METRIC=X", "Exit 4 if the score is below X; repeatable.")
]
FailBelowBaseline = Annotated[
    bool, options.flag("Exit 4 if significantly worse than --baseline.", "--fail-below-baseline")
]
History = Annotated[
    Path | None, options.path_option("FILE", "Append the result here, as a line of JSON.")
]
Quiet = Annotated[
    bool,
    options.flag(
        "Print nothing but warnings, errors and what --json asks for: for gates and the history.",
        "--quiet",
        "-q",
    ),
]

_FILES = "give files as --hyp FILE --ref FILE, or as --src FILE --ref FILE"


def evaluate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    ensemble: options.Ensemble = None,
    glossary: options.Glossary = None,
    memory: options.Memory = None,
    overrides: options.SearchOverrides = None,
    src: Source = None,
    ref: options.References = None,
    hyp: Hypothesis = None,
    baseline: Baseline = None,
    significance: Significance = None,
    by: By = None,
    segment_scores: options.SegmentScores = None,
    lower_is_better: options.LowerIsBetter = None,
    sentences: Sentences = None,
    beam_size: options.BeamSize = None,
    typography: options.Typography = None,
    verify: options.Verify = None,
    output: Output = None,
    overwrite: Overwrite = False,
    as_json: options.AsJson = False,
    fail_under: FailUnder = None,
    fail_below_baseline: FailBelowBaseline = False,
    history: History = None,
    engine: options.Engine = "torch",
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Score a model or files of translations."""
    files = EvaluationFiles.of(
        src, ref, hyp, baseline, by, segment_scores, lower_is_better, significance
    )
    gate = Gate.of(fail_under or [], fail_below_baseline, files)
    results = Results(output, sentences, overwrite, as_json, quiet)
    forced = None if hyp else glossary  # in translations of others, terms are only counted
    search = {
        "glossary": forced,
        "memory": memory,
        "beam_size": beam_size,
        "typography": typography,
        "verify": verify,
    }
    asked = _overrides(overrides, search, device)
    _refuse_files(files, model, ensemble, output, asked, device, precision)
    results.refuse(files)
    baseline_lines = _lines(baseline)
    settings, run = _settings(files, config, model, asked, history)
    computing = engine_request(engine, device, precision, ensemble)
    history = _history(history, settings)
    metrics = _metrics(settings, gate, files)
    terms = _terms(glossary, settings, files)
    submitted = submission.of(settings, run, files, computing, quiet, baseline_lines)
    submitted = replace(submitted, glossary=terms)
    results.refuse(files)  # a file may have appeared meanwhile
    results.write_translations(submitted)
    measured, evaluation = submitted.evaluate(metrics)
    results.publish(evaluation, measured, history)
    gate.check(evaluation)


def _overrides(given: list[str] | None, search: Mapping[str, object], device: str) -> list[str]:
    """The settings that the command line changes. Raises ConfigError for one that cannot be changed, or not so."""
    options.check_option("--device", "train.device", device)
    options.refuse_strange_overrides(given or [], ("search", "evaluate"), _FILES)
    return options.with_options(given, "search", search)


def _terms(
    given: list[Path] | None, settings: "Config", files: EvaluationFiles
) -> "Glossary | None":
    """The terms that are looked for in translations. Raises as `read_glossaries`, and where there are no sources."""
    from nmt.terms.reading import read_glossaries

    paths = given or list(map(Path, settings.search.glossary))
    if paths and files.hypotheses and files.src is None:
        raise ConfigError("command line: --glossary needs the sources: give --src FILE")
    return read_glossaries(paths) if paths else None


def _history(given: Path | None, settings: "Config") -> Path | None:
    """The history to append to, once it is known that it can be."""
    named = settings.evaluate.history
    history = given or (Path(named) if named else None)
    refuse_history(history)
    return history


def _lines(path: Path | None) -> list[str] | None:
    return None if path is None else filled_lines(path)


def _refuse_files(
    files: EvaluationFiles,
    model: Path | None,
    ensemble: list[Path] | None,
    output: Path | None,
    overrides: list[str],
    device: str,
    precision: str,
) -> None:
    """Raise for files that do not go together, or with what says how to translate, where nothing is translated."""
    if not files.hypotheses:
        files.refuse()
        return
    given = {
        "--model": model is not None,
        "--ensemble": bool(ensemble),
        "--output": output is not None,
        "--device": device != "auto",
        "--precision": precision != "auto",
    }
    meaningless = [option for option, is_given in given.items() if is_given]
    meaningless += [override for override in overrides if override.startswith("search.")]
    meaningless += [override for override in overrides if override.startswith("run_dir=")]
    if meaningless:
        raise ConfigError(f"--hyp is scored as it is: leave out {' and '.join(meaningless)}")
    files.refuse()


def _settings(
    files: EvaluationFiles,
    config: Path | None,
    model: Path | None,
    overrides: list[str],
    history: Path | None,
) -> "tuple[Config, RunDir | None]":
    """The settings, and the trained run if one translates.

    A history that nobody asked for but the run itself must stay in the run's folder.
    """
    from nmt.config.load import load_config

    if files.hypotheses:
        return load_config(config, overrides), None
    settings, run = find_run(model, config, overrides)
    refuse_files_elsewhere(run, settings.search, config, overrides)
    is_overridden = any(override.startswith("evaluate.history=") for override in overrides)
    if not (history or config or is_overridden):
        refuse_history_elsewhere(run, settings.evaluate.history)
    return settings, run


def _metrics(settings: "Config", gate: Gate, files: EvaluationFiles) -> list[str]:
    """What is measured: what is configured and what has a bar, each once.

    Raises ConfigError for a metric that lacks something.
    """
    from nmt.evaluation.metrics import new_metric

    with_bars = [name for name in gate.floors if name not in files.segment_scores]
    metrics = list(dict.fromkeys([*settings.evaluate.metrics, *with_bars]))
    if not metrics:
        raise ConfigError("evaluate.metrics names no metric; name at least one, such as [bleu]")
    for name in metrics:
        new_metric(name)
    return metrics
