"""The texts of documents alone, as lines of JSON, for people or other programs to translate; and back."""

import json
from collections.abc import Iterable, Iterator

from nmt.documents.files import DocumentFile
from nmt.documents.lines import lines_of
from nmt.documents.pipeline import leaves
from nmt.errors import DataError


def extracted(place: str, file: DocumentFile) -> Iterator[str]:
    """A line for each text: where it is, its words with numbered tags, and a place for the translation."""
    for member, document in file.documents.items():
        for unit in document.units:
            for leaf in leaves(unit):
                if lines_of(leaf.words):
                    record = {
                        "file": place,
                        **({"member": member} if member else {}),
                        "line": document.line_of(unit),
                        "name": unit.name,
                        **({"context": unit.context} if unit.context else {}),
                        **({"existing": unit.existing} if unit.existing else {}),
                        "source": leaf.words,
                        "target": "",
                    }
                    yield json.dumps(record, ensure_ascii=False) + "\n"


def translations(lines: Iterable[str], place: str) -> dict[str, str]:
    """The words of each line of JSON that has a target, and that. Raises DataError for other lines."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            source, target = record["source"], record["target"]
        except (ValueError, KeyError, TypeError):
            raise DataError(f'{place}:{number}: no JSON with "source" and "target"') from None
        if not isinstance(source, str) or not isinstance(target, str):
            raise DataError(f'{place}:{number}: "source" and "target" have to be texts')
        if target.strip():
            found[source] = target
    return found
