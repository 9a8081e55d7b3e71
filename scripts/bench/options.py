"""What scripts that train have in common on their command lines."""

from pathlib import Path
from typing import Annotated

import typer

from nmt.config.load import load_config
from nmt.config.schema import Config

TATOEBA = Path(__file__).resolve().parents[2] / "configs/tatoeba.yaml"

Overrides = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...")]
What = Annotated[Path, typer.Option("--config", help="What is trained.")]
CurveFile = Annotated[Path | None, typer.Option("--json", help="Write the curve here as JSON.")]


def settings_of(what: Path, overrides: list[str] | None, run: Path) -> Config:
    """A configuration, what the command line changes in it, and its run folder. Raises UserError."""
    return load_config(what, [*(overrides or []), f"run_dir={run}"])
