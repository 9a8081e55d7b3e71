"""The files that a command will write, looked at before the work begins."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nmt.commands.shell.streams import is_standard
from nmt.errors import ConfigError


def refuse_output(
    output: Path | None, overwrite: bool, resume: bool = False, inputs: Sequence[Path | None] = ()
) -> None:
    """Raise ConfigError for an --output that could not be written when the work is done, or would replace an input.

    Or that could not be read again, since what is named .gz is unzipped. None among the `inputs` is stdin.
    """
    if output is None or is_standard(output):
        if resume:
            raise ConfigError("--resume needs --output FILE; what went into a pipe is gone")
        if overwrite:
            raise ConfigError("--overwrite needs --output FILE; nothing else is replaced")
        return
    _refuse_unwritable(output)
    if output.suffix == ".gz":
        fix = f"name {output.with_suffix('')} and compress that, or pipe into gzip"
        raise ConfigError(f"{output}: would not be compressed; {fix}")
    if output.is_symlink():
        message = f"a link to {output.readlink()}, and would be replaced by a file"
        raise ConfigError(f"{output}: is {message}; name that file, or leave the option out")
    if output.exists() and any(_is_same(output, path) for path in inputs):
        raise ConfigError(f"{output}: is the input; name another file")
    if output.exists() and not overwrite:
        raise ConfigError(f"{output}: exists already; name another file, or --overwrite it")
    if not os.access(output.parent, os.W_OK):
        raise ConfigError(f"{output}: its folder cannot be written to; name another file")


def refuse_history(history: Path | None) -> None:
    """Raise ConfigError for a history to which no line could be appended when the work is done."""
    if history is None:
        return
    if is_standard(history):
        raise ConfigError("--history needs a file; --json prints the result")
    _refuse_unwritable(history)
    written = history if history.exists() else history.parent
    if not os.access(written, os.W_OK):
        raise ConfigError(f"{history}: cannot be written to; name another file")


def _is_same(output: Path, source: Path | None) -> bool:
    try:
        status = (
            os.fstat(sys.stdin.fileno()) if source is None or is_standard(source) else source.stat()
        )
    except (OSError, ValueError):
        return False  # stdin is closed; the error comes elsewhere
    return os.path.samestat(output.stat(), status)


def _refuse_unwritable(path: Path) -> None:
    """Raise ConfigError where there is no folder for a file, or where it would replace what is no file."""
    folder = path.parent
    if not folder.exists():
        raise ConfigError(f"{path}: there is no folder {folder}; make it with mkdir -p {folder}")
    if not folder.is_dir():
        raise ConfigError(f"{path}: {folder} is a file, not a folder; name another file")
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; name a file, such as {path / 'out.zh'}")
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: is a device or a pipe; name a file, or leave the option out")
