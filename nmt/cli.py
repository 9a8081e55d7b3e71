"""The commands. The only module that reads stdin, prints to stdout or exits; a stage is imported inside its command."""

import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from nmt import __version__
from nmt.commands import options as opt
from nmt.errors import ConfigError, UserError
from nmt.files import write_text
from nmt.run_dir import RunDir, locked

if TYPE_CHECKING:
    from nmt.config.schema import Config

Translated = Callable[[list[str], int], str]  # of lines, the first of which has that number


class Commands(typer.core.TyperGroup):
    """Runs a command; every foreseen error becomes one line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run, and exit as README's table of exit codes says."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            for line in str(error).splitlines():
                say(f"nmt: {_printable(line)}")
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:  # whoever read our output has gone: nobody is left to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(128 + signal.SIGPIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(128 + signal.SIGINT) from None
        except OSError as error:
            say(f"nmt: {error.filename or 'input or output'}: {error.strerror or error}")
            raise typer.Exit(1) from None


app = typer.Typer(
    name="nmt",
    cls=Commands,
    help="English→Chinese machine translation: prepare, build-vocab, train, translate, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def say(text: str) -> None:
    """Tell people: stderr, so that stdout holds only results."""
    print(text, file=sys.stderr, flush=True)


def _printable(line: str) -> str:
    """A message may quote a stranger's file: what would steer a terminal is shown instead."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def warn(text: str) -> None:
    """Tell of something that is wrong, but not the end; --quiet does not silence it."""
    say(f"nmt: warning: {text}")


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        print(f"nmt {__version__}")
        raise typer.Exit


@app.command()
def prepare(
    config: opt.Config = None,
    overrides: opt.Overrides = None,
    overwrite: opt.Overwrite = False,
    max_bytes: opt.MaxBytes = None,
) -> None:
    """Clean the corpora; set dev and test aside."""
    from nmt.config.load import load_config
    from nmt.corpus import stages

    settings = load_config(config, _with(overrides, "data", {"max_bytes": max_bytes}))
    with locked(RunDir(Path(settings.run_dir))):
        stages.run_prepare(settings, stages.claim(settings, overwrite), say)


@app.command()
def build_vocab(
    config: opt.Config = None, overrides: opt.Overrides = None, overwrite: opt.Overwrite = False
) -> None:
    """Build vocabularies and encode the text."""
    from nmt.config.load import load_config
    from nmt.corpus import stages

    settings = load_config(config, overrides)
    with locked(RunDir(Path(settings.run_dir))):
        run = stages.claim(settings, overwrite)
        stages.ensure_prepared(settings, run, say)
        stages.run_build_vocab(settings, run, say)


@app.command()
def train(
    config: opt.Config = None,
    overrides: opt.Overrides = None,
    overwrite: opt.Overwrite = False,
    max_bytes: opt.MaxBytes = None,
) -> None:
    """Train a model, or go on training it."""
    from nmt.commands.trained_run import remember
    from nmt.config.load import load_config
    from nmt.corpus import stages
    from nmt.model.device import resolve_precision
    from nmt.train.distributed import world
    from nmt.train.trainer import Trainer

    settings = load_config(config, _with(overrides, "data", {"max_bytes": max_bytes}))
    run = RunDir(Path(settings.run_dir))
    with (
        world(settings.train.device) as processes,
        locked(run) if processes.leads else nullcontext(),
    ):
        resolve_precision(
            settings.train.precision, processes.device
        )  # before --overwrite deletes anything
        if processes.leads:
            stages.claim(settings, overwrite)
            stages.ensure_prepared(settings, run, say)
            stages.ensure_vocabularies(settings, run, say)
        processes.wait()
        try:
            Trainer(settings, run, processes).train()
        finally:
            if processes.leads:
                remember(run)


def _with(overrides: list[str] | None, section: str, options: dict[str, object]) -> list[str]:
    """The overrides, and those settings of a section for which there is an option that was given."""
    return [
        *(overrides or []),
        *(f"{section}.{name}={value}" for name, value in options.items() if value is not None),
    ]


@app.command()
def translate(
    config: opt.Config = None,
    model: opt.Model = None,
    overrides: opt.SearchOverrides = None,
    output_format: opt.OutputFormat = "text",
    beam_size: opt.BeamSize = None,
    n_best: opt.NBest = None,
    length_penalty: opt.LengthPenalty = None,
    max_length: opt.MaxLength = None,
    typography: opt.Typography = None,
    verify: opt.Verify = None,
    batch_tokens: opt.BatchTokens = None,
    precision: opt.Precision = "auto",
    device: opt.Device = "auto",
    output: opt.Output = None,
    resume: opt.Resume = False,
    overwrite: opt.OverwriteOutput = False,
    invalid: opt.Invalid = "error",
    quiet: opt.Quiet = False,
) -> None:
    """Translate stdin to stdout: N lines in, N lines out."""
    options: dict[str, object] = {
        "beam_size": beam_size,
        "n_best": n_best,
        "length_penalty": length_penalty,
    }
    options |= {
        "max_length": max_length,
        "typography": typography,
        "verify": verify,
        "batch_tokens": batch_tokens,
    }
    options["method"] = None if beam_size is None else "greedy" if beam_size == 1 else "beam"
    _refuse_output(output, overwrite, resume)
    from nmt.commands.trained_run import find_run
    from nmt.translate.formats import written
    from nmt.translate.load import load_translator
    from nmt.translate.resumable import unfinished
    from nmt.translate.windows import shown, windows

    found, run = find_run(model, config, _with(overrides, "search", options))
    if output_format == "text" and found.search.n_best > 1:
        raise ConfigError(
            f"n_best={found.search.n_best} needs --format jsonl or scores; text has one line a line"
        )
    translator = load_translator(found, run, device, precision, warn)

    def translated(window: list[str], start: int) -> str:
        translations = translator.translate(window)
        for number, translation in enumerate(translations, start):
            for fault in translation.faults:
                warn(f"line {number}: {_printable(str(fault))}")
        return written(output_format, translations, start)

    lines = _stdin_lines(invalid)
    if output is None:
        _to_stdout(lines, translated, quiet)
    else:
        with unfinished(
            output, f"{translator.fingerprint()} {output_format}", resume, overwrite
        ) as part:
            for window in shown(windows(part.remaining(lines)), quiet):
                part.append(window, translated(window, part.lines + 1))


def _stdin_lines(invalid: str = "error") -> Iterator[str]:
    from nmt.corpus.lines import bounded_lines, decode_lines

    # A file object of its own: at exit Python would wait for sys.stdin's lock, which the reading thread holds.
    file, name = open(sys.stdin.fileno(), "rb", closefd=False), Path("stdin")  # noqa: SIM115
    return decode_lines(
        bounded_lines(file, name), name, "strict" if invalid == "error" else invalid
    )


def _to_stdout(lines: Iterator[str], translated: Translated, quiet: bool) -> None:
    """A file's lines many at a time, others as they arrive."""
    from nmt.translate.windows import live_windows, shown, windows

    is_file = stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    if sys.stdin.isatty() and not quiet:
        say("nmt: type English, a line at a time; Ctrl-D ends")
    done = 0
    for window in shown(windows(lines), quiet) if is_file else live_windows(lines):
        sys.stdout.write(translated(window, done + 1))
        sys.stdout.flush()
        done += len(window)


@app.command()
def typography(check: opt.Check = False, spacing: opt.Spacing = "keep") -> None:
    """Repair the punctuation and spaces of Chinese from stdin to stdout; --check only tells what it would repair."""
    from nmt.text import typography as rules

    found = False
    for number, line in enumerate(_stdin_lines(), 1):
        if not check:
            sys.stdout.write(rules.repair(line, spacing) + "\n")
            continue
        for finding in rules.check(line, spacing):
            sys.stdout.write(f"{number}:{finding}\n")
            found = True
    if found:
        raise typer.Exit(4)


@app.command()
def evaluate(
    config: opt.Config = None,
    model: opt.Model = None,
    overrides: opt.SearchOverrides = None,
    src: opt.Source = None,
    ref: opt.Reference = None,
    hyp: opt.Hypothesis = None,
    baseline: opt.Baseline = None,
    output: opt.Output = None,
    overwrite: opt.OverwriteOutput = False,
    as_json: opt.AsJson = False,
    fail_under: opt.FailUnder = None,
    fail_below_baseline: opt.FailBelow = False,
    history: opt.History = None,
    precision: opt.Precision = "auto",
    device: opt.Device = "auto",
    quiet: opt.QuietTable = False,
) -> None:
    """Score a model or a file of translations."""
    from nmt.commands.scored import given, translated
    from nmt.config.load import load_config
    from nmt.corpus.lines import read_lines
    from nmt.evaluate import evaluation
    from nmt.evaluate.significance import append_history, check_gate, parse_floors

    floors = parse_floors(fail_under or [])
    if fail_below_baseline and baseline is None:
        raise ConfigError("--fail-below-baseline needs --baseline FILE")
    _refuse_output(output, overwrite)
    against = None if baseline is None else list(read_lines(baseline))
    if hyp is not None:
        if meaningless := [
            name for name, value in (("--model", model), ("--output", output)) if value is not None
        ]:
            raise ConfigError(f"--hyp is scored as it is: leave out {' and '.join(meaningless)}")
        judged = given(hyp, src, ref, load_config(config, overrides))
    else:
        settings, run = _find(config, model, overrides, history)
        judged = translated(
            src, ref, settings, run, lambda lines: _texts(lines, settings, run, device, precision)
        )
    if output is not None:
        write_text(output, "".join(line + "\n" for line in judged.hypotheses))
    metrics = list(dict.fromkeys([*judged.settings.evaluate.metrics, *floors]))
    result = evaluation.evaluate(
        judged.hypotheses, judged.references, against, metrics, judged.about, judged.sources
    )
    for warning in result.warnings:
        warn(warning)
    if as_json:
        print(json.dumps(result.as_json(), ensure_ascii=False, indent=2))
    elif not quiet:
        print(result.as_text())
    if kept := history or judged.settings.evaluate.history:
        append_history(Path(kept), result.as_json())
    check_gate(result.scores, floors, result.comparisons if fail_below_baseline else ())


def _refuse_output(output: Path | None, overwrite: bool, resume: bool = False) -> None:
    """Raise ConfigError before the work is done rather than after."""
    if output is None and resume:
        raise ConfigError("--resume needs --output FILE: what was written to a pipe is gone")
    if output is not None and output.exists() and not overwrite:
        raise ConfigError(f"{output}: is there already; name another file, or --overwrite it")
    if output is not None and not os.access(output.parent, os.W_OK):
        raise ConfigError(f"{output}: its folder cannot be written to; name another file")


def _texts(
    lines: list[str], settings: "Config", run: RunDir, device: str, precision: str
) -> list[str]:
    from nmt.translate.load import load_translator

    return [
        each.text
        for each in load_translator(settings, run, device, precision, warn).translate(lines)
    ]


def _find(
    config: Path | None, model: Path | None, overrides: list[str] | None, history: Path | None
) -> "tuple[Config, RunDir]":
    from nmt.commands.trained_run import find_run, refuse_escape

    found, run = find_run(model, config, overrides or [])
    if not (
        history
        or config
        or any(override.startswith("evaluate.history=") for override in overrides or [])
    ):
        refuse_escape(run, found.evaluate.history)
    return found, run


def main() -> None:
    """Run the command line."""
    # oneDNN keeps compiled kernels by shape; torch's default of 1024 is too few for the batches of one epoch.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")
    _open_closed_streams()
    sys.stdout.reconfigure(encoding="utf-8", newline="\n", errors="backslashreplace")  # type: ignore[union-attr]
    app()


def _open_closed_streams() -> None:
    """Put /dev/null in the place of a standard stream that was closed, as some launchers do.

    Otherwise the next file that is opened would take its number, and be written what was meant for the stream.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
