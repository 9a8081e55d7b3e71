"""nmt translate: N lines in, N lines out, in order."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.commands.shell import options
from nmt.commands.shell.stopping import telling_how_to_go_on
from nmt.commands.shell.streams import (
    flush,
    input_lines,
    is_standard,
    is_watched,
    lines_ahead,
    printable,
    put,
    say,
    warn,
)
from nmt.commands.shell.trained_run import computing_of, find_run, refuse_memory_elsewhere
from nmt.commands.translate_files import FilesAsked, Job, translate_files
from nmt.errors import ConfigError, counted

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.jobs.resumable import ResumableOutput
    from nmt.run.folder import RunDir
    from nmt.translate.translation import Translation
    from nmt.translate.translator import Translator

OutputFormat = Annotated[
    Literal["text", "jsonl", "scores"],
    typer.Option("--format", metavar="[text|jsonl|scores]", help="What to write for each line."),
]
Alignments = Annotated[
    bool,
    typer.Option(
        "--alignments", help="With --format jsonl: which words stand for which, by attention."
    ),
]
NBest = Annotated[
    str | None,
    typer.Option(metavar="N", help="Translations of each line, with --format jsonl or scores."),
]
LengthPenalty = Annotated[
    str | None,
    typer.Option(metavar="X", help="0: none; higher values favour longer translations."),
]
MaxLength = Annotated[str | None, typer.Option(metavar="N", help="Longest translation, in tokens.")]
BatchTokens = Annotated[
    str | None, typer.Option(metavar="N", help="Padded source tokens translated at once.")
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on where an interrupted --output stopped."),
]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=options.path_of,
        help="Translate the files that --input 'PATTERN' names, each to a file of its name here.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Models at work with --ray; default: one for each GPU or CPU."
    ),
]

_FILES = "a file is given as --input FILE, or as < FILE, and a pattern in quotes"


def translate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    ensemble: options.Ensemble = None,
    memory: options.Memory = None,
    overrides: options.SearchOverrides = None,
    input_file: options.InputFile = None,
    output_format: OutputFormat = "text",
    alignments: Alignments = False,
    beam_size: options.BeamSize = None,
    n_best: NBest = None,
    length_penalty: LengthPenalty = None,
    max_length: MaxLength = None,
    typography: options.Typography = None,
    verify: options.Verify = None,
    batch_tokens: BatchTokens = None,
    engine: options.Engine = "auto",
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    output: options.OutputFile = None,
    resume: Resume = False,
    overwrite: options.OverwriteOutput = False,
    output_dir: OutputDir = None,
    ray: options.Ray = None,
    workers: Workers = None,
    invalid: options.InvalidBytes = "error",
    quiet: options.Quiet = False,
) -> None:
    """Translate lines: N in, N out, in order."""
    search = {
        "memory": memory,
        "beam_size": beam_size,
        "n_best": n_best,
        "length_penalty": length_penalty,
        "max_length": max_length,
        "typography": typography,
        "verify": verify,
        "batch_tokens": batch_tokens,
    }
    files = FilesAsked(input_file, output, output_dir, overwrite, resume, ray, workers)
    files.refuse_contradictions()
    settings, run = _trained_run(model, config, overrides, search, device)
    _refuse_several_as_text(output_format, settings.search.n_best)
    if alignments:
        engine = _engine_that_aligns(engine, output_format, output_dir, ensemble)
    computing = computing_of(engine, device, precision, ensemble)
    _carry_out(Job(settings, run, computing, output_format, invalid, quiet), files, alignments)


def _trained_run(
    model: Path | None,
    config: Path | None,
    overrides: list[str] | None,
    search: Mapping[str, object],
    device: str,
) -> "tuple[Config, RunDir]":
    """The run that translates, with the settings of the command line."""
    options.check_option("--device", "train.device", device)
    options.refuse_strange_overrides(overrides or [], ("search",), _FILES)
    asked = options.with_options(overrides, "search", search)
    settings, run = find_run(model, config, asked)
    refuse_memory_elsewhere(run, settings.search.memory, config, asked)
    return settings, run


def _carry_out(job: Job, files: FilesAsked, alignments: bool) -> None:
    if files.output_dir is not None:
        translate_files(job, files)
    else:
        _translate_lines(job, files, alignments)


def _translate_lines(job: Job, files: FilesAsked, alignments: bool) -> None:
    """The lines of one file or of stdin, to one file or to stdout."""
    from nmt.translate.opening import open_translator

    translator = open_translator(job.settings, job.run, job.computing, warn, job.say)
    render = Renderer(translator, job.output_format, alignments)
    source = files.source
    lines = input_lines(source, job.invalid)
    text = Text(lines, None if is_standard(source) else source, job.quiet)
    if files.output is None or is_standard(files.output):
        _to_stdout(text, render)
    else:
        _to_file(text, render, files.output, files.resume, files.overwrite)


def _refuse_several_as_text(output_format: str, n_best: int) -> None:
    if output_format == "text" and n_best > 1:
        message = f"n_best={n_best} needs --format jsonl or scores"
        raise ConfigError(f"{message}; text has one translation a line")


def _engine_that_aligns(
    engine: options.Engine,
    output_format: str,
    output_dir: Path | None,
    ensemble: list[Path] | None,
) -> options.Engine:
    """The engine whose attention can be seen. Raises ConfigError for what cannot go with alignments."""
    if output_format != "jsonl":
        raise ConfigError("command line: --alignments needs --format jsonl")
    if output_dir is not None:
        fix = "give one file as --input FILE --output FILE"
        raise ConfigError(f"command line: --alignments does not go with --output-dir; {fix}")
    if ensemble:
        message = "each model has its own attention; leave out one of the two"
        raise ConfigError(f"command line: --alignments does not go with --ensemble; {message}")
    if engine == "ctranslate2":
        message = "CTranslate2 does not show where the model looks"
        raise ConfigError(f"command line: --alignments needs --engine torch; {message}")
    return "torch"


class Renderer:
    """Lines of English to what is written for them, with warnings of faults."""

    def __init__(
        self, translator: "Translator", output_format: str, alignments: bool = False
    ) -> None:
        self._translator = translator
        self._output_format = output_format
        self._alignments = alignments

    def __call__(self, window: list[str], first_number: int) -> str:
        """What is written for these lines, the first of which has this number."""
        from nmt.translate.formats import written

        translations = self._translator.translate(window)
        for number, translation in enumerate(translations, first_number):
            for fault in translation.faults:
                warn(f"line {number}: {printable(str(fault))}")
        if self._alignments:
            return self._with_alignments(translations, first_number)
        return written(self._output_format, translations, first_number)

    def _with_alignments(self, translations: "list[Translation]", first_number: int) -> str:
        from nmt.corpus.reading.pairs import SentencePair
        from nmt.engines.decoder import Decoder
        from nmt.scoring.alignment import align
        from nmt.translate.formats import as_aligned_json

        engine = self._translator.engine
        assert isinstance(engine, Decoder)  # noqa: S101 - `_engine_that_aligns` has chosen it
        pairs = [SentencePair(each.source, each.text) for each in translations]
        alignments = align(engine, pairs)
        numbers = range(first_number, first_number + len(translations))
        return "".join(map(as_aligned_json, numbers, translations, alignments))

    def fingerprint(self) -> str:
        """A hash that is equal where the same lines are written for the same input."""
        form = f"{self._output_format}, aligned" if self._alignments else self._output_format
        return f"{self._translator.fingerprint()} {form}"


@dataclass(frozen=True)
class Text:
    """What is to be translated."""

    lines: Iterator[str]
    file: Path | None  # where they come from; None: stdin
    quiet: bool

    def is_on_disk(self) -> bool:
        """Whether the lines are all there; others are answered as they come."""
        status = os.fstat(sys.stdin.fileno()) if self.file is None else self.file.stat()
        return stat.S_ISREG(status.st_mode)

    def shown(self, windows: Iterator[list[str]], done: int = 0) -> Iterator[list[str]]:
        """Windows of these lines after the first `done`, with a progress bar for who sees it."""
        from nmt.translate.windows import shown

        watched = is_watched(self.quiet)
        return shown(windows, watched, done, lines_ahead(self.file) if watched else None)


def _to_stdout(text: Text, render: Renderer) -> None:
    """The lines of a file many at a time, others as they arrive."""
    from nmt.translate.windows import live_windows, windows

    if text.file is None and sys.stdin.isatty() and not text.quiet:
        say("nmt: type English, a line at a time; Ctrl-D ends")
    lines = text.lines
    done = 0
    for window in text.shown(windows(lines)) if text.is_on_disk() else live_windows(lines):
        put(render(window, done + 1))
        flush()
        done += len(window)


def _to_file(text: Text, render: Renderer, output: Path, resume: bool, overwrite: bool) -> None:
    """Into a file that appears when all lines are done; what is done beforehand can be resumed."""
    from nmt.jobs.resumable import resumable_output
    from nmt.translate.windows import windows

    with (
        resumable_output(output, render.fingerprint(), resume, overwrite) as part,
        telling_how_to_go_on(lambda: _how_to_resume(part)),
    ):
        for window in text.shown(windows(part.remaining(text.lines)), part.lines):
            part.append(window, render(window, part.lines + 1))


def _how_to_resume(part: "ResumableOutput") -> str:
    held = f"{part.folder} holds {counted(part.lines, 'translated line')}"
    return f"{held}; continue with the same command and --resume"
