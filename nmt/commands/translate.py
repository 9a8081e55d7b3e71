"""nmt translate: N lines in, N lines out, in order."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.commands import options
from nmt.commands.output_file import refuse_output
from nmt.commands.streams import printable, say, stdin_lines, warn
from nmt.commands.trained_run import find_run
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.translate.translator import Translator

OutputFormat = Annotated[
    Literal["text", "jsonl", "scores"],
    typer.Option("--format", help="What to write for each line."),
]
BeamSize = Annotated[
    int | None,
    typer.Option(help="Hypotheses kept at each step; 1: greedy search."),
]
NBest = Annotated[
    int | None,
    typer.Option(help="Translations of each line, with --format jsonl or scores."),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(help="0: none; higher values favour longer translations."),
]
MaxLength = Annotated[int | None, typer.Option(help="Longest translation, in tokens.")]
Typography = Annotated[
    str | None,
    typer.Option(help="Spaces between Han and Latin: keep, none, space; off: fix nothing."),
]
Verify = Annotated[
    str | None,
    typer.Option(
        help="off; flag: warn of lost numbers, loops …; retry: first look for a better one."
    ),
]
BatchTokens = Annotated[int | None, typer.Option(help="Padded source tokens translated at once.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on where an interrupted --output stopped."),
]
Invalid = Annotated[
    Literal["error", "replace"],
    typer.Option(help="Bytes that are not UTF-8: error, or replace them by U+FFFD."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing on stderr but warnings and errors."),
]


def translate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    overrides: options.SearchOverrides = None,
    output_format: OutputFormat = "text",
    beam_size: BeamSize = None,
    n_best: NBest = None,
    length_penalty: LengthPenalty = None,
    max_length: MaxLength = None,
    typography: Typography = None,
    verify: Verify = None,
    batch_tokens: BatchTokens = None,
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    output: options.OutputFile = None,
    resume: Resume = False,
    overwrite: options.OverwriteOutput = False,
    invalid: Invalid = "error",
    quiet: Quiet = False,
) -> None:
    """Translate stdin to stdout: N lines in, N lines out."""
    search = {
        "beam_size": beam_size,
        "n_best": n_best,
        "length_penalty": length_penalty,
        "max_length": max_length,
        "typography": typography,
        "verify": verify,
        "batch_tokens": batch_tokens,
    }
    refuse_output(output, overwrite=overwrite, resume=resume)
    asked = options.with_options(overrides, "search", search)
    settings, run = find_run(model, config, asked)
    if output_format == "text" and settings.search.n_best > 1:
        message = f"n_best={settings.search.n_best} needs --format jsonl or scores"
        raise ConfigError(f"{message}; text has one translation a line")

    from nmt.translate.load import load_translator

    translator = load_translator(settings, run, device, precision, warn, None if quiet else say)
    render = Renderer(translator, output_format)
    lines = stdin_lines(invalid)
    if output is None:
        _to_stdout(lines, render, quiet)
    else:
        _to_file(lines, render, output, resume, overwrite, quiet)


class Renderer:
    """Lines of English to what is written for them, with warnings of faults."""

    def __init__(self, translator: "Translator", output_format: str) -> None:
        self._translator = translator
        self._output_format = output_format

    def __call__(self, window: list[str], first_number: int) -> str:
        """What is written for these lines, the first of which has this number."""
        from nmt.translate.formats import written

        translations = self._translator.translate(window)
        for number, translation in enumerate(translations, first_number):
            for fault in translation.faults:
                warn(f"line {number}: {printable(str(fault))}")
        return written(self._output_format, translations, first_number)

    def fingerprint(self) -> str:
        """A hash that is equal where the same lines are written for the same input."""
        return f"{self._translator.fingerprint()} {self._output_format}"


def _to_stdout(lines: Iterator[str], render: Renderer, quiet: bool) -> None:
    """The lines of a file many at a time, others as they arrive."""
    from nmt.translate.windows import live_windows, shown, windows

    is_file = stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    if sys.stdin.isatty() and not quiet:
        say("nmt: type English, a line at a time; Ctrl-D ends")
    done = 0
    for window in shown(windows(lines), quiet) if is_file else live_windows(lines):
        sys.stdout.write(render(window, done + 1))
        sys.stdout.flush()
        done += len(window)


def _to_file(
    lines: Iterator[str],
    render: Renderer,
    output: Path,
    resume: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Into a file that appears when all lines are done; what is done beforehand can be resumed."""
    from nmt.translate.resumable import resumable_output
    from nmt.translate.windows import shown, windows

    with resumable_output(output, render.fingerprint(), resume, overwrite) as part:
        for window in shown(windows(part.remaining(lines)), quiet):
            part.append(window, render(window, part.lines + 1))
