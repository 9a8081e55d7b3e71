"""nmt translate: N lines in, N lines out, in order."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.commands.shell import options
from nmt.commands.shell.streams import (
    flush,
    input_lines,
    is_on_disk,
    is_standard,
    is_watched,
    lines_ahead,
    printable,
    put,
    say,
    warn,
)
from nmt.commands.shell.trained_run import engine_request, find_run, refuse_files_elsewhere
from nmt.commands.translation.files import (
    FilesAsked,
    Job,
    shard_translator,
    translate_file,
    translate_files,
)
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.run.trained import TrainedRun

OutputFormat = Annotated[
    Literal["text", "jsonl", "scores"],
    options.option("[text|jsonl|scores]", "Output format.", "--format"),
]
Alignments = Annotated[
    bool,
    options.flag(
        "With --format jsonl: which source words belong to which translated words.", "--alignments"
    ),
]
NBest = Annotated[
    str | None, options.option("N", "Translations of each line, with --format jsonl or scores.")
]
LengthPenalty = Annotated[
    str | None, options.option("X", "Higher values favour longer translations; 0: no penalty.")
]
MaxLength = Annotated[str | None, options.option("N", "Longest translation, in tokens.")]
BatchTokens = Annotated[
    str | None, options.option("N", "Source tokens per batch, padding included.")
]
Resume = Annotated[bool, options.flag("Continue an interrupted --output.", "--resume")]
OutputDir = Annotated[
    Path | None,
    options.path_option(
        "DIR", "Folder for the translations of the files that match --input 'PATTERN'."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Number of models with --ray; default: one per GPU or CPU."
    ),
]

_FILES = "there is no such file; text is given as echo TEXT | nmt translate"
FileAndOverrides = Annotated[
    list[str] | None,
    options.argument(
        "FILE|KEY=VALUE",
        "A file to translate, as --input FILE; settings that override the run's, such as search.beam_size=10.",
    ),
]


def translate(
    config: options.ConfigFile = None,
    model: options.Model = None,
    ensemble: options.Ensemble = None,
    glossary: options.Glossary = None,
    memory: options.Memory = None,
    overrides: FileAndOverrides = None,
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
        "glossary": glossary,
        "memory": memory,
        "beam_size": beam_size,
        "n_best": n_best,
        "length_penalty": length_penalty,
        "max_length": max_length,
        "typography": typography,
        "verify": verify,
        "batch_tokens": batch_tokens,
    }
    input_file, overrides = _file_and_overrides(input_file, overrides or [])
    files = FilesAsked(input_file, output, output_dir, overwrite, resume, ray, workers)
    files.refuse_contradictions()
    _tell_of_document(input_file, quiet)
    settings, run = _trained_run(model, config, overrides, search, device)
    _refuse_several_as_text(output_format, settings.search.n_best)
    if alignments:
        engine = _engine_that_aligns(engine, output_format, output_dir, ensemble)
    has_scores = output_format != "text"
    computing = engine_request(engine, device, precision, ensemble, has_scores)
    _carry_out(Job(settings, run, computing, output_format, alignments, invalid, quiet), files)


def _file_and_overrides(input_file: Path | None, given: list[str]) -> tuple[Path | None, list[str]]:
    """The file that is translated, which may be named without --input, and the settings."""
    for name in given:
        if name and Path(name).is_dir():
            fix = "name a file in it, or give --input 'FOLDER/*' --output-dir DIR"
            raise ConfigError(f"command line: {name} is a folder; {fix}")
    files = [name for name in given if Path(name).is_file()]
    if not files:
        return input_file, given
    if len(files) > 1 or input_file is not None:
        fix = "give one, or several as --input 'PATTERN' --output-dir DIR"
        raise ConfigError(f"command line: more than one file to translate; {fix}")
    return Path(files[0]), [name for name in given if name != files[0]]


def _tell_of_document(source: Path | None, quiet: bool) -> None:
    """Say that a file is a document, whose marks and keys would be translated like words; refuse one without lines."""
    from nmt.documents.registry import document_format

    found = document_format(source) if source is not None and source.is_file() else None
    if found is not None and found.is_archive:
        fix = f"run nmt document {quote(str(source))} --output FILE"
        raise ConfigError(f"{source}: {found.title}, which has no lines; {fix}")
    if found is not None and not quiet:
        say(
            f"nmt: {source}: {found.title}, translated line by line; nmt document keeps its structure"
        )


def _carry_out(job: Job, files: FilesAsked) -> None:
    if files.output_dir is not None:
        translate_files(job, files)
    elif files.output is not None and not is_standard(files.output):
        translate_file(job, files)
    else:
        _to_stdout(job, files.source)


def _trained_run(
    model: Path | None,
    config: Path | None,
    overrides: list[str],
    search: Mapping[str, object],
    device: str,
) -> "TrainedRun":
    """The run that translates, with the settings of the command line."""
    options.check_option("--device", "train.device", device)
    options.refuse_strange_overrides(overrides, ("search",), _FILES)
    asked = options.with_options(overrides, "search", search)
    trained = find_run(model, config, asked)
    refuse_files_elsewhere(trained.run, trained.config.search, config, asked)
    return trained


def _refuse_several_as_text(output_format: str, n_best: int) -> None:
    if output_format == "text" and n_best > 1:
        message = f"n_best={n_best} needs --format jsonl or scores"
        raise ConfigError(f"{message}; text has one translation per line")


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
    if engine not in ("auto", "torch"):
        message = f"{engine} does not show where the model looks"
        raise ConfigError(f"command line: --alignments needs --engine torch; {message}")
    return "torch"


def _to_stdout(job: Job, source: Path | None) -> None:
    """The lines of a file many at a time, on all cores; others as they arrive."""
    from nmt.machine.helpers import in_order
    from nmt.translate.windows import live_windows, shown, windows

    work = shard_translator(job)
    file = None if is_standard(source) else source
    if file is None and sys.stdin.isatty() and not job.quiet:
        say("nmt: type English, one line at a time; Ctrl-D ends")
    lines = input_lines(file, job.invalid)
    on_disk = is_on_disk(file)
    numbered = _numbered(windows(lines) if on_disk else live_windows(lines))
    windows_done = in_order(work.rendered, numbered, work.helpers if on_disk else 0)
    watched = is_watched(job.quiet)
    total = lines_ahead(file) if watched else None
    for done in shown(windows_done, watched, total, lambda done: done.lines):
        for number, fault in done.faults:
            warn(f"line {number}: {printable(fault)}")
        put(done.text)
        flush()


def _numbered(windows: Iterator[list[str]]) -> Iterator[tuple[list[str], int]]:
    """Windows, each with the number of its first line."""
    first = 1
    for window in windows:
        yield window, first
        first += len(window)
