"""Glossaries that clients make: kept in a folder, else until the server ends."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from nmt.errors import ConfigError, DataError
from nmt.files import write_json
from nmt.serving.batching import Translate
from nmt.serving.errors import RequestError
from nmt.serving.ways import Ways
from nmt.terms.glossary import Glossary, Term

OWN = str(UUID(int=0))  # the name of the server's own glossary
_MOST = 1000  # glossaries
_MOST_ENTRIES = 500_000  # in all
_LARGEST = 50_000  # entries: it takes a quarter of a second to make a glossary ready
_OPEN = 32  # glossaries that are ready to translate with


@dataclass(frozen=True)
class Record:
    """A glossary of a client, for the one direction of the model; `entries` have a target for each source."""

    id: str
    name: str
    created: str  # as ISO 8601 writes it
    entries: Mapping[str, str]

    @property
    def glossary(self) -> Glossary:
        """Its terms."""
        terms = [Term(source, (target,)) for source, target in self.entries.items()]
        return Glossary(tuple(terms))


class Glossaries:
    """All glossaries of a server. Not for several threads at a time."""

    def __init__(self, ways: Ways, folder: Path | None) -> None:
        """Those of a folder, if there is one. Raises DataError for a file that is none."""
        self._ways = ways
        self._folder = folder
        self._records: dict[str, Record] = {}
        self._open: OrderedDict[str, Translate] = OrderedDict()
        if ways.glossary is not None:
            self._records[OWN] = _own(ways.glossary)
        if folder is not None:
            _make(folder)
            found = [_read(path) for path in sorted(folder.glob("*.json"))]
            self._records |= {record.id: record for record in found}

    def all(self) -> list[Record]:
        """All of them, the oldest first."""
        return sorted(self._records.values(), key=lambda record: record.created)

    def get(self, name: str) -> Record:
        """One of them. Raises RequestError if there is none of that name."""
        if name not in self._records:
            raise RequestError(404, "Glossary not found")
        return self._records[name]

    def add(self, name: str, entries: Mapping[str, str]) -> Record:
        """A new one. Raises RequestError if there are too many."""
        if len(self._records) >= _MOST:
            raise RequestError(400, f"There are {_MOST} glossaries already; delete some")
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return self._keep(Record(str(uuid4()), name, now, entries))

    def change(
        self, name: str, new_name: str | None = None, entries: Mapping[str, str] | None = None
    ) -> Record:
        """Give one another name, or other entries. Raises RequestError for the server's own."""
        record = self._changeable(name)
        if new_name is not None:
            record = replace(record, name=new_name)
        if entries is not None:
            record = replace(record, entries=entries)
        return self._keep(record)

    def delete(self, name: str) -> None:
        """Forget one. Raises RequestError for the server's own."""
        self._changeable(name)
        if self._folder is not None:
            self._path(name).unlink(missing_ok=True)
        del self._records[name]
        self._open.pop(name, None)

    def way(self, name: str) -> Translate:
        """What translates with one. The terms of the server hold where it has none for the same words."""
        record = self.get(name)
        if name == OWN or not record.entries:
            return self._ways.plain
        way = self._open.pop(name, None) or self._ways.with_terms(record.glossary)
        self._open[name] = way
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        return way

    def _changeable(self, name: str) -> Record:
        record = self.get(name)
        if name == OWN:
            raise RequestError(
                403, "This glossary is a file of the server; it cannot be changed here"
            )
        return record

    def _keep(self, record: Record) -> Record:
        if len(record.entries) > _LARGEST:
            raise RequestError(400, f"A glossary has at most {_LARGEST} entries")
        others = sum(len(each.entries) for each in self._records.values() if each.id != record.id)
        if others + len(record.entries) > _MOST_ENTRIES:
            raise RequestError(400, f"All glossaries together have at most {_MOST_ENTRIES} entries")
        if self._folder is not None:
            write_json(self._path(record.id), asdict(record))
        self._records[record.id] = record
        self._open.pop(record.id, None)
        return record

    def _path(self, name: str) -> Path:
        assert self._folder is not None  # noqa: S101 - the caller has looked
        return self._folder / f"{name}.json"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--glossaries {folder}: {error.strerror}; name a folder") from None


def _own(glossary: Glossary) -> Record:
    entries = {term.source: term.written(term.source) for term in glossary.terms}
    return Record(OWN, "server", "1970-01-01T00:00:00.000Z", entries)


def _read(path: Path) -> Record:
    try:
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
        is_known = record.id == str(UUID(record.id)) == path.stem
        words = [record.name, record.created, *record.entries, *record.entries.values()]
    except (ValueError, TypeError, AttributeError):
        is_known, words = False, []
    if not is_known or not all(isinstance(word, str) for word in words):
        raise DataError(f"{path}: is no glossary that nmt serve has written; move it elsewhere")
    return record
