"""Texts that were translated before, or corrected: a table of two columns, which people can edit."""

from collections.abc import Mapping
from pathlib import Path

from nmt.corpus.reading.pairs import read_tsv
from nmt.files import write_text


def read_memory(path: Path) -> dict[str, str]:
    """The translations of a table, by their words; the last one counts. There are none where there is no file."""
    if not path.exists():
        return {}
    pairs = read_tsv(path)
    return {_unescaped(source): _unescaped(target) for source, target in pairs if target.strip()}


def add_to_memory(path: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Add translations to the table; what is in it stays as it is."""
    new = [pair for pair in now.items() if pair[0] not in before and pair[0] != pair[1]]
    if not new:
        return
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old and not old.endswith("\n"):
        old += "\n"
    rows = [f"{_escaped(source)}\t{_escaped(target)}\n" for source, target in new]
    write_text(path, old + "".join(rows))


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _unescaped(column: str) -> str:
    parts = column.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)
