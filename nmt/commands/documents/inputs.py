"""The files that nmt document is given: names, patterns and folders."""

import sys
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from nmt.commands.shell.streams import is_standard
from nmt.documents.files import read_bytes
from nmt.documents.registry import by_name_of_file, document_format
from nmt.errors import ConfigError, DataError

_TO_BE_NAMED = (".pdf", ".csv", ".tsv")  # endings of files that are not looked for in folders


class Input(NamedTuple):
    """A file, and its name below the folder that the pattern begins with."""

    path: Path | None  # None: stdin
    relative: Path

    @property
    def place(self) -> str:
        """What it is called in messages."""
        return "stdin" if self.path is None else str(self.path)

    def data(self) -> bytes:
        """Its bytes. Raises DataError if it cannot be read."""
        return sys.stdin.buffer.read() if self.path is None else read_bytes(self.path)


def inputs_of(names: list[str]) -> list[Input]:
    """The files of all names, each once. Raises DataError where there are none, ConfigError for a second stdin."""
    if not names and sys.stdin.isatty():
        raise ConfigError("command line: no file; give nmt document FILE, or pipe one into it")
    if not names:
        return [Input(None, Path("stdin"))]
    found: dict[Path | None, Input] = {}
    for name in names:
        for each in _of_name(name):
            found.setdefault(each.path, each)
    return list(found.values())


def _of_name(name: str) -> list[Input]:
    path = Path(name).expanduser()
    if is_standard(path):
        return [Input(None, Path("stdin"))]
    if path.is_dir():
        return _within(path)
    if has_magic(name) and not path.exists():
        return _matching(name)
    return [Input(path, Path(path.name))]


def _within(folder: Path) -> list[Input]:
    """The files of a folder, and of those in it, whose names say that they are documents."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    known = [path for path in files if _is_document(path) and not _is_hidden(path, folder)]
    if not known:
        raise DataError(f"{folder}: no file in it has a name of a known format")
    return [Input(path, path.relative_to(folder)) for path in known]


def _is_document(path: Path) -> bool:
    """Whether a name alone tells that a file is a document; most tables are none."""
    if path.suffix == ".xml":
        return document_format(path) is not None
    return path.suffix not in _TO_BE_NAMED and by_name_of_file(path) is not None


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _matching(pattern: str) -> list[Input]:
    files = [Path(name) for name in sorted(glob(pattern, recursive=True))]  # noqa: PTH207
    files = [path for path in files if path.is_file()]
    if not files:
        raise DataError(
            f"{pattern}: no file has such a name (relative paths start at {Path.cwd()})"
        )
    fixed = Path(*_fixed_parts(pattern))
    return [Input(path, path.relative_to(fixed)) for path in files]


def _fixed_parts(pattern: str) -> list[str]:
    """The folders of a pattern before its first wildcard."""
    parts = []
    for part in Path(pattern).parts[:-1]:
        if has_magic(part):
            break
        parts.append(part)
    return parts


def refuse_same_targets(inputs: list[Input], folder: Path) -> None:
    """Raise ConfigError for two files that would be written to one, and for one that would be written over itself."""
    by_target: dict[Path, Input] = {}
    for each in inputs:
        if each.path is None:
            raise ConfigError("command line: --output-dir needs files")
        target = folder / each.relative
        other = by_target.setdefault(target, each)
        if other is not each:
            fix = "give a pattern or folder above both"
            raise ConfigError(f"{other.place} and {each.place}: would both be {target}; {fix}")
        if target.exists() and target.samefile(each.path):
            raise ConfigError(f"{target}: is the input; name another --output-dir")
