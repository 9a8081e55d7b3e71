"""Texts translated shard by shard: what is missing is made, and a file is put together when it has all its shards."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from nmt.errors import DataError, UserError, counted
from nmt.jobs.output import File, Output, begin_reading, is_packed
from nmt.jobs.shards import (
    ATTEMPTS,
    Failed,
    Outcome,
    Shard,
    Work,
    attempted,
    shards_of,
)
from nmt.machine.helpers import in_order

# Takes shards as it can translate them, and gives each with its outcome, in any order.
Pool = Callable[[Iterator[Shard]], Iterator[tuple[Shard, Outcome]]]
Read = Callable[[File], Iterator[str]]  # the lines of a text


def on_this_machine(work: Work, helpers: int = 0) -> Pool:
    """A pool of so many processes where there are several shards; 0: of this one, each shard as soon as it is read."""
    return lambda shards: in_order(partial(attempted, work), shards, helpers)


@dataclass(frozen=True)
class Watch:
    """Who hears how far the work has come."""

    translated: Callable[[int], None]  # so many lines more
    found: Callable[[int], None]  # so many lines that were translated before
    kept: Callable[[File], None]  # a file that was finished before
    read: Callable[[File], None]  # a file to its end: its number of lines is known
    finished: Callable[[File], None]
    fault: Callable[[File, int, str], None]  # of a line, by its number
    warn: Callable[[str], None]


@dataclass
class Job:
    """The work on some texts."""

    files: Sequence[File]
    output: Output
    made_with: str  # that of a `ShardTranslator`
    read: Read
    watch: Watch
    problems: list[UserError] = field(default_factory=list)

    @cached_property
    def _file_of(self) -> dict[str, File]:
        return {file.text: file for file in self.files}

    def run(self, pool: Pool) -> None:
        """Translate what is missing.

        What fails is named, and the rest goes on. Raises at the end, of a single file its first error; of several,
        DataError if one could not be read, else UserError.
        """
        for shard, outcome in pool(self._missing()):
            self._take(shard, outcome)
        if not self.problems:
            return
        if self.output.is_single:
            raise self.problems[0]
        unfinished = [file for file in self.files if not file.is_whole]
        names = ", ".join(file.text for file in unfinished)
        is_data = any(isinstance(problem, DataError) for problem in self.problems)
        first = "repair what was named, and " if is_data else ""
        kept = f"their finished parts are kept; {first}the same command continues"
        message = f"not translated: {names}; {kept}"
        raise DataError(message) if is_data else UserError(message)

    def _missing(self) -> Iterator[Shard]:
        """The shards without a result, file after file."""
        for file in self.files:
            if self.output.is_finished(file, self.made_with):
                self.output.clear(file)  # a process that was killed may have left them
                file.lines = self.output.finished_lines(file)
                self.watch.kept(file)
                continue
            try:
                yield from self._missing_of(file)
            except UserError as problem:
                self._note(file, problem)
            self.watch.read(file)
            self._put_together_if_complete(file)

    def _missing_of(self, file: File) -> Iterator[Shard]:
        begin_reading(file)
        there = self.output.results(file)
        lines = self.read(file)
        for shard in shards_of(lines, file.text, self.made_with, is_packed(file.target)):
            file.parts.append(shard.name)
            file.lines += len(shard.lines)
            if shard.name in there:
                self.watch.found(len(shard.lines))
            else:
                file.missing.add(shard.name)
                yield shard
        file.is_read = True

    def _take(self, shard: Shard, outcome: Outcome) -> None:
        file = self._file_of[shard.text]
        if isinstance(outcome, Failed):
            times = "" if outcome.is_final else f" {counted(ATTEMPTS, 'time')}"
            self._note(file, UserError(f"{shard}: failed{times}: {outcome.reason}"))
            return
        for number, fault in outcome.faults:
            self.watch.fault(file, number, fault)
        self.output.store(file, shard.name, outcome.content)
        file.missing.discard(shard.name)
        self.watch.translated(len(shard.lines))
        self._put_together_if_complete(file)

    def _note(self, file: File, problem: UserError) -> None:
        file.is_whole = False
        self.problems.append(problem)
        if not self.output.is_single:
            self.watch.warn(str(problem))

    def _put_together_if_complete(self, file: File) -> None:
        if not file.is_complete:
            return
        try:
            self.output.put_together(file, self.made_with)
        except UserError as problem:
            self._note(file, problem)
        else:
            self.watch.finished(file)
