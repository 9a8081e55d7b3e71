"""The reports in a run's folder, read with care: a run may be untrusted, or half written."""

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from nmt.errors import ModelError, Say, counted
from nmt.files import read_bytes, read_json, unreadable
from nmt.run.folder import SIDES, RunDir

Record = dict[str, Any]
_FIX = "restore it from a copy, or move it away: the model translates without it"


def report_of(path: Path) -> Record:
    """A report that a stage wrote; empty where it is missing. Raises ModelError if it cannot be read, or is none."""
    try:
        report = read_json(path, _FIX)
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise ModelError(unreadable(path, error)) from None
    except OSError as error:
        raise ModelError(f"{path}: damaged ({error.strerror}); {_FIX}") from None
    if not isinstance(report, dict):
        raise ModelError(f"{path}: damaged (no JSON object); {_FIX}")
    return report


def records(path: Path, warn: Say) -> Iterator[Record]:
    """The JSON objects of a file's lines; none where it is missing. `warn` gets a line about the others.

    Raises ModelError if the file cannot be read.
    """
    try:
        text = read_bytes(path).decode(errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ModelError(unreadable(path, error)) from None
    strange = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        record = _record(line)
        if record is not None:
            yield record
        elif line.strip():
            strange.append(number)
    if strange:
        lines = f"{counted(len(strange), 'line')} of it, first line {strange[0]}"
        warn(f"{path}: {lines}, left out: no JSON object, or not a whole one")


def _record(line: str) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def section(report: Record, name: str) -> Record:
    """A part of a report; empty where there is none."""
    part = report.get(name)
    return part if isinstance(part, dict) else {}


def corpora_in(report: Record) -> list[Record]:
    """The corpora that a report lists; empty where there are none."""
    found = report.get("corpora")
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
