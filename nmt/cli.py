"""The command line: assembles the commands, and turns every foreseen error into one line and an exit code."""

import os
import signal
import sys
from typing import Annotated, Any

import typer
import typer.core

from nmt import __version__
from nmt.commands.build_vocab import build_vocab
from nmt.commands.evaluate import evaluate
from nmt.commands.prepare import prepare
from nmt.commands.streams import LastingStream, printable, say
from nmt.commands.train import train
from nmt.commands.translate import translate
from nmt.commands.typography import typography
from nmt.errors import UserError


class Commands(typer.core.TyperGroup):
    """Runs a command and exits as README's table of exit codes says."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error that a user can fix is one line on stderr."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            for line in str(error).splitlines():
                say(f"nmt: {printable(line)}")
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:  # whoever read our output has gone: nobody is left to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(128 + signal.SIGPIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(128 + signal.SIGINT) from None
        except OSError as error:
            say(f"nmt: {error.filename or 'input or output'}: {error.strerror or error}")
            raise typer.Exit(1) from None


app = typer.Typer(
    name="nmt",
    cls=Commands,
    help="English→Chinese machine translation: train on your corpora, translate, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("prepare")(prepare)
app.command("build-vocab")(build_vocab)
app.command("train")(train)
app.command("translate")(translate)
app.command("typography")(typography)
app.command("evaluate")(evaluate)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        print(f"nmt {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    # oneDNN keeps compiled kernels by shape; torch's default of 1024 is too few for the batches of one epoch.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")
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
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
