"""nmt info: what a run is, in one screen, as JSON, or as a model card."""

import json
from pathlib import Path
from typing import Annotated

from nmt.commands.shell import options
from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import is_standard, printable, put, refuse_unreadable, warn
from nmt.commands.shell.trained_run import find_run
from nmt.errors import ConfigError, ModelError
from nmt.files import readable_or

Run = Annotated[
    Path | None,
    options.path_argument(
        "[RUN|FILE]",
        "Run folder, one of its checkpoints, or a file in it; default: as for nmt translate.",
    ),
]
Card = Annotated[bool, options.flag("Print a model card in Markdown.", "--card")]


def info(
    run: Run = None,
    as_json: options.AsJson = False,
    card: Card = False,
    history: options.NotedScores = None,
    output: options.OutputFile = None,
    overwrite: options.OverwriteOutput = False,
    quiet: options.Quiet = False,  # for scripts that give it to every command: there is nothing to silence
) -> None:
    """Say what a run is: model, data, licences, scores, size."""
    if as_json and card:
        raise ConfigError("command line: --json and --card are two outputs; give one")
    refuse_unreadable(history)
    refuse_output(output, overwrite, inputs=[history] if history else [])
    with readable_or(ModelError):
        folder = None if run is None else _folder_of(run)
    settings, found = find_run(folder, None, [])

    from nmt.report.run.card import model_card
    from nmt.report.run.facts import read_facts
    from nmt.report.run.facts_text import facts_lines

    facts = read_facts(settings, found, history, warn)
    if as_json:
        text = json.dumps(facts.as_json(), ensure_ascii=False, indent=2) + "\n"
    elif card:
        text = model_card(facts)
    else:
        text = "".join(f"{printable(line)}\n" for line in facts_lines(facts))
    _write(text, output)


def _folder_of(path: Path) -> Path:
    """The run or checkpoint that a path means: itself, or the folder that a file lies in."""
    if not path.is_file():
        return path
    for folder in path.absolute().parents[:3]:
        if (folder / "config.yaml").is_file():
            is_in_checkpoint = path.absolute().parent.parent == folder / "checkpoints"
            return path.absolute().parent if is_in_checkpoint else folder
    message = "neither a run folder nor a file in one (no config.yaml beside it)"
    raise ModelError(f"{path}: {message}; name a run folder")


def _write(text: str, output: Path | None) -> None:
    from nmt.files import write_text

    if output is None or is_standard(output):
        put(text)
    else:
        write_text(output, text)
