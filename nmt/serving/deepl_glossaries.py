"""DeepL's glossaries, of its API v3, and as older clients know them, v2. They are for the model's direction alone."""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from nmt.serving.errors import RequestError
from nmt.serving.glossaries import Glossaries, Record
from nmt.serving.languages import normal_code
from nmt.serving.reading import check_key, read_fields, word_of
from nmt.serving.service import Service

_CONTROL = re.compile(r"[\x00-\x1f]")  # a tab in a cell would be a column
_LONGEST = 1024  # bytes of a name, a source or a target


def routes(service: Service, glossaries: Glossaries) -> list[BaseRoute]:
    """Their addresses."""
    v2, v3 = MonolingualGlossaries(service, glossaries), MultilingualGlossaries(service, glossaries)
    return [
        Route("/v3/glossaries", v3.list, methods=["GET"]),
        Route("/v3/glossaries", v3.create, methods=["POST"]),
        Route("/v3/glossaries/{id}", v3.get, methods=["GET"]),
        Route("/v3/glossaries/{id}", v3.edit, methods=["PATCH"]),
        Route("/v3/glossaries/{id}", v3.delete, methods=["DELETE"]),
        Route("/v3/glossaries/{id}/entries", v3.entries, methods=["GET"]),
        Route("/v3/glossaries/{id}/dictionaries", v3.replace, methods=["PUT"]),
        Route("/v3/glossaries/{id}/dictionaries", v3.empty, methods=["DELETE"]),
        Route("/v2/glossary-language-pairs", v2.pairs, methods=["GET"]),
        Route("/v2/glossaries", v2.list, methods=["GET"]),
        Route("/v2/glossaries", v2.create, methods=["POST"]),
        Route("/v2/glossaries/{id}", v2.get, methods=["GET"]),
        Route("/v2/glossaries/{id}", v2.delete, methods=["DELETE"]),
        Route("/v2/glossaries/{id}/entries", v2.entries, methods=["GET"]),
    ]


class _Endpoints(ABC):
    """What both versions share."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service = service
        self._glossaries = glossaries
        self._languages = (service.languages.source, service.languages.target)

    async def list(self, request: Request) -> JSONResponse:
        """All glossaries, without their entries."""
        self._check(request)
        return JSONResponse({"glossaries": [self._told(each) for each in self._glossaries.all()]})

    async def get(self, request: Request) -> JSONResponse:
        """A glossary, without its entries."""
        return JSONResponse(self._told(self._record(request)))

    async def delete(self, request: Request) -> Response:
        """Delete a glossary."""
        self._glossaries.delete(self._record(request).id)
        return Response(status_code=204)

    @abstractmethod
    def _told(self, record: Record) -> dict[str, Any]:
        """What a client is told of a glossary."""

    def _check(self, request: Request) -> None:
        check_key(request, self._service.settings, missing=403)

    async def _fields(self, request: Request) -> dict[str, Any]:
        self._check(request)
        return await read_fields(request, self._service.settings)

    def _record(self, request: Request) -> Record:
        self._check(request)
        return self._glossaries.get(request.path_params["id"])

    def _refuse_others(self, fields: Mapping[str, Any]) -> None:
        """Raise RequestError for languages between which the model does not translate."""
        given = [word_of(fields, name) for name in ("source_lang", "target_lang")]
        if tuple(map(normal_code, given)) != self._languages:
            source, target = self._languages
            raise RequestError(400, f"Glossaries are from {source} to {target} here")

    def _pair(self) -> dict[str, str]:
        source, target = self._languages
        return {"source_lang": source, "target_lang": target}

    def _new_entries(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """The entries of a dictionary that a client sends. Raises RequestError for what is none."""
        self._refuse_others(fields)
        return entries_of(word_of(fields, "entries"), word_of(fields, "entries_format", "tsv"))


class MultilingualGlossaries(_Endpoints):
    """Those of v3, which have dictionaries: here at most one."""

    async def create(self, request: Request) -> JSONResponse:
        """{name, dictionaries: [{source_lang, target_lang, entries, entries_format}]} → the glossary."""
        fields = await self._fields(request)
        name, dictionaries = _name(fields), _dictionaries(fields)
        record = self._glossaries.add(name, self._new_entries(dictionaries[0]))
        return JSONResponse(self._told(record), 201)

    async def edit(self, request: Request) -> JSONResponse:
        """{name, dictionaries}: another name, or entries besides those that are there."""
        fields = await self._fields(request)
        record = self._record(request)
        name = _name(fields) if "name" in fields else None
        entries = None
        if "dictionaries" in fields:
            entries = {**record.entries, **self._new_entries(_dictionaries(fields)[0])}
        return JSONResponse(self._told(self._glossaries.change(record.id, name, entries)))

    async def entries(self, request: Request) -> JSONResponse:
        """The entries of a dictionary."""
        record = self._with_dictionary(request)
        found = {**self._pair(), "entries": as_tsv(record.entries), "entries_format": "tsv"}
        return JSONResponse({"dictionaries": [found]})

    async def replace(self, request: Request) -> JSONResponse:
        """{source_lang, target_lang, entries, entries_format} → the dictionary, with these entries alone."""
        fields = await self._fields(request)
        record = self._glossaries.change(
            self._record(request).id, entries=self._new_entries(fields)
        )
        return JSONResponse(self._dictionary(record))

    async def empty(self, request: Request) -> Response:
        """Delete a dictionary."""
        self._glossaries.change(self._with_dictionary(request).id, entries={})
        return Response(status_code=204)

    def _with_dictionary(self, request: Request) -> Record:
        """A glossary that has a dictionary for the languages in the address."""
        record = self._record(request)
        self._refuse_others(request.query_params)
        if not record.entries:
            raise RequestError(404, "Dictionary not found")
        return record

    def _told(self, record: Record) -> dict[str, Any]:
        return {
            "glossary_id": record.id,
            "name": record.name,
            "dictionaries": [self._dictionary(record)] if record.entries else [],
            "creation_time": record.created,
        }

    def _dictionary(self, record: Record) -> dict[str, Any]:
        return {**self._pair(), "entry_count": len(record.entries)}


class MonolingualGlossaries(_Endpoints):
    """Those of v2, which are never changed."""

    async def pairs(self, request: Request) -> JSONResponse:
        """The languages that a glossary may have."""
        self._check(request)
        return JSONResponse({"supported_languages": [self._pair()]})

    async def create(self, request: Request) -> JSONResponse:
        """{name, source_lang, target_lang, entries, entries_format} → the glossary."""
        fields = await self._fields(request)
        record = self._glossaries.add(_name(fields), self._new_entries(fields))
        return JSONResponse(self._told(record), 201)

    async def entries(self, request: Request) -> Response:
        """The entries of a glossary."""
        text = as_tsv(self._record(request).entries)
        return Response(text, media_type="text/tab-separated-values")

    def _told(self, record: Record) -> dict[str, Any]:
        return {
            "glossary_id": record.id,
            "name": record.name,
            "ready": True,
            **self._pair(),
            "creation_time": record.created,
            "entry_count": len(record.entries),
        }


def _name(fields: Mapping[str, Any]) -> str:
    name = word_of(fields, "name").strip()
    if not name or len(name.encode()) > _LONGEST:
        raise RequestError(400, f"A glossary's name has 1 to {_LONGEST} bytes")
    return name


def _dictionaries(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = fields.get("dictionaries")
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        raise RequestError(400, "dictionaries has to be a list of one dictionary")
    return found


def entries_of(text: str, form: str) -> dict[str, str]:
    """The entries of a table with tabs (tsv) or commas (csv). Raises RequestError, with the line, for others."""
    if form not in ("tsv", "csv"):
        raise RequestError(400, f"entries_format {form[:20]} is neither tsv nor csv")
    entries: dict[str, str] = {}
    try:
        for number, row in enumerate(_rows(text, form), 1):
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) < 2 or not all(map(_is_cell, cells[:2])):
                raise RequestError(
                    400, f"entry {number} has no source and target of 1 to {_LONGEST} bytes"
                )
            if entries.setdefault(cells[0], cells[1]) != cells[1]:
                raise RequestError(400, f"entry {number} is a second one for {cells[0][:40]}")
    except csv.Error as error:
        raise RequestError(400, f"entries: {error}") from None
    if not entries:
        raise RequestError(400, "entries has no entry")
    return entries


def _is_cell(cell: str) -> bool:
    return 1 <= len(cell.encode()) <= _LONGEST and not _CONTROL.search(cell)


def _rows(text: str, form: str) -> list[list[str]]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return list(csv.reader(lines)) if form == "csv" else [line.split("\t") for line in lines]


def as_tsv(entries: Mapping[str, str]) -> str:
    """Entries as a table with tabs."""
    return "\n".join(f"{source}\t{target}" for source, target in entries.items())
