"""The lines of documents through a model: of one document at once, of many as the jobs of translate --output-dir."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.documents.inputs import Input
from nmt.commands.shell.streams import is_watched, warn
from nmt.commands.translation.files import Job, opened_pool, shard_translator
from nmt.commands.translation.progress import Progress
from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.asked import Asked
from nmt.documents.files import open_document
from nmt.documents.pipeline import Line, Work
from nmt.documents.projection import Link
from nmt.documents.translation import mark, translated_lines
from nmt.errors import ConfigError, UserError, print_nothing
from nmt.files import checksum, read_json, write_json
from nmt.machine.signals import telling_how_to_go_on

if TYPE_CHECKING:
    from nmt.jobs.output import File
    from nmt.jobs.shards import ShardTranslator
    from nmt.translate.translator import Translator as LineTranslator


class Model:
    """A model that is loaded at the first line."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @cached_property
    def _work(self) -> "ShardTranslator":
        return shard_translator(self._job)

    @cached_property
    def _aligner(self) -> "LineTranslator":
        """The model in torch, which shows where it looks."""
        from nmt.translate.opening import load_translator

        job = self._job
        device, precision = job.computing.device, job.computing.precision
        precision = "auto" if precision == "int8" else precision
        return load_translator(job.settings, job.run, device, precision, warn, print_nothing, ())

    def translated(self, work: Work) -> dict[str, Line]:
        """The translations of the lines of a document."""
        how = "nothing is written; with --output-dir DIR, the same command continues"
        with telling_how_to_go_on(lambda: how):
            return translated_lines(work, self._translate, self._align)

    def marked(self, of_lines: dict[str, Line], work: Work) -> dict[str, Line]:
        """Translations that another process has made, with tags in the right places."""
        mark(work, of_lines, self._translate, self._align)
        return of_lines

    def _align(self, pairs: Sequence[SentencePair]) -> list[Sequence[Link]]:
        return self._aligner.links(pairs)

    def _translate(self, lines: Sequence[str]) -> dict[str, Line]:
        """The translations of lines, with a bar on a terminal."""
        from nmt.machine.helpers import in_order
        from nmt.translate.windows import shown, windows

        found: dict[str, Line] = {}
        if not lines:
            return found
        numbered = ((window, 1) for window in windows(lines))
        done = in_order(self._work.rendered, numbered, self._work.helpers)
        watched = is_watched(self._job.quiet)
        for rendered in shown(done, watched, len(lines), lambda each: each.lines):
            found.update(_read(rendered.text))
        return found


def _read(text: str) -> Iterator[tuple[str, Line]]:
    """The translations that `nmt translate --format jsonl` writes, by their sources."""
    for line in filter(None, text.split("\n")):  # not at U+2028, which a line may hold
        record = json.loads(line)
        faults = tuple(f"{fault['kind']}: {fault['detail']}" for fault in record["faults"] or ())
        yield record["source"], Line(record["translation"], faults)


# --- many ---


class Lines:
    """The translated lines of many documents, kept in a folder until the documents are written."""

    def __init__(
        self, folder: Path, inputs: Sequence[Input], asked: Asked, format_name: str | None
    ):
        self._folder = folder / ".nmt"
        self._inputs = inputs
        self._asked = asked
        self._format = format_name
        self.kept: set[Path | None] = set()  # inputs whose lines were complete before

    def translate(self, job: Job, ray: str | None, workers: int | None) -> list[UserError]:
        """Translate what is missing, here or on Ray; a problem of a file, which is given back, stops no other."""
        from nmt.jobs.job import Job as Jobs
        from nmt.jobs.output import Output

        files = [self._file(each) for each in self._inputs]
        output = Output(self._folder, "--output-dir", overwrite=True)
        progress = _Progress(files, job.quiet)
        how = f"{self._folder.parent} keeps what is done; the same command continues"
        with (
            telling_how_to_go_on(lambda: how),
            output.locked(files),
            opened_pool(job, ray, workers, progress) as (pool, made_with),
            progress,
        ):
            (self._folder / "lines").mkdir(exist_ok=True)
            jobs = Jobs(files, output, f"{made_with} {self._asked}", self._lines, progress.watch())
            try:
                jobs.run(pool)
            except UserError as problem:
                return [problem]
            finally:
                self.kept = progress.kept
        return []

    def of(self, each: Input) -> dict[str, Line] | None:
        """The translations of the lines of a document; None if they are not complete."""
        path = self._file(each).target
        if not path.exists():
            return None
        return dict(_read(path.read_text(encoding="utf-8")))

    def _file(self, each: Input) -> "File":
        from nmt.jobs.output import File

        return File(each.path, self._folder / "lines" / f"{flat_name(each)}.jsonl")

    def _lines(self, file: "File") -> Iterator[str]:
        assert file.source is not None  # noqa: S101 - --output-dir has files only
        each = Input(file.source, Path(file.source.name))
        document = open_document(each.path, each.data(), self._format, self._asked)
        return iter(Work(document, self._asked).lines())


def flat_name(each: Input) -> str:
    """A name for a file that has no folders in it."""
    name = str(each.relative)
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{each.relative.name}-{digest}"


class _Progress(Progress):
    """How far the lines have come; each document has a line of its own later."""

    def __init__(self, files: "Sequence[File]", quiet: bool) -> None:
        super().__init__(files, quiet)
        self.kept: set[Path | None] = set()

    def _keep(self, file: "File") -> None:
        self.kept.add(file.source)
        super()._keep(file)

    def _finish(self, file: "File") -> None:
        pass


# --- what nmt wrote ---


@dataclass(frozen=True)
class Written:
    """What nmt has written into a folder, so that it is not taken for a person's."""

    folder: Path

    def may_write(self, each: Input) -> bool:
        """Whether nothing is in the place of a document, or what nmt wrote."""
        return not (self.folder / each.relative).exists() or self.knows(each)

    def foreign(self, inputs: Sequence[Input]) -> list[UserError]:
        """An error for each file in the way that is not as nmt wrote it."""
        message = "exists already, and is not as nmt wrote it; name another --output-dir, or --overwrite it"
        targets = [self.folder / each.relative for each in inputs if not self.may_write(each)]
        return [ConfigError(f"{target}: {message}") for target in targets]

    def knows(self, each: Input) -> bool:
        """Whether a document is there as nmt wrote it."""
        target, record = self.folder / each.relative, self._record(each)
        return target.is_file() and record.exists() and read_json(record) == checksum(target)

    def note(self, each: Input) -> None:
        """Remember a document that has just been written."""
        write_json(self._record(each), checksum(self.folder / each.relative))

    def _record(self, each: Input) -> Path:
        return self.folder / ".nmt" / f"{flat_name(each)}.written"
