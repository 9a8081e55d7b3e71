"""The reports in a run's folder, read with care: a run may be a stranger's, or half written."""

import json
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

from nmt.errors import ModelError
from nmt.files import read_bytes, read_json
from nmt.run_dir import SIDES, RunDir

Record = dict[str, Any]


def report_of(path: Path) -> Record:
    """A report that a stage wrote; empty where it is missing or damaged."""
    with suppress(OSError, ModelError):
        report = read_json(path)
        if isinstance(report, dict):
            return report
    return {}


def records(path: Path) -> Iterator[Record]:
    """The JSON lines of a file that are whole; none where it is missing."""
    try:
        text = read_bytes(path).decode(errors="replace")
    except OSError:
        return
    for line in text.split("\n"):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def section(report: Record, name: str) -> Record:
    """A part of a report; empty where there is none."""
    part = report.get(name)
    return part if isinstance(part, dict) else {}


def entries(report: Record, name: str) -> list[Record]:
    """A list of parts; empty where there is none."""
    found = report.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def number(value: Any) -> float | None:
    """A value as a number; None where it is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        converted = float(value)
    except OverflowError:  # of an integer with hundreds of digits
        return None
    return converted if isfinite(converted) else None


def whole(value: Any) -> int | None:
    """A value as a count; None where it is none."""
    found = number(value)
    return None if found is None else int(found)


def counts(report: Record, name: str) -> dict[str, int]:
    """The whole numbers of a part, by name."""
    return {
        key: value
        for key, value in section(report, name).items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


def disk_use(run: RunDir) -> dict[str, int]:
    """Bytes on disk, by part of a run's folder; what nmt did not write is not counted."""
    parts = {
        "checkpoints": [run.checkpoints],
        "encoded pairs": [run.stores],
        "clean text": [run.data],
        "vocabularies": [name(side) for side in SIDES for name in (run.vocab, run.pieces)],
        "logs and reports": [
            run.metrics,
            run.log,
            run.prepare_report,
            run.vocab_report,
            run.validation,
        ],
        "TensorBoard": [run.tensorboard],
    }
    sizes = {}
    for part, places in parts.items():
        files = [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]
        sizes[part] = sum(file.stat().st_size for file in files)
    return {part: size for part, size in sizes.items() if size}
