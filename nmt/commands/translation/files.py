"""nmt translate --output and --output-dir: files in, files out, shard by shard, here or on Ray."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import (
    input_lines,
    is_on_disk,
    is_standard,
    refuse_unreadable,
    say,
    warn,
)
from nmt.commands.translation.progress import BarAlone, Progress
from nmt.errors import ConfigError, DataError, Say, print_nothing
from nmt.machine.signals import telling_how_to_go_on

if TYPE_CHECKING:
    from nmt.config.schema import Config
    from nmt.engines.base import EngineRequest
    from nmt.jobs.job import Pool, Read
    from nmt.jobs.output import File, Output
    from nmt.jobs.ray_pool import Model
    from nmt.jobs.shards import ShardTranslator
    from nmt.run.folder import RunDir


@dataclass(frozen=True)
class Job:
    """What translates, and how."""

    settings: "Config"
    run: "RunDir"
    computing: "EngineRequest"
    output_format: str
    alignments: bool
    invalid: str
    quiet: bool

    @property
    def say(self) -> Say:
        """Prints a line for people, unless they want none."""
        return print_nothing if self.quiet else say


@dataclass(frozen=True)
class FilesAsked:
    """What is read and written, and who does it."""

    source: Path | None  # with an `output_dir`, perhaps a pattern
    output: Path | None
    output_dir: Path | None
    overwrite: bool
    resume: bool
    ray: str | None
    workers: int | None

    def refuse_contradictions(self) -> None:
        """Raise, before the work begins, for options that do not go together and files that cannot be used."""
        if self.workers is not None and self.ray is None:
            raise ConfigError("command line: --workers needs --ray; add --ray local")
        if self.output_dir is None:
            if self.ray is not None:
                fix = "give --input FILE --output-dir DIR"
                raise ConfigError(f"command line: --ray translates files; {fix}")
            refuse_output(self.output, self.overwrite, self.resume, [self.source])
            _refuse_pattern(self.source)
            refuse_unreadable(self.source)
            return
        if self.output is not None:
            raise ConfigError("command line: --output and --output-dir; give one of them")
        if self.resume:
            message = "--output-dir continues by itself"
            raise ConfigError(f"command line: {message}; leave out --resume")
        if self.source is None or is_standard(self.source):
            message = "--output-dir needs files"
            raise ConfigError(f"command line: {message}; give --input FILE or --input 'PATTERN'")


def _refuse_pattern(source: Path | None) -> None:
    """Raise ConfigError for a pattern where one file is asked for."""
    is_pattern = source is not None and has_magic(str(source)) and not source.exists()
    if is_pattern and glob(str(source)):  # noqa: PTH207
        raise ConfigError(f"command line: --input {source}: a pattern needs --output-dir DIR")


def translate_file(job: Job, asked: FilesAsked) -> None:
    """Translate a file, or stdin, into a file; what is done when it is interrupted is kept."""
    from nmt.jobs.job import Job as Work
    from nmt.jobs.job import on_this_machine
    from nmt.jobs.output import how_to_resume, single_output

    assert asked.output is not None  # noqa: S101 - else this is not called
    source = None if is_standard(asked.source) else asked.source
    work = shard_translator(job)
    made_with = work.made_with()
    with single_output(asked.output, source, made_with, asked.resume, asked.overwrite) as (
        output,
        file,
    ):
        progress = BarAlone([file], job.quiet)
        # What is typed, or comes through a pipe, is translated as it comes.
        pool = on_this_machine(work, work.helpers if is_on_disk(source) else 0)
        with telling_how_to_go_on(lambda: how_to_resume(output, file)), progress:
            Work([file], output, made_with, reader(job), progress.watch()).run(pool)


def translate_files(job: Job, asked: FilesAsked) -> None:
    """Translate files into a folder; what is there already is not made again."""
    from nmt.jobs.job import Job as Work
    from nmt.jobs.output import Output, refuse_targets

    assert asked.output_dir is not None  # noqa: S101 - else this is not called
    files = files_of(asked)
    output = Output(asked.output_dir / ".nmt", "--output-dir", asked.overwrite)
    progress = Progress(files, job.quiet)
    how = f"{asked.output_dir} keeps what is done; the same command continues"
    with telling_how_to_go_on(lambda: how), output.locked(files):
        if not asked.overwrite:
            _refuse_foreign_targets(output, files)
        with opened_pool(job, asked.ray, asked.workers, progress) as (pool, made_with):
            if not asked.overwrite:
                refuse_targets(output, files, made_with)
            with progress:
                Work(files, output, made_with, reader(job), progress.watch()).run(pool)


def reader(job: Job) -> "Read":
    """How the lines of a file are read."""
    return lambda file: input_lines(file.source, job.invalid)


def shard_translator(job: Job) -> "ShardTranslator":
    """The translator of a run, for whole shards."""
    from nmt.jobs.shards import ShardTranslator
    from nmt.translate.opening import open_translator

    translator = open_translator(job.settings, job.run, job.computing, warn, job.say)
    return ShardTranslator(translator, job.output_format, job.alignments)


def files_of(asked: FilesAsked) -> "list[File]":
    """The files to translate. Raises DataError if there are none, ConfigError where one would be in the way."""
    from nmt.jobs.output import File

    assert asked.source is not None  # noqa: S101 - refuse_contradictions has seen to it
    assert asked.output_dir is not None  # noqa: S101
    sources = _expanded(asked.source)
    _refuse_unfit_folder(asked.output_dir)
    by_name: dict[str, Path] = {}
    for source in sources:
        other = by_name.setdefault(source.name, source)
        if other != source:
            message = "have the same name, and would be written to the same file"
            raise ConfigError(f"{other} and {source}: {message}; translate them one by one")
        target = asked.output_dir / source.name
        if target.exists() and target.samefile(source):
            raise ConfigError(f"{target}: is the input; name another --output-dir")
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise ConfigError(f"{target}: is not a plain file; name another --output-dir")
    return [File(source, asked.output_dir / source.name) for source in sources]


def _expanded(pattern: Path) -> list[Path]:
    if pattern.is_dir():
        raise DataError(f"{pattern}: is a folder; name the files in it, such as '{pattern}/*'")
    if has_magic(str(pattern)) and not pattern.is_file():
        # A broken link is among them; reading it gives the error.
        matches = map(Path, glob(str(pattern), recursive=True))  # noqa: PTH207
        found = sorted(path for path in matches if not path.is_dir())
        if not found:
            here = f"relative paths start at {Path.cwd()}"
            raise DataError(f"{pattern}: no file has such a name ({here})")
        for path in found:
            if path.exists():
                _refuse_pipe(path)
        return found
    refuse_unreadable(pattern)
    _refuse_pipe(pattern)
    return [pattern]


def _refuse_pipe(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"{path}: is a pipe or a device; leave out --output-dir")


def _refuse_unfit_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: is a file; --output-dir names a folder")


def _refuse_foreign_targets(output: "Output", files: "Sequence[File]") -> None:
    """Raise ConfigError, before a model is loaded, for a file that is in the way and that nmt did not write."""
    for file in files:
        if file.target.exists() and not output.knows(file):
            raise ConfigError(f"{file.target}: exists already; {output.another}")


@contextmanager
def opened_pool(
    job: Job, ray: str | None, workers: int | None, progress: Progress
) -> "Iterator[tuple[Pool, str]]":
    """What translates, here or on Ray, and what the results are made with."""
    from nmt.jobs.job import on_this_machine

    if ray is None:
        work = shard_translator(job)
        yield on_this_machine(work, work.helpers), work.made_with()
        return
    from nmt.jobs.ray_pool import RayPool
    from nmt.jobs.ray_session import ray_session

    with ray_session(ray) as cluster:
        pool = RayPool(cluster, model_of(job), workers, warn)
        made_with = pool.made_with(job.say)
        progress.working(pool.share.workers)
        yield pool, made_with


def model_of(job: Job) -> "Model":
    """The model as it travels to workers, which have another working folder and translate each by itself."""
    from nmt.jobs.ray_pool import Model

    others = tuple(each._replace(run=each.run.absolute()) for each in job.computing.others)
    settings = job.settings
    search = settings.search
    update: dict[str, object] = {"glossary": tuple(map(_absolute, search.glossary))}
    if search.memory is not None:
        update["memory"] = _absolute(search.memory)
    settings = settings.model_copy(update={"search": search.model_copy(update=update)})
    computing = job.computing._replace(others=others, helpers=False)
    return Model(settings, job.run.absolute(), computing, job.output_format, job.alignments)


def _absolute(path: str) -> str:
    return str(Path(path).absolute())
