"""The options of the commands, each in one place."""

from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class InvalidBytes(Enum):
    """What becomes of bytes that are not UTF-8."""

    error = "error"
    replace = "replace"


class Format(StrEnum):
    """What `translate` writes for a line."""

    text = "text"
    jsonl = "jsonl"
    scores = "scores"


def _path(kind: str, explained: str, *names: str) -> Any:
    return typer.Option(*names, metavar=kind, help=explained)


ConfigFile = Annotated[
    Path | None, _path("FILE", "Configuration (YAML); see configs/reference.yaml.", "--config", "-c")
]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Settings over the file's, such as train.updates=500.")
]
SearchOverrides = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Settings over the run's, such as search.beam_size=10.")
]
MaxBytes = Annotated[int | None, typer.Option(help="Bytes of each .gz, unzipped; more is refused.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Delete checkpoints that the run folder holds, and start anew.")
]
Model = Annotated[
    Path | None, _path("DIR", "Run folder; default: --config's, $NMT_MODEL, or the last trained.", "--model", "-m")
]
Precision = Annotated[str, typer.Option(help="auto, fp32, bf16 or fp16.")]
Device = Annotated[str, typer.Option(help="auto, cpu, mps, cuda or cuda:N.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but warnings and errors.")]
QuietTable = Annotated[bool, typer.Option("--quiet", "-q", help="Print no table: for gates and the history.")]
OutputFormat = Annotated[Format, typer.Option("--format", help="What to write for each line.")]
BeamSize = Annotated[int | None, typer.Option(help="Hypotheses kept at each step; 1: greedy search.")]
NBest = Annotated[int | None, typer.Option(help="Translations of each line, with jsonl or scores.")]
LengthPenalty = Annotated[float | None, typer.Option(help="0: none; more favours longer translations.")]
MaxLength = Annotated[int | None, typer.Option(help="Tokens of a translation at the most.")]
Typography = Annotated[
    str | None, typer.Option(help="Spaces between Han and Latin (keep, none, space); off: leave punctuation too.")
]
Verify = Annotated[
    str | None, typer.Option(help="off; flag: tell of lost numbers, loops …; retry: look for a better one first.")
]
BatchTokens = Annotated[int | None, typer.Option(help="Padded source tokens translated at once.")]
Source = Annotated[Path | None, _path("FILE", "Source text; default: the run's test split.")]
Reference = Annotated[Path | None, _path("FILE", "Reference translations, line for line.")]
Hypothesis = Annotated[Path | None, _path("FILE", "Translations to score instead of a model's.")]
Baseline = Annotated[Path | None, _path("FILE", "Another system's translations, to compare with.")]
Output = Annotated[Path | None, _path("FILE", "Where to write the translations, whole or not at all.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an interrupted --output stopped.")]
Invalid = Annotated[InvalidBytes, typer.Option(help="Bytes that are not UTF-8: error, or replace by U+FFFD.")]
OverwriteOutput = Annotated[bool, typer.Option("--overwrite", help="Replace the --output file if it is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
FailUnder = Annotated[list[str] | None, typer.Option(metavar="METRIC=X", help="Exit 4 below X; repeatable.")]
FailBelow = Annotated[
    bool, typer.Option("--fail-below-baseline", help="Exit 4 if significantly worse than --baseline.")
]
History = Annotated[Path | None, _path("FILE", "Append the result here, a line of JSON.")]
Check = Annotated[bool, typer.Option("--check", help="Write line:column: what to mend, and exit 4 if there is any.")]
Spacing = Annotated[str, typer.Option(help="Between Han and Latin or digits: keep, none or space.")]
