"""Translations into a file that can be interrupted: what is done lies beside it, and becomes the file when all is.

`FILE.part/` holds `text` and `done.json`, which says how many bytes of `text` count, of how many lines of input they
are, and from what they were made. Both are on the disk after each window: whatever ends the process costs one window.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, DataError, ModelError, UserError
from nmt.files import read_json, sync, write_json
from nmt.run_dir import RunDir, locked


class Unfinished:
    """The translations of the first `lines` lines of an input, in the open file `text`."""

    def __init__(self, folder: Path, made_with: str, done: dict[str, Any], text: FileIO) -> None:
        """Take up what `done` says; bytes of `text` beyond that are of a window that was not finished."""
        self.folder, self.made_with, self.lines = folder, made_with, done["lines"]
        self._told, self._input = done["input"], hashlib.sha256()
        self._text = text
        text.truncate(done["bytes"])

    def remaining(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines after those that are done. Raises DataError if those are not the ones that were translated."""
        rest, done, read = iter(lines), self.lines, 0
        for line in islice(rest, done):
            read += 1
            self._input.update(line.encode() + b"\n")
        told = f"{self.folder} holds the translations of"
        if read < done:
            raise DataError(f"{told} {done} lines, but the input has {read}; give the same again")
        if done and self._input.hexdigest() != self._told:
            raise DataError(f"{told} other lines; give the same input again")
        yield from rest

    def append(self, lines: list[str], translations: str) -> None:
        """Add what was made of the next lines, and have it on the disk."""
        rest = translations.encode()
        try:
            while rest:  # a disk that is nearly full takes a part, and refuses the rest
                rest = rest[self._text.write(rest) :]
        except OSError as error:
            mend = "mend that, then go on with --resume"
            raise UserError(
                f"{self.folder}: cannot be written ({error.strerror}); {mend}"
            ) from None
        sync(self.folder / "text")
        self.lines += len(lines)
        self._input.update("".join(line + "\n" for line in lines).encode())
        _note(self.folder, self.made_with, self.lines, self._text.tell(), self._input.hexdigest())


def _note(folder: Path, made_with: str, lines: int = 0, size: int = 0, of: str = "") -> None:
    write_json(
        folder / "done.json", {"lines": lines, "bytes": size, "input": of, "made_with": made_with}
    )


@contextmanager
def unfinished(output: Path, made_with: str, resume: bool, overwrite: bool) -> Iterator[Unfinished]:
    """Yield what is done of `output`, to be gone on with; it becomes the file if nothing is raised, else stays beside.

    Raises ConfigError if it was made with anything else than `made_with`, or is there though not to be resumed;
    UserError if another process is at work on it.
    """
    folder = output.with_name(f"{output.name}.part")
    with locked(RunDir(folder)):
        if not (folder / "done.json").exists() or (overwrite and not resume):
            _note(folder, made_with)
        done = _read(folder)
        if done["lines"] and not resume:
            mend = "go on with --resume, or --overwrite them"
            raise ConfigError(f"{folder}: {done['lines']} lines are translated already; {mend}")
        if done["lines"] and done["made_with"] != made_with:
            raise ConfigError(
                f"{folder}: made with another model, search or format; give the same, or --overwrite it"
            )
        with (folder / "text").open("ab", buffering=0) as text:
            yield Unfinished(folder, made_with, done, text)
        (folder / "text").replace(output)
        sync(output.parent)
        shutil.rmtree(folder)


def _read(folder: Path) -> dict[str, Any]:
    done: dict[str, Any] = read_json(folder / "done.json")
    size = (folder / "text").stat().st_size if (folder / "text").exists() else 0
    with suppress(KeyError, TypeError, AttributeError):
        if (
            done["lines"] >= 0
            and 0 <= done["bytes"] <= size
            and {"input", "made_with"} <= done.keys()
        ):
            return done
    raise ModelError(f"{folder}: damaged; begin anew with --overwrite")
