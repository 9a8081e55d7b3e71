"""Files translated shard by shard: what is missing is made, and a file is put together when it has all its shards."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nmt.errors import DataError, UserError, counted
from nmt.jobs.output_folder import File, OutputFolder, begin_reading
from nmt.jobs.pools import ATTEMPTS, Pool
from nmt.jobs.shards import Failed, Outcome, Shard, shards_of


@dataclass(frozen=True)
class Watch:
    """Who is told how far the work has come."""

    translated: Callable[[int], None]  # so many lines more
    found: Callable[[int], None]  # so many lines that were translated before
    kept: Callable[[File], None]  # a file that was finished before
    read: Callable[[File], None]  # a file to its end: its number of lines is known
    finished: Callable[[File], None]
    warn: Callable[[str], None]


class Translating:
    """The work on some files in one folder."""

    def __init__(
        self,
        files: Sequence[File],
        folder: OutputFolder,
        made_with: str,
        invalid: str,
        watch: Watch,
    ) -> None:
        """`made_with` is that of a `ShardTranslator`; `invalid` is as for `shards_of`."""
        self._files = files
        self._folder = folder
        self._made_with = made_with
        self._invalid = invalid
        self._watch = watch
        self._file_of = {file.source: file for file in files}
        self._problems: list[UserError] = []

    def run(self, pool: Pool) -> None:
        """Translate what is missing.

        What fails is named, and the rest goes on. Raises at the end DataError if a file could not be read, else
        UserError if a shard could not be translated.
        """
        for shard, outcome in pool(self._missing()):
            self._take(shard, outcome)
        unfinished = [file for file in self._files if not file.is_whole]
        if not unfinished:
            return
        names = ", ".join(str(file.source) for file in unfinished)
        kept = "what is done of them is kept, and the same command goes on from there"
        message = f"not translated: {names}; {kept}"
        is_data = any(isinstance(problem, DataError) for problem in self._problems)
        raise DataError(message) if is_data else UserError(message)

    def _missing(self) -> Iterator[Shard]:
        """The shards without a result, file after file."""
        for file in self._files:
            if self._folder.is_finished(file, self._made_with):
                self._folder.clear(file)  # a process that was killed may have left them
                file.lines = self._folder.finished_lines(file)
                self._watch.kept(file)
                continue
            try:
                yield from self._missing_of(file)
            except UserError as problem:
                self._note(file, problem)
            self._watch.read(file)
            self._put_together_if_complete(file)

    def _missing_of(self, file: File) -> Iterator[Shard]:
        begin_reading(file)
        there = self._folder.results(file)
        for shard in shards_of(file.source, self._made_with, self._invalid):
            file.parts.append(shard.name)
            file.lines += len(shard.lines)
            if shard.name in there:
                self._watch.found(len(shard.lines))
            else:
                file.missing.add(shard.name)
                yield shard
        file.is_read = True

    def _take(self, shard: Shard, outcome: Outcome) -> None:
        file = self._file_of[shard.file]
        if isinstance(outcome, Failed):
            times = "" if outcome.is_final else f" {counted(ATTEMPTS, 'time')}"
            self._note(file, UserError(f"{shard}: failed{times}: {outcome.reason}"))
            return
        for warning in outcome.warnings:
            self._watch.warn(warning)
        self._folder.store(file, shard.name, outcome.content)
        file.missing.discard(shard.name)
        self._watch.translated(len(shard.lines))
        self._put_together_if_complete(file)

    def _note(self, file: File, problem: UserError) -> None:
        file.is_whole = False
        self._problems.append(problem)
        self._watch.warn(str(problem))

    def _put_together_if_complete(self, file: File) -> None:
        if not file.is_complete:
            return
        try:
            self._folder.put_together(file, self._made_with)
        except UserError as problem:
            self._note(file, problem)
        else:
            self._watch.finished(file)
