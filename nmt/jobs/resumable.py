"""Translations written to a file in a way that can be interrupted and resumed.

What is done lies beside the file, in `FILE.part/`, and becomes the file when everything is done. The folder holds
`text` and `done.json`, which says how many bytes of `text` count, how many lines of input they translate, and what
they were made from. Both are on the disk after each window: whatever ends the process costs one window.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import FileIO
from itertools import islice
from pathlib import Path

from nmt.errors import ConfigError, DataError, ModelError, UserError, counted
from nmt.files import PART, locked, read_json, sync, write_json


@dataclass(frozen=True)
class Done:
    """What `done.json` says."""

    lines: int  # of input
    bytes: int  # of `text`
    input: str  # a hash of those lines
    made_with: str  # a hash of model, search and format


class ResumableOutput:
    """The translations of the first `lines` lines of an input."""

    def __init__(self, folder: Path, made_with: str, done: Done, text: FileIO) -> None:
        """Continue in the open file `text`; what it has beyond `done` is of a window that was not finished."""
        self.folder = folder
        self.made_with = made_with
        self.lines = done.lines
        self._done_input = done.input
        self._input = hashlib.sha256()
        self._text = text
        text.truncate(done.bytes)

    def remaining(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines after those that are done. Raises DataError if those are not the ones that were translated."""
        iterator = iter(lines)
        count = 0
        for line in islice(iterator, self.lines):
            self._input.update(_hashed(line))
            count += 1
        held = f"{self.folder} holds the translations of"
        if count < self.lines:
            raise DataError(
                f"{held} {counted(self.lines, 'line')}, but the input has {count:,}; "
                "give the same input again"
            )
        if self.lines and self._input.hexdigest() != self._done_input:
            raise DataError(f"{held} other lines; give the same input again")
        yield from iterator

    def append(self, lines: list[str], translations: str) -> None:
        """Add the translations of the next lines, and put them on the disk."""
        self._write(translations.encode())
        for line in lines:
            self._input.update(_hashed(line))
        self.lines += len(lines)
        done = Done(
            lines=self.lines,
            bytes=self._text.tell(),
            input=self._input.hexdigest(),
            made_with=self.made_with,
        )
        _write_done(self.folder, done)

    def _write(self, content: bytes) -> None:
        try:
            while content:  # a disk that is nearly full takes a part, and refuses the rest
                written = self._text.write(content)
                content = content[written:]
        except OSError as error:
            raise UserError(
                f"{self.folder}: cannot be written ({error.strerror}); "
                "fix that, then continue with --resume"
            ) from None
        sync(self.folder / "text")


def _hashed(line: str) -> bytes:
    return line.encode() + b"\n"


@contextmanager
def resumable_output(
    output: Path, made_with: str, resume: bool, overwrite: bool
) -> Iterator[ResumableOutput]:
    """Yield what is done of `output`, to be continued; it becomes the file if nothing is raised, else stays beside.

    Raises ConfigError if it was made with anything else than `made_with`, or is there though not to be resumed, or if
    something of the user's is in the way; UserError if another process is at work on it.
    """
    folder = output.with_name(f"{output.name}{PART}")
    _refuse_foreign(folder)
    with locked(folder, [folder / "text", folder / "done.json"]):
        start_again = overwrite and not resume
        if start_again or not (folder / "done.json").exists():
            _write_done(folder, Done(lines=0, bytes=0, input="", made_with=made_with))
        done = load_done(folder)
        _refuse_to_mix(folder, done, made_with, resume)
        with (folder / "text").open("ab", buffering=0) as text:
            yield ResumableOutput(folder, made_with, done, text)
        _refuse_to_replace(output, folder, overwrite)
        (folder / "text").replace(output)
        sync(output.parent)
        (folder / "done.json").unlink()
        (folder / ".lock").unlink()
        with suppress(OSError):  # something of the user's is in it
            folder.rmdir()


def _refuse_foreign(folder: Path) -> None:
    """Raise ConfigError for what is not a folder of ours: those hold a lock, and nothing that is not ours."""
    fix = "move it away, or name another --output"
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: unfinished work is to be kept under this name; {fix}")
    names = {path.name for path in folder.glob("*") if not path.name.endswith(PART)}
    is_ours = ".lock" in names and names <= {".lock", "text", "done.json"}
    if names and not is_ours:
        raise ConfigError(f"{folder}: holds files that are not of an interrupted --output; {fix}")


def _refuse_to_replace(output: Path, folder: Path, overwrite: bool) -> None:
    """Raise ConfigError for a file that has appeared since the work began."""
    if output.exists() and not overwrite:
        fix = "move it away and give --resume, or give --resume --overwrite"
        raise ConfigError(
            f"{output}: has appeared meanwhile; the translations are in {folder}; {fix}"
        )


def _refuse_to_mix(folder: Path, done: Done, made_with: str, resume: bool) -> None:
    if done.lines and not resume:
        raise ConfigError(
            f"{folder}: holds {counted(done.lines, 'translated line')} already; "
            "continue with --resume, or start again with --overwrite"
        )
    if done.lines and done.made_with != made_with:
        raise ConfigError(
            f"{folder}: made with another model, search or format; "
            "give the same, or start again with --overwrite"
        )


def _write_done(folder: Path, done: Done) -> None:
    write_json(folder / "done.json", asdict(done))


def load_done(folder: Path) -> Done:
    """What is done in a `.part` folder. Raises ModelError if the folder is damaged."""
    record = read_json(folder / "done.json")
    text = folder / "text"
    size = text.stat().st_size if text.exists() else 0
    done: Done | None
    try:
        done = Done(
            lines=record["lines"],
            bytes=record["bytes"],
            input=record["input"],
            made_with=record["made_with"],
        )
    except (KeyError, TypeError):
        done = None
    if done is None or not _is_sound(done, size):
        raise ModelError(f"{folder}: damaged; start again with --overwrite")
    return done


def _is_sound(done: Done, size: int) -> bool:
    """Whether a record is one that we write, of a text of this size, in bytes."""
    counts = (done.lines, done.bytes)
    hashes = (done.input, done.made_with)
    if not all(type(count) is int for count in counts):
        return False
    if not all(isinstance(value, str) for value in hashes):
        return False
    return done.lines >= 0 and 0 <= done.bytes <= size
