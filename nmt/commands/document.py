"""nmt document: files in, the same files in Chinese out."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmt.commands.documents import options as own
from nmt.commands.shell import options
from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import flush, is_standard, put, warn
from nmt.commands.shell.trained_run import engine_request, find_run, refuse_files_elsewhere
from nmt.documents.asked import FRONT_MATTER, Asked
from nmt.errors import ConfigError, DataError, UserError

if TYPE_CHECKING:
    from nmt.commands.documents.inputs import Input
    from nmt.commands.documents.translating import Model
    from nmt.commands.translation.files import Job
    from nmt.documents.files import DocumentFile
    from nmt.documents.pipeline import Line, Report, Work

_LEFT_SOMETHING = 4  # exit code


@dataclass(frozen=True)
class _Files:
    """What is read and written."""

    inputs: "list[Input]"
    format_name: str | None
    output: Path | None
    output_dir: Path | None
    overwrite: bool
    only_new: bool
    memory: Path | None
    asked: Asked


def document(
    files: own.Files = None,
    format_name: own.FormatName = None,
    output: options.OutputFile = None,
    output_dir: own.OutputDir = None,
    overwrite: options.OverwriteOutput = False,
    bilingual: own.Bilingual = False,
    only_new: own.OnlyNew = False,
    overwrite_translations: own.OverwriteTranslations = False,
    memory: own.Memory = None,
    front_matter: own.Keys = None,
    columns: own.Columns = "source,target",
    width: own.Width = 20,
    extract: own.Extract = False,
    apply: own.Apply = None,
    dry_run: own.DryRun = False,
    strict: own.Strict = False,
    as_json: own.AsJson = False,
    model: options.Model = None,
    glossary: options.Glossary = None,
    beam_size: options.BeamSize = None,
    typography: options.Typography = None,
    verify: options.Verify = None,
    engine: options.Engine = "auto",
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    ray: options.Ray = None,
    workers: own.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Translate files: Markdown, PO, DOCX and others."""
    from nmt.commands.documents.inputs import inputs_of

    asked = _asked(bilingual, overwrite_translations, front_matter, width, columns)
    work = _Files(
        inputs_of(files or []), format_name, output, output_dir, overwrite, only_new, memory, asked
    )
    if (extract or dry_run) and apply is not None:
        raise ConfigError("command line: --apply does not go with --extract and --dry-run")
    if extract or dry_run:
        _show(work, extract)
        return
    _refuse_contradictions(work, as_json, ray)
    search = {
        "glossary": glossary,
        "beam_size": beam_size,
        "typography": typography,
        "verify": verify,
    }
    if apply is not None:
        reports = _one_by_one(work, _translations(apply), None, quiet)
    else:
        job = _job(model, search, (engine, precision, device), quiet)
        reports = _all(work, job, ray, workers, quiet)
    _finish(reports, as_json, strict)


def _asked(
    bilingual: bool, overwrite: bool, front_matter: str | None, width: int, columns: str
) -> Asked:
    keys = FRONT_MATTER if front_matter is None else tuple(front_matter.replace(" ", "").split(","))
    source, comma, target = columns.partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--columns {columns}: give two names, such as source,target")
    return Asked(
        bilingual=bilingual,
        overwrite=overwrite,
        front_matter=keys,
        width=width,
        columns=(source, target),
    )


def _refuse_contradictions(work: _Files, as_json: bool, ray: str | None) -> None:
    several = len(work.inputs) > 1
    if work.output_dir is None:
        if several:
            raise ConfigError("command line: several files; give --output-dir DIR")
        if ray is not None:
            raise ConfigError("command line: --ray needs --output-dir DIR")
        if work.only_new and (work.output is None or is_standard(work.output)):
            raise ConfigError("command line: --only-new needs --output FILE or --output-dir DIR")
        if as_json and (work.output is None or is_standard(work.output)):
            raise ConfigError("command line: --json prints to stdout; give --output FILE")
        replaces = work.overwrite or (work.only_new and work.output is not None)
        refuse_output(work.output, replaces, inputs=[work.inputs[0].path])
    elif work.output is not None:
        raise ConfigError("command line: --output and --output-dir; give one of them")


def _job(
    model: Path | None,
    search: Mapping[str, object],
    computing: "tuple[options.Engine, options.Precision, str]",
    quiet: bool,
) -> "Job":
    from nmt.commands.translation.files import Job

    engine, precision, device = computing
    options.check_option("--device", "train.device", device)
    asked = options.with_options([], "search", search)
    trained = find_run(model, None, asked)
    refuse_files_elsewhere(trained.run, trained.config.search, None, asked)
    request = engine_request(engine, device, precision, None)
    return Job(trained.config, trained.run, request, "jsonl", False, "error", quiet)


# --- without a model ---


def _show(work: _Files, extract: bool) -> None:
    """Print the texts, or how many there are; a file that cannot be read is named, and the rest goes on."""
    from nmt.commands.documents.summary import planned
    from nmt.documents.exchange import extracted
    from nmt.documents.pipeline import Work

    problem: DataError | None = None
    for each in work.inputs:
        try:
            file = _opened(work, each)
        except DataError as error:
            if problem is not None:
                warn(str(problem))
            problem = error
            continue
        if extract:
            for line in extracted(each.place, file):
                put(line)
        else:
            put(f"{each.place}: {file.form.title}, {planned(Work(file, work.asked).report)}\n")
    if problem is not None:
        raise problem


def _translations(path: Path) -> dict[str, str]:
    from nmt.corpus.reading.lines import read_lines
    from nmt.documents.exchange import translations

    return translations(read_lines(path), str(path))


# --- translating ---


def _all(
    work: _Files, job: "Job", ray: str | None, workers: int | None, quiet: bool
) -> "dict[str, Report]":
    from nmt.commands.documents.translating import Model

    if work.output_dir is None:
        return _one_by_one(work, {}, Model(job), quiet)
    return _into_folder(work, job, ray, workers, quiet)


def _one_by_one(
    work: _Files, known: dict[str, str], model: "Model | None", quiet: bool
) -> "dict[str, Report]":
    """Each file in turn; `known` are translations of words, as people gave them."""
    reports = {}
    with _memory(work) as memory:
        memory.update(known)
        for each in work.inputs:
            lines_of = _no_lines if model is None else model.translated
            reports[each.place] = _translate(work, each, memory, lines_of, quiet)
    return reports


def _into_folder(
    work: _Files, job: "Job", ray: str | None, workers: int | None, quiet: bool
) -> "dict[str, Report]":
    """All lines of all files first; then each file that has all of its lines."""
    from nmt.commands.documents.inputs import refuse_same_targets
    from nmt.commands.documents.translating import Lines, Model, Written

    assert work.output_dir is not None  # noqa: S101 - the caller has seen to it
    refuse_same_targets(work.inputs, work.output_dir)
    written = Written(work.output_dir)
    problems: list[UserError] = []
    inputs = work.inputs
    if not (work.overwrite or work.only_new):
        problems += written.foreign(inputs)
        inputs = [each for each in inputs if written.may_write(each)]
    lines = Lines(work.output_dir, inputs, work.asked, work.format_name)
    problems += lines.translate(job, ray, workers)
    model = Model(replace(job, quiet=True))  # for tags; what translates has been said
    reports = {}
    with _memory(work) as memory:
        for each in inputs:
            of_lines = lines.of(each)
            is_done = each.path in lines.kept and written.knows(each) and work.memory is None
            if of_lines is None or is_done:
                continue
            marked = partial(model.marked, of_lines)
            try:
                reports[each.place] = _translate(work, each, memory, marked, quiet)
            except DataError as error:
                problems.append(error)
            else:
                written.note(each)
    for problem in problems[1:]:
        warn(str(problem))
    if problems:
        raise problems[0]
    return reports


def _translate(
    work: _Files,
    each: "Input",
    memory: dict[str, str],
    lines_of: "Callable[[Work], Mapping[str, Line]]",
    quiet: bool,
) -> "Report":
    """Write a file with the translations of its lines, and say what became of it."""
    from nmt.commands.documents.summary import tell
    from nmt.documents.pipeline import Work

    file = _opened(work, each)
    target = _target(work, each)
    if target is None and file.form.is_archive and sys.stdout.isatty():
        raise ConfigError(f"{each.place}: {file.form.title} is no text; give --output FILE")
    one = Work(file, work.asked, memory, _kept(work, file, target))
    _write(target, one.written(lines_of(one)))
    tell(each.place, one.report, quiet)
    return one.report


def _no_lines(_work: "Work") -> "Mapping[str, Line]":
    return {}


@contextmanager
def _memory(work: _Files) -> "Iterator[dict[str, str]]":
    """The translations of --memory; those that are added go into its file."""
    from nmt.documents.memory import add_to_memory, read_memory

    before = read_memory(work.memory) if work.memory else {}
    memory = dict(before)
    try:
        yield memory
    finally:
        if work.memory is not None:
            add_to_memory(work.memory, before, memory)


def _opened(work: _Files, each: "Input") -> "DocumentFile":
    from nmt.documents.files import open_document

    file = open_document(each.path, each.data(), work.format_name, work.asked)
    if work.asked.bilingual and not file.form.has_bilingual:
        raise ConfigError(
            f"{each.place}: {file.form.title} has no room for two languages; leave out --bilingual"
        )
    if work.only_new and not file.form.is_keyed:
        raise ConfigError(f"{each.place}: {file.form.title} has no keys; leave out --only-new")
    return file


def _target(work: _Files, each: "Input") -> Path | None:
    """Where a file is written; None for stdout."""
    if work.output_dir is not None:
        return work.output_dir / each.relative
    return None if work.output is None or is_standard(work.output) else work.output


def _kept(work: _Files, file: "DocumentFile", target: Path | None) -> dict[str, str]:
    """What the translated file that is there already has, by key."""
    from nmt.documents.files import open_document, read_bytes
    from nmt.documents.pipeline import values_by_name, words_by_name

    if not work.only_new or target is None or not target.exists():
        return {}
    there = open_document(target, read_bytes(target), file.form.name, work.asked)
    sources = words_by_name(file)
    gone = [name for name in words_by_name(there) if name not in sources]
    if gone:
        warn(
            f"{target}: {len(gone)} keys that the source does not have, left out: {', '.join(gone[:5])}"
        )
    return values_by_name(there, sources)


def _write(target: Path | None, data: bytes) -> None:
    from nmt.files import replacing

    if target is None:
        flush()
        sys.stdout.buffer.write(data)
        return
    with replacing(target) as part:
        part.write_bytes(data)


def _finish(reports: "dict[str, Report]", as_json: bool, strict: bool) -> None:
    from nmt.commands.documents.summary import put_json

    if as_json:
        put_json(reports)
    if strict and any(report.left for report in reports.values()):
        raise typer.Exit(_LEFT_SOMETHING)
