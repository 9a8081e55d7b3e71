"""The commands. The only module that reads stdin, prints to stdout or exits; a stage is imported inside its command."""

import json
import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from nmt import __version__
from nmt.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nmt.translate.translator import Translation



class Commands(typer.core.TyperGroup):
    """Runs a command; every foreseen error becomes one line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run, and exit as README's table of exit codes says."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            for line in str(error).splitlines():
                say(f"nmt: {line}")
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
    help="English→Chinese machine translation: prepare, build-vocab, train, translate, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="A configuration (YAML); see configs/reference.yaml.")
]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings over the file's, such as train.updates=500.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Delete the checkpoints of another configuration in the run folder.")
]
ModelOption = Annotated[
    Path | None, typer.Option("--model", "-m", metavar="DIR", help="A run folder; default: --config's, $NMT_MODEL, the last trained.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]


class Format(StrEnum):
    """What `translate` writes for a line."""

    text = "text"
    jsonl = "jsonl"
    scores = "scores"


def say(text: str) -> None:
    """Tell people: stderr, so that stdout holds only results."""
    print(text, file=sys.stderr, flush=True)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        print(f"nmt {__version__}")
        raise typer.Exit


@app.command()
def prepare(config: ConfigOption = None, overrides: Overrides = None, overwrite: Overwrite = False) -> None:
    """Corpora → clean train, dev and test text, and a report of what was dropped."""
    from nmt.config import load_config
    from nmt.stages import claim, run_prepare

    settings = load_config(config, overrides)
    run_prepare(settings, claim(settings, overwrite), say)


@app.command()
def build_vocab(config: ConfigOption = None, overrides: Overrides = None, overwrite: Overwrite = False) -> None:
    """Clean text → vocabularies and encoded pairs; runs prepare first if it is due."""
    from nmt.config import load_config
    from nmt.stages import claim, ensure_prepared, run_build_vocab

    settings = load_config(config, overrides)
    run = claim(settings, overwrite)
    ensure_prepared(settings, run, say)
    run_build_vocab(settings, run, say)


@app.command()
def train(config: ConfigOption = None, overrides: Overrides = None, overwrite: Overwrite = False) -> None:
    """Train a model, from its last checkpoint if it has one; runs prepare and build-vocab first if they are due."""
    from nmt import stages
    from nmt.config import load_config
    from nmt.run_dir import RunDir
    from nmt.train.distributed import world
    from nmt.train.trainer import Trainer

    settings = load_config(config, overrides)
    with world(settings.train.device) as processes:
        run = RunDir(Path(settings.run_dir))
        if processes.leads:
            stages.claim(settings, overwrite)
            stages.ensure_prepared(settings, run, say)
            stages.ensure_vocabularies(settings, run, say)
            stages.remember(run)
        processes.wait()
        Trainer(settings, run, processes).train()


def main() -> None:
    """Run the command line."""
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    app()


if __name__ == "__main__":
    main()
