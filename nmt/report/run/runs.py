"""What a page shows of runs: facts, curves, the ledger of prepare, examples, and how settings differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from nmt.config.load import dump
from nmt.config.schema import Config
from nmt.corpus.reading.lines import read_lines
from nmt.errors import Say, UserError
from nmt.report.run.curves import Course, read_course
from nmt.report.run.facts import RunFacts, read_facts
from nmt.report.run.run_files import Record, counts, report_of, section
from nmt.run.folder import CHECKPOINT, RunDir

EXAMPLES = 4
_STAGES = 6  # translations that are shown of an example


@dataclass(frozen=True)
class Step:
    """A step of the funnel from what was read to what is trained on."""

    name: str
    kind: str  # "left", "dropped" or "added"
    pairs: int


@dataclass(frozen=True)
class Example:
    """A sentence of dev, and how the checkpoints translate it, the oldest first."""

    line: int
    source: str
    reference: str
    translations: list[tuple[str, str]]  # a checkpoint's name, and what it wrote


@dataclass(frozen=True)
class RunPart:
    """A run on a page."""

    name: str
    facts: RunFacts
    course: Course
    funnel: list[Step]
    examples: list[Example]


@dataclass(frozen=True)
class Difference:
    """A setting in which runs differ, with the value of each."""

    setting: str
    values: list[str]


def read_runs(
    found: Sequence[tuple[Config, RunDir]], history: Path | None, warn: Say
) -> list[RunPart]:
    """All that a page shows of some runs. Raises ModelError for a damaged checkpoint."""
    names = run_names([run.path for _, run in found])
    return [
        _read_run(name, config, run, history, warn)
        for name, (config, run) in zip(names, found, strict=True)
    ]


def run_names(paths: Sequence[Path]) -> list[str]:
    """The last parts of paths, as many as it takes to tell them apart."""
    most = max(len(path.absolute().parts) for path in paths)
    for length in range(1, most + 1):
        names = ["/".join(path.absolute().parts[-length:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return names


def _read_run(name: str, config: Config, run: RunDir, history: Path | None, warn: Say) -> RunPart:
    prepared = report_of(run.prepare_report)
    return RunPart(
        name=name,
        facts=read_facts(config, run, history, warn),
        course=read_course(run, warn),
        funnel=funnel_of(prepared),
        examples=read_examples(config, run),
    )


# --- the ledger ---


def funnel_of(prepared: Record) -> list[Step]:
    """How the pairs that were read became those that are trained on; empty where nothing was prepared."""
    total = section(prepared, "totals")
    numbers = counts(prepared, "totals")
    if not numbers.get("read"):
        return []
    left = numbers["read"]
    steps = [Step("read", "left", left)]
    for rule, dropped in counts(total, "dropped").items():
        steps.append(Step(rule, "dropped", dropped))
    for split in ("dev", "test"):
        if numbers.get(split):
            steps.append(Step(f"drawn for {split}", "dropped", numbers[split]))
    steps.append(Step("kept", "left", numbers.get("kept", 0)))
    added = counts(total, "variants")
    for kind, count in added.items():
        steps.append(Step(f"variants: {kind}", "added", count))
    trained = counts(prepared, "train").get("pairs", 0)
    repeated = trained - numbers.get("kept", 0) - sum(added.values())
    if repeated > 0:
        steps.append(Step("repeated by weight", "added", repeated))
    return [*steps, Step("in train", "left", trained)]


# --- examples ---


def read_examples(config: Config, run: RunDir) -> list[Example]:
    """A few sentences, taken evenly from all of dev, at some of the validations, the last among them."""
    files = sorted(run.validation.glob(f"step-*.{config.tgt.language}"))
    files = [file for file in files if CHECKPOINT.fullmatch(file.name.split(".")[0])]
    chosen = [files[place] for place in _evenly(len(files), _STAGES)]
    try:
        sources = list(read_lines(run.text("dev", config.src.language)))
        references = list(read_lines(run.text("dev", config.tgt.language)))
        written = {file.name.split(".")[0]: list(read_lines(file)) for file in chosen}
    except (UserError, OSError):
        return []  # text that was moved away, or changed
    written = {name: lines for name, lines in written.items() if len(lines) == len(sources)}
    if len(sources) != len(references) or not written:
        return []
    examples = []
    for line in _evenly(len(sources), EXAMPLES):
        translations = [(name, lines[line]) for name, lines in written.items()]
        examples.append(Example(line + 1, sources[line], references[line], translations))
    return examples


def _evenly(count: int, wanted: int) -> list[int]:
    """Places in a list, the first and the last among them."""
    if count <= wanted:
        return list(range(count))
    return [round(i * (count - 1) / (wanted - 1)) for i in range(wanted)]


# --- settings ---


def differences(configs: Sequence[Config]) -> list[Difference]:
    """The settings in which runs differ, apart from their folders."""
    flats = [_flat(dump(config)) for config in configs]
    for flat in flats:
        flat.pop("run_dir", None)
    names = list(dict.fromkeys(name for flat in flats for name in flat))
    found = []
    for name in names:
        values = [flat.get(name, "") for flat in flats]
        if any(one != other for one, other in pairwise(values)):
            found.append(Difference(name, values))
    return found


def _flat(settings: dict[str, Any], before: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{before}{name}."))
        else:
            flat[f"{before}{name}"] = str(value)
    return flat
