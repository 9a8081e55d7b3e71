"""Options that several commands have. An option of one command is in that command's file."""

import json
from collections.abc import Mapping
from os.path import expanduser
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nmt.errors import ConfigError


def path_of(text: str) -> Path:
    """The path that an option names, with ~ as the home folder: a shell leaves it in --output=~/out.zh.

    Raises ValueError, which the command line tells in the option's name, for "": Python takes it for this folder.
    """
    if not text:
        raise ValueError("'' is not a path; name a file or a folder")
    return Path(expanduser(text))  # noqa: PTH111 - Path's raises for ~nobody


def option(metavar: str, meaning: str, *names: str, envvar: str | None = None) -> Any:
    """An option with a value; `names` are those on the command line, if they are not the parameter's."""
    return typer.Option(*names, metavar=metavar, help=meaning, envvar=envvar)


def path_option(metavar: str, meaning: str, *names: str) -> Any:
    """An option whose value is a path."""
    return typer.Option(*names, metavar=metavar, parser=path_of, help=meaning)


def argument(metavar: str, meaning: str, parser: Any = None) -> Any:
    """A value without an option's name."""
    # Command shows it in the help, without its type.
    return typer.Argument(metavar=metavar, parser=parser, help=meaning, hidden=True)


def path_argument(metavar: str, meaning: str) -> Any:
    """An argument that is a path."""
    return argument(metavar, meaning, parser=path_of)


def flag(meaning: str, *names: str) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=meaning)


ConfigFile = Annotated[
    Path | None,
    path_option("FILE", "Settings in YAML, such as configs/tatoeba.yaml.", "--config", "-c"),
]
Overrides = Annotated[
    list[str] | None,
    argument("KEY=VALUE", "Settings that override the file's, such as train.updates=500."),
]
SearchOverrides = Annotated[
    list[str] | None,
    argument("KEY=VALUE", "Settings that override the run's, such as search.beam_size=10."),
]
InputFile = Annotated[
    Path | None, path_option("FILE", "Text, plain or .gz; default: stdin.", "--input", "-i")
]
MaxBytes = Annotated[str | None, option("N", "Limit for each .gz file, in unzipped bytes.")]
OverwriteRun = Annotated[
    bool, flag("Delete the checkpoints in the run folder and start again.", "--overwrite")
]
Model = Annotated[
    Path | None,
    path_option(
        "DIR",
        "Run folder, or one of its checkpoints; default: the run of --config, $NMT_MODEL, "
        "the last trained run, or pretrained, which comes with nmt.",
        "--model",
        "-m",
    ),
]
Ensemble = Annotated[
    list[Path] | None,
    path_option(
        "DIR",
        "Another run or checkpoint; the probabilities of all models are averaged. Repeatable.",
    ),
]
Memory = Annotated[
    Path | None,
    path_option(
        "FILE",
        "Sentence pairs that influence the words: a .tsv or .jsonl file, or a run folder.",
    ),
]
Glossary = Annotated[
    list[Path] | None,
    path_option(
        "FILE",
        "Terms that are translated so each time: source, tab, target; also .csv, .tbx, .po. Repeatable.",
    ),
]
BeamSize = Annotated[str | None, option("N", "Hypotheses kept at each step; 1: greedy search.")]
Typography = Annotated[
    Literal["off", "keep", "none", "space"] | None,
    option(
        "[off|keep|none|space]",
        "Spaces between Chinese and Latin text; off: do not change punctuation either.",
    ),
]
Verify = Annotated[
    Literal["off", "flag", "retry"] | None,
    option(
        "[off|flag|retry]",
        "flag: warn of lost numbers, loops and other faults; retry: avoid them.",
    ),
]
Engine = Annotated[
    Literal["auto", "torch", "ctranslate2", "fxtranslate"],
    option(
        "[auto|torch|ctranslate2|fxtranslate]",
        "The library that computes; ctranslate2 (if installed) starts faster, and so does fxtranslate, which runs "
        "imported models of Firefox Translations.",
        envvar="NMT_ENGINE",
    ),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16", "fp16", "int8"],
    option(
        "[auto|fp32|bf16|fp16|int8]",
        "Number format of the computation; int8 only with --engine ctranslate2 or fxtranslate.",
    ),
]
Device = Annotated[str, option("DEVICE", "auto, cpu, mps, cuda or cuda:N.")]
OutputFile = Annotated[
    Path | None,
    path_option(
        "FILE", "Write the result here; the file appears whole or not at all.", "--output", "-o"
    ),
]
OverwriteOutput = Annotated[bool, flag("Replace the output if it exists.", "--overwrite")]
InvalidBytes = Annotated[
    Literal["error", "replace"],
    option(
        "[error|replace]",
        "Bytes that are not UTF-8: stop with an error, or replace each by U+FFFD.",
        "--invalid",
    ),
]
SegmentScores = Annotated[
    list[str] | None,
    option(
        "NAME=FILE",
        "Scores of each line by another program, such as COMET: a column per system; repeatable.",
    ),
]
LowerIsBetter = Annotated[
    list[str] | None, option("NAME", "Segment scores for which lower is better; repeatable.")
]
References = Annotated[
    list[Path] | None,
    path_option("FILE", "Reference translations, line for line; repeatable.", "--ref"),
]
AsJson = Annotated[bool, flag("Print JSON.", "--json")]
NotedScores = Annotated[
    Path | None, path_option("FILE", "Scores that nmt evaluate --history has written.")
]
Quiet = Annotated[bool, flag("Print nothing on stderr but warnings and errors.", "--quiet", "-q")]
Ray = Annotated[
    str | None,
    option(
        "[local|auto|HOST:PORT]",
        "Work on Ray: on this machine's cores (local), on the cluster that runs on it (auto), "
        "or on the one at an address; needs the package ray.",
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
        if value is None or value == []:
            continue
        option = f"--{name.replace('_', '-')}"
        setting = f"{section}.{name}"
        # A setting's value is YAML, in which a path may be something else.
        text = _as_yaml(value)
        check_option(option, setting, text)
        for override in overrides or []:
            if override.startswith(f"{setting}="):
                message = f"{option} {value} and {override} set the same thing; give one of them"
                raise ConfigError(f"command line: {message}")
        settings.append(f"{setting}={text}")
    return settings


def _as_yaml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_as_yaml, value))}]"
    return json.dumps(str(value), ensure_ascii=False) if isinstance(value, Path) else str(value)


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
            is_file = Path(override).is_file()
            problem = "is a file" if is_file else "is not a setting (KEY=VALUE)"
            message = f"'{override}' {problem}; {files}"
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
