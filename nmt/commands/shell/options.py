"""Options that several commands have. An option of one command stands in that command's file."""

import json
from collections.abc import Mapping
from os.path import expanduser
from pathlib import Path
from typing import Annotated, Literal

import typer

from nmt.errors import ConfigError


def path_of(text: str) -> Path:
    """The path that an option names, with ~ as the home folder: a shell leaves it in --output=~/out.zh.

    Raises ValueError, which the command line tells in the option's name, for "": Python takes it for this folder.
    """
    if not text:
        raise ValueError("'' is no path; name a file or a folder")
    return Path(expanduser(text))  # noqa: PTH111 - Path's raises for ~nobody


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        parser=path_of,
        help="Settings; see configs/reference.yaml.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings that override the file's, such as train.updates=500.",
        hidden=True,  # Command shows it, without its type
    ),
]
SearchOverrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings that override the run's, such as search.beam_size=10.",
        hidden=True,
    ),
]
InputFile = Annotated[
    Path | None,
    typer.Option(
        "--input",
        "-i",
        metavar="FILE",
        parser=path_of,
        help="Text, plain or .gz; default: stdin.",
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(metavar="N", help="Unzipped bytes of each .gz file; a larger one is refused."),
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
        parser=path_of,
        help="Run folder, or one of its checkpoints; default: the run of --config, $NMT_MODEL, "
        "the last trained run, or pretrained, which comes with nmt.",
    ),
]
Ensemble = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        parser=path_of,
        help="Another run, or checkpoint: the probabilities of all models are averaged; one --ensemble for each.",
    ),
]
Memory = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=path_of,
        help="Pairs that have a say in each word: a .tsv or .jsonl file, or the folder of a trained run.",
    ),
]
BeamSize = Annotated[
    str | None,
    typer.Option(metavar="N", help="Hypotheses kept at each step; 1: greedy search."),
]
Typography = Annotated[
    Literal["off", "keep", "none", "space"] | None,
    typer.Option(
        metavar="[off|keep|none|space]",
        help="Spaces between Han and Latin; off: leave punctuation as it is, too.",
    ),
]
Verify = Annotated[
    Literal["off", "flag", "retry"] | None,
    typer.Option(
        metavar="[off|flag|retry]",
        help="Warn of lost numbers, loops …; retry: first look for a better translation.",
    ),
]
Engine = Annotated[
    Literal["auto", "torch", "ctranslate2"],
    typer.Option(
        metavar="[auto|torch|ctranslate2]",
        envvar="NMT_ENGINE",
        help="What computes; ctranslate2 starts faster, and needs nmt[ctranslate2].",
    ),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16", "fp16", "int8"],
    typer.Option(
        metavar="[auto|fp32|bf16|fp16|int8]",
        help="How exactly to compute; int8 with --engine ctranslate2.",
    ),
]
Device = Annotated[
    str,
    typer.Option(metavar="DEVICE", help="auto, cpu, mps, cuda or cuda:N."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        parser=path_of,
        help="Write the result here; the file appears whole or not at all.",
    ),
]
OverwriteOutput = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace the output if it exists."),
]
InvalidBytes = Annotated[
    Literal["error", "replace"],
    typer.Option(
        "--invalid",
        metavar="[error|replace]",
        help="Bytes that are not UTF-8: stop, or take each as U+FFFD.",
    ),
]
SegmentScores = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=FILE",
        help="Scores of each line from elsewhere, such as COMET's: one column for each system; repeatable.",
    ),
]
LowerIsBetter = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Segment scores of which a lower one is better; repeatable."),
]
NotedScores = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=path_of,
        help="Scores that nmt evaluate --history has written.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing on stderr but warnings and errors."),
]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="[local|auto|HOST:PORT]",
        help="Work on Ray: on this machine's cores (local), on the cluster that runs on it (auto), "
        "or on the one at an address; needs nmt[ray].",
    ),
]


def with_options(
    overrides: list[str] | None, section: str, options: Mapping[str, object]
) -> list[str]:
    """The overrides, and after them as `section.name=value` the options that were given (not None).

    Raises ConfigError for an option's value that its setting does not take, or for a setting given both ways.
    """
    settings = list(overrides or [])
    for name, value in options.items():
        if value is None:
            continue
        option = f"--{name.replace('_', '-')}"
        setting = f"{section}.{name}"
        # A setting's value is YAML, in which a path may be something else.
        text = json.dumps(str(value), ensure_ascii=False) if isinstance(value, Path) else str(value)
        check_option(option, setting, text)
        for override in overrides or []:
            if override.startswith(f"{setting}="):
                message = f"{option} {value} and {override} say the same setting; give one"
                raise ConfigError(f"command line: {message}")
        settings.append(f"{setting}={text}")
    return settings


def check_option(option: str, setting: str, value: str) -> None:
    """Raise ConfigError, in the option's name, for a value that the setting does not take."""
    from nmt.config.load import refusal

    message = refusal(setting, value)
    if message is not None:
        raise ConfigError(f"command line: {option} {value or repr(value)}: {message}")


def refuse_strange_overrides(overrides: list[str], sections: tuple[str, ...], files: str) -> None:
    """Raise ConfigError for what is no setting of a trained run's `sections`; `files` says how a file is given."""
    from nmt.config.load import unknown_setting

    for override in overrides:
        name, equals, _value = override.partition("=")
        if not equals:
            message = f"'{override}' is not of the form KEY=VALUE; {files}"
            raise ConfigError(f"command line: {message}")
        unknown = unknown_setting(name)
        if unknown is not None:
            raise ConfigError(f"command line: {unknown}")
        if name in sections:
            message = f"'{name}' is a section; name a setting in it"
            raise ConfigError(f"command line: {override}: {message}")
        if name.partition(".")[0] not in (*sections, "run_dir"):
            takes = " and ".join(f"{section}.*" for section in sections)
            raise ConfigError(f"command line: {override}: a trained model takes only {takes}")
