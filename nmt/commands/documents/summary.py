"""What is said of the documents that were translated: a line for people, or JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from nmt.commands.shell.streams import printable, put, say, warn
from nmt.documents.pipeline import Left, Report
from nmt.errors import counted

_MOST = 20  # lines about one file
_MOST_LINES = 5  # numbers of lines in the summary


def tell(place: str, report: Report, quiet: bool) -> None:
    """Warn of what was left and of faults; then a line with the numbers."""
    for kind, found in (("left as it was", report.left), ("check", report.faults)):
        for each in found[:_MOST]:
            warn(printable(f"{place}: {kind}: {each}"))
        if len(found) > _MOST:
            warn(f"{place}: {kind}: {len(found) - _MOST:,} more")
    if not quiet:
        say(f"nmt: {printable(place)}: {summary(report)}")


def summary(report: Report) -> str:
    """25 units: 20 translated, 2 kept, 2 unchanged (3, 17), 1 left."""
    parts = [f"{report.translated:,} translated"]
    parts += [f"{report.kept:,} kept"] if report.kept else []
    parts += [_unchanged(report.unchanged)] if report.unchanged else []
    parts += [f"{len(report.left):,} left"] if report.left else []
    return f"{counted(report.units, 'unit')}: {', '.join(parts)}"


def _unchanged(units: Sequence[Left]) -> str:
    """How many are as they were, and the lines of the first."""
    lines = ", ".join(str(unit.line) for unit in units[:_MOST_LINES])
    more = ", …" if len(units) > _MOST_LINES else ""
    return f"{len(units):,} unchanged (line {lines}{more})"


def planned(report: Report) -> str:
    """25 units: 20 to translate (310 words), 5 have a translation."""
    wanted = report.units - report.kept
    kept = f", {report.kept:,} with a translation" if report.kept else ""
    return f"{counted(report.units, 'unit')}: {wanted:,} to translate ({counted(report.words, 'word')}){kept}"


def put_json(reports: dict[str, Report]) -> None:
    """One object on stdout: what became of each file."""
    files = []
    for place, report in reports.items():
        entry = asdict(report)
        for kind in ("unchanged", "left", "faults"):
            entry[kind] = [each._asdict() for each in getattr(report, kind)]
        files.append({"file": place, **entry})
    put(json.dumps({"files": files}, ensure_ascii=False, indent=2) + "\n")
