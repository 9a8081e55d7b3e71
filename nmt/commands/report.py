"""nmt report: how a training went, and how good systems are, on one page."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.commands.evaluation.files import EvaluationFiles
from nmt.commands.shell import options
from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import input_lines, is_standard, put, refuse_unreadable, say, warn
from nmt.commands.shell.trained_run import find_run
from nmt.errors import ConfigError, Say, counted, print_nothing
from nmt.machine.signals import telling_how_to_go_on

if TYPE_CHECKING:
    from nmt.checks.faults import Direction
    from nmt.commands.evaluation.submission import Submission
    from nmt.config.schema import Config
    from nmt.report.figures import Figures
    from nmt.report.systems.attention import Looked
    from nmt.run.folder import RunDir
    from nmt.terms.glossary import Glossary
    from nmt.text.side import Side

_MOST_RUNS = 10

Models = Annotated[
    list[Path] | None,
    options.path_option(
        "DIR",
        "Run folder; repeatable. Without --hyp, the default is as for nmt translate.",
        "--model",
        "-m",
    ),
]
Source = Annotated[Path | None, options.path_option("FILE", "Source text of the systems.")]
Hypotheses = Annotated[
    list[str] | None,
    options.option("[NAME=]FILE", "A system's translations; up to ten times.", "--hyp"),
]
Metrics = Annotated[
    list[str] | None,
    options.option("METRIC", "A metric; repeatable. Default: bleu, bleu_width, chrf.", "--metric"),
]
AsJson = Annotated[bool, options.flag("Print all figures of the page as JSON.", "--json")]
Attention = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        max=50,
        help="Sentences to show the attention of, with --model; default: 3.",
    ),
]


def report(
    model: Models = None,
    src: Source = None,
    ref: options.References = None,
    hyp: Hypotheses = None,
    glossary: options.Glossary = None,
    metric: Metrics = None,
    segment_scores: options.SegmentScores = None,
    lower_is_better: options.LowerIsBetter = None,
    history: options.NotedScores = None,
    attention: Attention = None,
    output: options.OutputFile = None,
    overwrite: options.OverwriteOutput = False,
    as_json: AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a training, or systems beside each other, on a page."""
    files = EvaluationFiles.of(src, ref, hyp, None, None, segment_scores, lower_is_better, None)
    _refuse_incomplete(files, metric, output, as_json)
    if files.hypotheses and not model:
        _refuse_without_run({"--history": history, "--attention": attention})
    files.refuse()
    refuse_unreadable(history)
    read = [*files.read(), *([history] if history else [])]
    refuse_output(output, overwrite, inputs=read)

    from nmt.report.page.plots import refuse_without_matplotlib

    if output is not None:
        refuse_without_matplotlib()
    tell = print_nothing if quiet else say
    with telling_how_to_go_on(lambda: "no report is made; give the same command again"):
        runs = _runs(model or [], bool(files.hypotheses))
        metrics = _metrics(metric or [])
        terms = _terms(glossary, files)
        count = 3 if attention is None else attention
        found = _figures(runs, files, metrics, history, count, tell, terms)
        if as_json:
            put(json.dumps(found.as_json(), ensure_ascii=False, indent=2) + "\n")
        if output is not None:
            _write(found, output, tell)


def _figures(
    runs: "list[tuple[Config, RunDir]]",
    files: EvaluationFiles,
    metrics: list[str],
    history: Path | None,
    attention: int,
    tell: Say,
    terms: "Glossary | None",
) -> "Figures":
    """All figures of the report: of systems if there are any, of runs, and where these looked."""
    from nmt.checks.faults import ENGLISH_TO_CHINESE
    from nmt.report.figures import figures, figures_of_runs, figures_of_systems

    direction = (runs[0][0].src.language, runs[0][0].tgt.language) if runs else ENGLISH_TO_CHINESE
    of_systems = None
    if files.hypotheses:
        given = _given(files, direction)
        segments = given.options.segment_scores
        of_systems = figures_of_systems(given.test_set, metrics, segments, _side(runs), tell, terms)
    made = datetime.now(UTC).isoformat(sep=" ", timespec="minutes")
    of_runs = figures_of_runs(runs, history, warn)
    sources = [each.source for each in of_systems[1] if each.source] if of_systems else None
    names = [run.name for run in of_runs[0]]
    looked = _looked(runs, names, sources, attention, tell)
    return figures(made, direction, of_runs, of_systems, looked)


def _write(found: "Figures", output: Path, tell: Say) -> None:
    from nmt.files import write_text
    from nmt.report.page.page import page_of

    tell("nmt: drawing")
    write_text(output, page_of(found))
    tell(f"nmt: {output}: {output.stat().st_size / 1e6:,.1f} MB")


# --- what is asked for ---


def _terms(paths: list[Path] | None, files: EvaluationFiles) -> "Glossary | None":
    """The terms that are looked for. Raises as `read_glossaries`, and where there is nothing to look in."""
    from nmt.terms.reading import read_glossaries

    if not paths:
        return None
    if not files.hypotheses or files.src is None:
        raise ConfigError("--glossary goes with --hyp NAME=FILE and --src FILE")
    return read_glossaries(paths)


def _refuse_incomplete(
    files: EvaluationFiles, metrics: list[str] | None, output: Path | None, as_json: bool
) -> None:
    """Raise ConfigError for what goes with translations where there are none, or a page that goes nowhere."""
    alone = {
        "--ref": files.references,
        "--src": files.src,
        "--metric": metrics,
        "--segment-scores": files.segment_scores,
    }
    for option, is_given in alone.items():
        if is_given and not files.hypotheses:
            raise ConfigError(f"{option} goes with --hyp NAME=FILE, the translations to compare")
    if output is not None and as_json:
        raise ConfigError("--output writes a page, --json prints its figures: give one")
    if output is None and not as_json:
        raise ConfigError("give --output FILE for a page, or --json for its figures")
    if is_standard(output):
        raise ConfigError("--output - : a page is a file; name one, such as report.html")


def _refuse_without_run(options_of_runs: dict[str, object]) -> None:
    """Raise ConfigError for what goes with runs where the page shows none."""
    for option, value in options_of_runs.items():
        if value is not None:
            raise ConfigError(f"{option} goes with --model RUN, which it is about")


def _runs(models: list[Path], has_systems: bool) -> "list[tuple[Config, RunDir]]":
    if len(models) > _MOST_RUNS:
        raise ConfigError(f"--model: {len(models)} runs, but a page shows {_MOST_RUNS} at most")
    for number, path in enumerate(models):
        if path in models[:number]:
            raise ConfigError(f"--model {path}: is given twice; give each run once")
    if has_systems and not models:
        return []
    return [find_run(path, None, []) for path in models] or [find_run(None, None, [])]


def _metrics(names: list[str]) -> list[str]:
    """The metrics that are asked for, each once. Raises ConfigError for one that there is not."""
    from nmt.config.schema import EvaluateConfig
    from nmt.evaluation.metrics import new_metric

    for name in names:
        new_metric(name)
    return list(dict.fromkeys(names)) or list(EvaluateConfig().metrics)


def _given(files: EvaluationFiles, direction: "Direction") -> "Submission":
    """The texts to compare. Raises DataError where they are not line for line."""
    from nmt.commands.evaluation import submission
    from nmt.evaluation.evaluate import check_systems

    given = submission.from_files(files, direction)
    doubts = check_systems(given.test_set)
    for name, of_system in zip(given.test_set.systems, doubts, strict=True):
        for doubt in of_system:
            warn(f"{name}: {doubt}")
    return given


def _side(runs: "list[tuple[Config, RunDir]]") -> "Side | None":
    """The target side of the first run, for words and how often they are in train."""
    from nmt.run.sides import load_side

    if not runs:
        return None
    config, run = runs[0]
    return load_side(config, run, "tgt")


def _looked(
    runs: "list[tuple[Config, RunDir]]",
    names: list[str],
    sources: list[str] | None,
    count: int,
    tell: Say,
) -> "list[Looked]":
    """Where each run looked in a few sentences: of the sources, or of its own dev."""
    from nmt.report.systems.attention import look_at
    from nmt.run import checkpoint

    found = []
    for name, (config, run) in zip(names, runs, strict=True):
        if count == 0 or not (run.checkpoint or checkpoint.best(run)):
            continue
        lines = sources or _dev(config, run)
        if not lines:  # an imported run has no dev
            continue
        tell(f"nmt: translating {counted(count, 'sentence')} with {run.path} for its attention")
        found += look_at(config, run, name, lines, count, warn)
    return found


def _dev(config: "Config", run: "RunDir") -> list[str]:
    """The sentences of a run's dev; none where they are not there."""
    dev = run.text("dev", config.src.language)
    return list(input_lines(dev)) if dev.is_file() else []
