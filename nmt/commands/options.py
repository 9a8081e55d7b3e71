"""Options that several commands have. An option of one command stands in that command's file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="Settings; see configs/reference.yaml.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings that override the file's, such as train.updates=500.",
    ),
]
SearchOverrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings that override the run's, such as search.beam_size=10.",
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option(help="Unzipped bytes of each .gz file; a larger one is refused."),
]
OverwriteRun = Annotated[
    bool,
    typer.Option("--overwrite", help="Delete the checkpoints in the run folder and start anew."),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="DIR",
        help="Run folder, or one of its checkpoints; "
        "default: the run of --config, $NMT_MODEL, or the last trained run.",
    ),
]
Precision = Annotated[str, typer.Option(help="auto, fp32, bf16 or fp16.")]
Device = Annotated[str, typer.Option(help="auto, cpu, mps, cuda or cuda:N.")]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write the translations here; the file appears whole or not at all.",
    ),
]
OverwriteOutput = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace the --output file if it exists."),
]


def with_options(
    overrides: list[str] | None, section: str, options: Mapping[str, object]
) -> list[str]:
    """The overrides, and after them as `section.name=value` the options that were given (not None)."""
    given = [f"{section}.{name}={value}" for name, value in options.items() if value is not None]
    return [*(overrides or []), *given]
