"""Tables with named columns, CSV and TSV: one column is read, another is filled.

CSV is that of RFC 4180, or has semicolons, as spreadsheets write it where numbers have commas.
A column of keys names the units, and one of comments tells what they are for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Unit
from nmt.documents.messages import message_unit
from nmt.errors import DataError

_KEYS = ("key", "id", "identifier", "name")
_COMMENTS = ("context", "comment", "description", "notes", "note")


class _Cell(NamedTuple):
    """What a cell says, and where it is written, with its quotes."""

    value: str
    start: int
    end: int
    is_quoted: bool


_Row = list[_Cell]


def read_csv(text: str, asked: Asked) -> Document:
    """The cells of a column. Raises DataError if it is not there, or a quoted cell is broken."""
    names = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return _read(text, asked, ";" if ";" in names and "," not in names else ",")


def read_tsv(text: str, asked: Asked) -> Document:
    """The cells of a column. Raises DataError if it is not there."""
    return _read(text, asked, "\t")


def _read(text: str, asked: Asked, delimiter: str) -> Document:
    rows = _rows(text, delimiter)
    names = [cell.value.strip() for cell in next(rows, [])]
    source, target = (_column(names, name) for name in asked.columns)
    header = [name.lower() for name in names]
    key = next((header.index(name) for name in _KEYS if name in header), None)
    comment = next((header.index(name) for name in _COMMENTS if name in header), None)
    units = []
    for row in rows:
        unit = _unit(text, row, source, target, delimiter)
        if unit is not None:
            name, context = _value(row, key), _value(row, comment)
            units.append(replace(unit, name=name, context=context))
    return Document(text, units)


def _column(names: Sequence[str], name: str) -> int:
    """The number of a column. Raises DataError that names those that are there."""
    for number, other in enumerate(names):
        if other.lower() == name.strip().lower():
            return number
    there = ", ".join(f'"{other}"' for other in names) or "none"
    raise DataError(f'line 1: no column "{name}"; the columns are {there}')


def _value(row: _Row, column: int | None) -> str:
    return row[column].value if column is not None and column < len(row) else ""


def _unit(text: str, row: _Row, source: int, target: int, delimiter: str) -> Unit | None:
    """The unit of a row; one that is too short gets cells up to the target."""
    if source >= len(row):
        return None
    lacking = max(target - len(row) + 1, 0)
    cell = row[-1]._replace(start=row[-1].end, is_quoted=False) if lacking else row[target]
    written = text[row[source].start : row[source].end]
    eol = "\r\n" if "\r\n" in written else "\n"

    def write(value: str) -> str:
        is_quoted = cell.is_quoted or _has_to_be_quoted(value, delimiter)
        quoted = '"' + value.replace('"', '""') + '"' if is_quoted else value
        return delimiter * lacking + quoted.replace("\n", eol)

    unit = message_unit("", row[source].value, (cell.start, cell.end), write)
    if unit is None or lacking or source == target:
        return unit
    return replace(unit, start=row[source].start, existing=cell.value.strip())


def _has_to_be_quoted(value: str, delimiter: str) -> bool:
    # within a cell of TSV, a quote is as any other character
    is_marked = value.startswith('"') if delimiter == "\t" else '"' in value
    return is_marked or any(mark in value for mark in (delimiter, "\n", "\r"))


def _rows(text: str, delimiter: str) -> Iterator[_Row]:
    """The rows. A cell of TSV that has a quote at its start alone is not quoted."""
    mark = re.escape(delimiter)
    guard = "" if delimiter == "\t" else '(?!")'
    pattern = re.compile(
        rf"""
        (?: "(?P<quoted> (?: [^"] | "" )*+ )" | {guard}(?P<bare> [^{mark}\r\n]*+ ) )
        (?P<end> {mark} | \r\n | \r | \n | \Z )
        """,
        re.VERBOSE,
    )
    row: _Row = []
    at = 0
    while at < len(text) or row:
        cell = pattern.match(text, at)
        if cell is None:
            line = text.count("\n", 0, at) + 1
            raise DataError(f"line {line}: a quoted cell that is not closed, or has more behind it")
        kind = "bare" if cell["quoted"] is None else "quoted"
        value = cell[kind] if kind == "bare" else cell[kind].replace('""', '"')
        end = cell.start("end")
        row.append(_Cell(value.replace("\r\n", "\n"), at, end, kind == "quoted"))
        at = cell.end()
        if cell["end"] != delimiter:
            yield row
            row = []
