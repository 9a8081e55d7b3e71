"""nmt evaluate: how good a model's translations, or those in a file, are."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.commands import options
from nmt.commands.output_file import refuse_output
from nmt.commands.streams import say, warn
from nmt.commands.trained_run import find_run, refuse_history_elsewhere
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.evaluate.evaluation import Evaluation
    from nmt.run_dir import RunDir

Source = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Source text; default: the run's test split."),
]
Reference = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Reference translations, line for line."),
]
Hypothesis = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Translations to score instead of a model's."),
]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Another system's translations, to compare with."),
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
    typer.Option(metavar="FILE", help="Append the result here, as a line of JSON."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no table: for gates and the history."),
]


def evaluate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    overrides: options.SearchOverrides = None,
    src: Source = None,
    ref: Reference = None,
    hyp: Hypothesis = None,
    baseline: Baseline = None,
    output: options.OutputFile = None,
    overwrite: options.OverwriteOutput = False,
    as_json: AsJson = False,
    fail_under: FailUnder = None,
    fail_below_baseline: FailBelowBaseline = False,
    history: History = None,
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Score a model or a file of translations."""
    from nmt.commands import submission
    from nmt.config.load import load_config
    from nmt.corpus.lines import read_lines
    from nmt.evaluate import gate
    from nmt.files import write_text

    floors = gate.parse_floors(fail_under or [])
    if fail_below_baseline and baseline is None:
        raise ConfigError("--fail-below-baseline needs --baseline FILE")
    refuse_output(output, overwrite)
    baseline_lines = None if baseline is None else list(read_lines(baseline))

    if hyp is not None:
        _refuse_beside_hyp(model, output)
        settings = load_config(config, overrides)
        submitted = submission.from_file(hyp, src, ref)
    else:
        settings, run = _find(config, model, overrides or [], history)
        submitted = submission.from_model(
            settings, run, src, ref, device, precision, None if quiet else say
        )
    if output is not None:
        write_text(output, "".join(f"{line}\n" for line in submitted.hypotheses))

    metrics = _without_repeats([*settings.evaluate.metrics, *floors])
    result = submitted.evaluate(baseline_lines, metrics)
    _publish(result, as_json, quiet, history or settings.evaluate.history)
    comparisons = result.comparisons if fail_below_baseline else ()
    gate.check_gate(result.scores, floors, comparisons)


def _refuse_beside_hyp(model: Path | None, output: Path | None) -> None:
    meaningless = []
    if model is not None:
        meaningless.append("--model")
    if output is not None:
        meaningless.append("--output")
    if meaningless:
        raise ConfigError(f"--hyp is scored as it is: leave out {' and '.join(meaningless)}")


def _find(
    config: Path | None, model: Path | None, overrides: list[str], history: Path | None
) -> "tuple[Config, RunDir]":
    """The trained run. A history that nobody asked for but the run itself must stay in this folder."""
    settings, run = find_run(model, config, overrides)
    is_overridden = any(override.startswith("evaluate.history=") for override in overrides)
    if not (history or config or is_overridden):
        refuse_history_elsewhere(run, settings.evaluate.history)
    return settings, run


def _without_repeats(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _publish(result: "Evaluation", as_json: bool, quiet: bool, history: str | Path | None) -> None:
    """Print the evaluation, and append it to the history if there is one."""
    from nmt.evaluate.history import append_history

    for warning in result.warnings:
        warn(warning)
    if as_json:
        print(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
    elif not quiet:
        print(result.as_text())
    if history:
        append_history(Path(history), result.as_json())
