"""The command line: assembles the commands, and turns every foreseen error into one line and an exit code."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
import typer.core

from nmt.commands.build_vocab import build_vocab
from nmt.commands.doctor import doctor
from nmt.commands.document import document
from nmt.commands.evaluate import evaluate
from nmt.commands.export import export
from nmt.commands.glossary import glossary
from nmt.commands.import_model import import_model
from nmt.commands.info import info
from nmt.commands.prepare import prepare
from nmt.commands.report import report
from nmt.commands.score import score
from nmt.commands.serve import serve
from nmt.commands.shell.streams import LastingStream, flush, printable, put, say
from nmt.commands.shell.usage import Command, describe
from nmt.commands.train import train
from nmt.commands.translate import translate
from nmt.commands.typography import typography
from nmt.errors import ConfigError, UserError


class Commands(typer.core.TyperGroup):
    """Runs a command and exits as docs/reference/files.md says."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; `nmt help train` is `nmt train --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        with _one_line():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    """Make an error that a user can fix one line on stderr, and an exit code."""
    try:
        try:
            yield
        finally:
            flush()  # a failure to write is an error here; at exit it would be a traceback
    except UserError as error:
        for line in error.lines:
            say(f"nmt: {printable(line)}")
        raise typer.Exit(error.exit_code) from None
    except typer.TyperException as error:
        say(f"nmt: {printable(describe(error))}")
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:  # whoever read our output has gone: nobody is left to tell
        raise typer.Exit(128 + signal.SIGPIPE) from None
    except KeyboardInterrupt:
        raise typer.Exit(128 + signal.SIGINT) from None
    except OSError as error:
        right = "; check its permissions" if isinstance(error, PermissionError) else ""
        say(f"nmt: {error.filename or 'stdout or a file'}: {error.strerror or error}{right}")
        raise typer.Exit(1) from None


app = typer.Typer(
    name="nmt",
    cls=Commands,
    help="English→Chinese machine translation: train on your corpora, translate, evaluate.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = {
    "prepare": prepare,
    "build-vocab": build_vocab,
    "train": train,
    "translate": translate,
    "document": document,
    "glossary": glossary,
    "typography": typography,
    "evaluate": evaluate,
    "info": info,
    "report": report,
    "score": score,
    "serve": serve,
    "export": export,
    "import": import_model,
    "doctor": doctor,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=Command)(_command)  # type: ignore[type-var]


@app.callback(invoke_without_command=True)
def _top(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show versions, and what translates.")
    ] = False,
) -> None:
    if version:
        from nmt.report.machine import version_line

        put(f"{version_line()}\n")
    elif ctx.invoked_subcommand is None:
        say(ctx.get_help())
        raise typer.Exit(ConfigError.exit_code)


def main() -> None:
    """Run the command line."""
    _open_closed_streams()
    sys.stderr = LastingStream(sys.stderr)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n", errors="backslashreplace")  # type: ignore[union-attr]
    app()


def _open_closed_streams() -> None:
    """Put /dev/null in the place of a standard stream that was closed, as some launchers do.

    Otherwise the next file that is opened would take its number, and receive what was meant for the stream.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            # Results that nobody can receive are an error: what is only open for reading refuses them.
            access = os.O_RDONLY if name == "stdout" else os.O_RDWR
            null = os.open(os.devnull, access)
            os.dup2(null, number)
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
