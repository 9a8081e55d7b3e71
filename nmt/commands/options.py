"""The options of the commands, each in one place."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def _option(explained: str, *names: str, kind: str | None = None) -> Any:
    """One of `kind`, such as FILE; its names, where they are not the parameter's."""
    return typer.Option(*names, metavar=kind, help=explained)


def _settings(explained: str) -> Any:
    return typer.Argument(metavar="KEY=VALUE", help=explained)


Config = Annotated[
    Path | None, _option("Settings; see configs/reference.yaml.", "--config", "-c", kind="FILE")
]
Overrides = Annotated[
    list[str] | None, _settings("Settings over the file's, such as train.updates=500.")
]
SearchOverrides = Annotated[
    list[str] | None, _settings("Settings over the run's, such as search.beam_size=10.")
]
MaxBytes = Annotated[int | None, _option("Bytes of each .gz, unzipped; more is refused.")]
Overwrite = Annotated[
    bool, _option("Delete checkpoints that the run folder holds, and start anew.", "--overwrite")
]
Model = Annotated[
    Path | None,
    _option(
        "Run folder; default: --config's, $NMT_MODEL, or the last trained.",
        "--model",
        "-m",
        kind="DIR",
    ),
]
Precision = Annotated[str, _option("auto, fp32, bf16 or fp16.")]
Device = Annotated[str, _option("auto, cpu, mps, cuda or cuda:N.")]
Quiet = Annotated[bool, _option("Say nothing on stderr but warnings and errors.", "--quiet", "-q")]
QuietTable = Annotated[bool, _option("Print no table: for gates and the history.", "--quiet", "-q")]
OutputFormat = Annotated[
    Literal["text", "jsonl", "scores"], _option("What to write for each line.", "--format")
]
BeamSize = Annotated[int | None, _option("Hypotheses kept at each step; 1: greedy search.")]
NBest = Annotated[int | None, _option("Translations of each line, with jsonl or scores.")]
LengthPenalty = Annotated[float | None, _option("0: none; more favours longer translations.")]
MaxLength = Annotated[int | None, _option("Tokens of a translation at the most.")]
Typography = Annotated[
    str | None, _option("Spaces between Han and Latin: keep, none, space; off: mend nothing.")
]
Verify = Annotated[
    str | None,
    _option("off; flag: tell of lost numbers, loops …; retry: look for a better one first."),
]
BatchTokens = Annotated[int | None, _option("Padded source tokens translated at once.")]
Source = Annotated[Path | None, _option("Source text; default: the run's test split.", kind="FILE")]
Reference = Annotated[Path | None, _option("Reference translations, line for line.", kind="FILE")]
Hypothesis = Annotated[
    Path | None, _option("Translations to score instead of a model's.", kind="FILE")
]
Baseline = Annotated[
    Path | None, _option("Another system's translations, to compare with.", kind="FILE")
]
Output = Annotated[
    Path | None, _option("Where to write the translations, whole or not at all.", kind="FILE")
]
Resume = Annotated[bool, _option("Go on where an interrupted --output stopped.", "--resume")]
Invalid = Annotated[
    Literal["error", "replace"], _option("Bytes that are not UTF-8: error, or replace by U+FFFD.")
]
OverwriteOutput = Annotated[
    bool, _option("Replace the --output file if it is there.", "--overwrite")
]
AsJson = Annotated[bool, _option("Write JSON.", "--json")]
FailUnder = Annotated[list[str] | None, _option("Exit 4 below X; repeatable.", kind="METRIC=X")]
FailBelow = Annotated[
    bool, _option("Exit 4 if significantly worse than --baseline.", "--fail-below-baseline")
]
History = Annotated[Path | None, _option("Append the result here, a line of JSON.", kind="FILE")]
Check = Annotated[
    bool, _option("Write line:column: what to mend, and exit 4 if there is any.", "--check")
]
Spacing = Annotated[Literal["keep", "none", "space"], _option("Between Han and Latin or digits.")]
