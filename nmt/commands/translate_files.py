"""nmt translate --output-dir: files in, files of the same names out, shard by shard, here or on Ray."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.stopping import telling_how_to_go_on
from nmt.commands.shell.streams import (
    is_standard,
    is_watched,
    printable,
    refuse_unreadable,
    say,
    warn,
)
from nmt.errors import ConfigError, DataError, Say, counted, print_nothing

if TYPE_CHECKING:
    from tqdm import tqdm

    from nmt.config.schema import Config
    from nmt.engines.choose import Computing
    from nmt.jobs.output_folder import File, OutputFolder
    from nmt.jobs.pools import Pool
    from nmt.jobs.ray_translators import Model
    from nmt.jobs.translating import Watch
    from nmt.run.folder import RunDir

_LOG_EVERY = 60  # seconds, where nobody sees a bar


@dataclass(frozen=True)
class Job:
    """What translates, and how."""

    settings: "Config"
    run: "RunDir"
    computing: "Computing"
    output_format: str
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
            refuse_unreadable(self.source)
            return
        if self.output is not None:
            raise ConfigError("command line: --output and --output-dir; give one of them")
        if self.resume:
            message = "--output-dir goes on by itself where it was interrupted"
            raise ConfigError(f"command line: {message}; leave out --resume")
        if self.source is None or is_standard(self.source):
            message = "--output-dir needs files"
            raise ConfigError(f"command line: {message}; give --input FILE or --input 'PATTERN'")


def translate_files(job: Job, asked: FilesAsked) -> None:
    """Translate files into a folder; what is there already is not made again."""
    from nmt.jobs.output_folder import OutputFolder, refuse_targets
    from nmt.jobs.translating import Translating

    assert asked.output_dir is not None  # noqa: S101 - else this is not called
    files = files_of(asked)
    folder = OutputFolder(asked.output_dir, asked.overwrite)
    progress = Progress(files, job.quiet)
    how = f"{folder.path} keeps what is done; the same command goes on from there"
    with telling_how_to_go_on(lambda: how), folder.locked(files):
        if not asked.overwrite:
            _refuse_strangers(folder, files)
        with _opened(job, asked, progress) as (pool, made_with):
            if not asked.overwrite:
                refuse_targets(folder, files, made_with)
            with progress:
                work = Translating(files, folder, made_with, job.invalid, progress.watch())
                work.run(pool)


def files_of(asked: FilesAsked) -> "list[File]":
    """The files to translate. Raises DataError if there are none, ConfigError where one would be in the way."""
    from nmt.jobs.output_folder import File

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
            raise ConfigError(f"{target}: is what is read; name another --output-dir")
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise ConfigError(f"{target}: is not a plain file; name another --output-dir")
    return [File(source, asked.output_dir / source.name) for source in sources]


def _expanded(pattern: Path) -> list[Path]:
    if pattern.is_dir():
        raise DataError(f"{pattern}: is a folder; name the files in it, such as '{pattern}/*'")
    if has_magic(str(pattern)) and not pattern.is_file():
        # A link to nowhere is among them, and is told of when it is read.
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


def _refuse_strangers(folder: "OutputFolder", files: "Sequence[File]") -> None:
    """Raise ConfigError, before a model is loaded, for a file that is in the way and that nmt did not write."""
    for file in files:
        if file.target.exists() and not folder.knows(file):
            fix = "name another --output-dir, or --overwrite it"
            raise ConfigError(f"{file.target}: exists already; {fix}")


@contextmanager
def _opened(job: Job, asked: FilesAsked, progress: "Progress") -> "Iterator[tuple[Pool, str]]":
    """What translates, and what the results are made with."""
    from nmt.jobs.pools import in_this_process
    from nmt.jobs.shards import ShardTranslator
    from nmt.translate.opening import open_translator

    if asked.ray is None:
        translator = open_translator(job.settings, job.run, job.computing, warn, job.say)
        work = ShardTranslator(translator, job.output_format)
        yield in_this_process(work), work.made_with()
        return
    from nmt.jobs.ray_session import ray_session
    from nmt.jobs.ray_translators import RayTranslators

    model = model_of(job)
    with ray_session(asked.ray) as cluster:
        pool = RayTranslators(
            cluster, model, job.output_format, asked.workers, progress.working, warn
        )
        with pool:
            yield pool, pool.made_with(job.say)
            if pool.losses():
                job.say(f"nmt: {pool.losses()}")


def model_of(job: Job) -> "Model":
    """The model as it travels to workers, which have another working folder."""
    from nmt.jobs.ray_translators import Model

    others = tuple((config, run.absolute()) for config, run in job.computing.others)
    settings = job.settings
    if settings.search.memory is not None:
        update = {"memory": str(Path(settings.search.memory).absolute())}
        search = settings.search.model_copy(update=update)
        settings = settings.model_copy(update={"search": search})
    return Model(settings, job.run.absolute(), job.computing._replace(others=others))


class Progress:
    """How far the work has come: a bar on a terminal, else a line now and then."""

    def __init__(self, files: "Sequence[File]", quiet: bool) -> None:
        self._files = files
        self._quiet = quiet
        self._bar: tqdm[Any] | None = None
        self._lines: dict[Path, int] = {}  # of each file; estimated until it is read
        self._translated = 0
        self._found = 0
        self._kept = 0  # files that were finished before
        self._workers = 1
        self._begun = time.monotonic()
        self._said = self._begun

    def __enter__(self) -> None:
        from nmt.jobs.shards import estimated_lines

        self._begun = self._said = time.monotonic()
        if is_watched(self._quiet):
            from tqdm import tqdm

            self._lines = estimated_lines([file.source for file in self._files])
            self._bar = tqdm(unit=" lines", total=sum(self._lines.values()), file=sys.stderr)
            self.working(self._workers)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if not self._quiet:
            say(f"nmt: {self._so_far()}")

    def watch(self) -> "Watch":
        """What the work tells."""
        from nmt.jobs.translating import Watch

        return Watch(self._add, self._find, self._keep, self._know, self._finish, self._warn)

    def working(self, workers: int) -> None:
        """So many models are at work."""
        self._workers = workers
        if self._bar is not None:
            self._bar.set_postfix_str(counted(workers, "worker"))

    def _add(self, lines: int) -> None:
        self._translated += lines
        if self._bar is not None:
            self._bar.update(lines)
        elif not self._quiet and time.monotonic() - self._said > _LOG_EVERY:
            self._said = time.monotonic()
            say(f"nmt: {self._so_far()}")

    def _find(self, lines: int) -> None:
        self._found += lines
        if self._bar is not None:
            self._bar.initial += lines
            self._bar.update(lines)

    def _keep(self, file: "File") -> None:
        self._kept += 1
        self._find(file.lines)
        self._know(file)

    def _know(self, file: "File") -> None:
        if self._bar is not None:
            self._lines[file.source] = file.lines
            self._bar.total = sum(self._lines.values())

    def _finish(self, file: "File") -> None:
        if not self._quiet:
            self._print(f"nmt: {file.target}: {counted(file.lines, 'line')}")

    def _warn(self, line: str) -> None:
        self._print(f"nmt: warning: {printable(line)}")

    def _print(self, line: str) -> None:
        if self._bar is None:
            say(line)
        else:
            self._bar.write(line, file=sys.stderr)

    def _so_far(self) -> str:
        if self._kept == len(self._files):
            return "nothing to translate"
        seconds = max(time.monotonic() - self._begun, 1e-3)
        speed = f"{self._translated / seconds:,.0f} a second"
        line = f"{counted(self._translated, 'line')} translated, {speed}"
        line += f", {counted(self._workers, 'worker')}"
        if self._found:
            line += f"; {counted(self._found, 'line')} were there"
        return line
