"""nmt evaluate: how good a model's translations, or those in a file, are."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.commands import options, submission
from nmt.commands.output_file import refuse_history, refuse_output
from nmt.commands.streams import input_lines, is_standard, put, refuse_unreadable, warn
from nmt.commands.trained_run import find_run, refuse_history_elsewhere
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.evaluate.evaluation import Evaluation
    from nmt.exchange.engines import Computing
    from nmt.run_dir import RunDir

Source = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=options.at_home,
        help="Source text; default: the run's test split.",
    ),
]
Reference = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=options.at_home,
        help="Reference translations, line for line.",
    ),
]
Hypothesis = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=options.at_home,
        help="Translations to score instead of a model's; - is stdin.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=options.at_home,
        help="Another system's translations, to compare with.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(metavar="METRIC=X", help="Exit 4 if the score is below X; repeatable."),
]
FailBelowBaseline = Annotated[
    bool,
    typer.Option("--fail-below-baseline", help="Exit 4 if significantly worse than --baseline."),
]
History = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=options.at_home,
        help="Append the result here, as a line of JSON.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print nothing but warnings and errors: for gates and the history."
    ),
]

_FILES = "a file is given as --hyp FILE --ref FILE, or as --src FILE --ref FILE"


def evaluate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    overrides: options.SearchOverrides = None,
    src: Source = None,
    ref: Reference = None,
    hyp: Hypothesis = None,
    baseline: Baseline = None,
    beam_size: options.BeamSize = None,
    typography: options.Typography = None,
    verify: options.Verify = None,
    output: options.OutputFile = None,
    overwrite: options.OverwriteOutput = False,
    as_json: AsJson = False,
    fail_under: FailUnder = None,
    fail_below_baseline: FailBelowBaseline = False,
    history: History = None,
    engine: options.Engine = "torch",
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Score a model or a file of translations."""
    from nmt.config.load import load_config
    from nmt.evaluate import gate
    from nmt.exchange.engines import Computing

    computing = Computing(engine, device, precision)
    floors = gate.parse_floors(fail_under or [])
    _refuse_no_baseline(fail_below_baseline, baseline)
    options.check_option("--device", "train.device", device)
    options.refuse_strange_overrides(overrides or [], ("search", "evaluate"), _FILES)
    search = {"beam_size": beam_size, "typography": typography, "verify": verify}
    asked = options.with_options(overrides, "search", search)
    _refuse_beside_hyp(hyp, model, output, asked, computing)
    _refuse_files(src, ref, hyp, baseline, output, overwrite, quiet)
    baseline_lines = _lines(baseline)
    if hyp is not None and ref is not None:
        settings = load_config(config, asked)
        history = _history(history, settings)
        submitted = submission.from_file(hyp, src, ref)
    else:
        settings, run = _find(config, model, asked, history)
        history = _history(history, settings)
        submitted = submission.from_model(settings, run, src, ref, computing, quiet)
    refuse_output(output, overwrite)  # it may have appeared meanwhile
    _write(submitted.hypotheses, output)
    result = submitted.evaluate(baseline_lines, _metrics(settings, floors))
    _publish(result, as_json, quiet, history)
    gate.check_gate(result.scores, floors, result.comparisons if fail_below_baseline else ())


def _refuse_no_baseline(is_needed: bool, baseline: Path | None) -> None:
    if is_needed and baseline is None:
        raise ConfigError("--fail-below-baseline needs --baseline FILE")


def _refuse_files(
    src: Path | None,
    ref: Path | None,
    hyp: Path | None,
    baseline: Path | None,
    output: Path | None,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Raise, before the work begins, for files that cannot be read or written."""
    if hyp is not None and ref is None:
        raise ConfigError("--hyp needs --ref FILE, the reference translations")
    if hyp is None and (src is None) != (ref is None):
        message = "without both, the run's test split is translated"
        raise ConfigError(f"--src and --ref go together; {message}")
    refuse_unreadable(hyp, src, ref, baseline)
    refuse_output(output, overwrite, inputs=[path for path in (src, ref, baseline) if path])
    if is_standard(output) and not quiet:
        raise ConfigError("--output - would mix translations and scores on stdout; add --quiet")


def _history(given: Path | None, settings: "Config") -> Path | None:
    """The history to append to, once it is known that it can be."""
    named = settings.evaluate.history
    history = given or (Path(named) if named else None)
    refuse_history(history)
    return history


def _lines(path: Path | None) -> list[str] | None:
    return None if path is None else list(input_lines(path))


def _refuse_beside_hyp(
    hyp: Path | None,
    model: Path | None,
    output: Path | None,
    overrides: list[str],
    computing: "Computing",
) -> None:
    """Raise ConfigError for what says how to translate, where nothing is translated."""
    if hyp is None:
        return
    given = {
        "--model": model is not None,
        "--output": output is not None,
        "--device": computing.device != "auto",
        "--precision": computing.precision != "auto",
    }
    meaningless = [option for option, is_given in given.items() if is_given]
    meaningless += [override for override in overrides if override.startswith("search.")]
    meaningless += [override for override in overrides if override.startswith("run_dir=")]
    if meaningless:
        raise ConfigError(f"--hyp is scored as it is: leave out {' and '.join(meaningless)}")


def _write(hypotheses: list[str], output: Path | None) -> None:
    """Write the translations to where they are wanted, if anywhere."""
    from nmt.files import write_text

    text = "".join(f"{line}\n" for line in hypotheses)
    if is_standard(output):
        put(text)
    elif output is not None:
        write_text(output, text)


def _find(
    config: Path | None, model: Path | None, overrides: list[str], history: Path | None
) -> "tuple[Config, RunDir]":
    """The trained run. A history that nobody asked for but the run itself must stay in this folder."""
    settings, run = find_run(model, config, overrides)
    is_overridden = any(override.startswith("evaluate.history=") for override in overrides)
    if not (history or config or is_overridden):
        refuse_history_elsewhere(run, settings.evaluate.history)
    return settings, run


def _metrics(settings: "Config", floors: Iterable[str]) -> list[str]:
    """What is measured: what is configured and what has a bar, each once."""
    return list(dict.fromkeys([*settings.evaluate.metrics, *floors]))


def _publish(result: "Evaluation", as_json: bool, quiet: bool, history: Path | None) -> None:
    """Print the evaluation, and append it to the history if there is one."""
    from nmt.evaluate.history import append_history

    for warning in result.warnings:
        warn(warning)
    if as_json:
        put(json.dumps(result.as_json(), ensure_ascii=False, indent=2) + "\n")
    elif not quiet:
        put(result.as_text() + "\n")
    if history:
        append_history(history, result.as_json())
