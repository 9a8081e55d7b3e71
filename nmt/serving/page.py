"""The page at `/`: English on one side, Chinese on the other, and what is known about each line.

Its files are in `web`; they load nothing from elsewhere, and their policy allows nothing else.
"""

from functools import partial
from importlib.resources import files
from typing import Any

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from nmt.checks.faults import faults
from nmt.corpus.reading.pairs import SentencePair
from nmt.serving.errors import RequestError
from nmt.serving.reading import check_key, read_fields, texts_of, word_of
from nmt.serving.service import Service, others
from nmt.translate.translation import Translation

_WEB = files("nmt.serving") / "web"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_SCRIPTS = ("page.js", "server.js", "lines.js", "words.js", "documents.js")
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",  # the empty icon
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}


def routes(service: Service) -> list[BaseRoute]:
    """Its addresses."""
    own = Page(service)
    parts = ("page.css", *_SCRIPTS)
    return [
        Route("/", partial(_file, "page.html")),
        *(Route(f"/{name}", partial(_file, name)) for name in parts),
        Route("/page/lines", own.lines, methods=["POST"]),
        Route("/page/others", own.others, methods=["POST"]),
        Route("/page/links", own.links, methods=["POST"]),
    ]


async def _file(name: str, _: Request) -> Response:
    kind = _KINDS[name[name.rindex(".") :]]
    return Response((_WEB / name).read_bytes(), media_type=kind, headers=_HEADERS)


class Page:
    """What the page asks for. Places in lines count characters as Python does."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._direction = (service.languages.source, service.languages.target)

    async def lines(self, request: Request) -> JSONResponse:
        """{lines} → {lines: [{text, faults, terms: [{start, end, allowed}]}]}."""
        fields = await self._fields(request)
        lines = [_line(text) for text in texts_of(fields, "lines")[0]]
        found = await self._service.lines(request, lines, self._service.ways.checked)
        return JSONResponse({"lines": [_described(each) for each in found]})

    async def others(self, request: Request) -> JSONResponse:
        """{line, text} → {others: [{text, faults}]}: translations of a line beside the one that is there."""
        fields = await self._fields(request)
        line, text = _line(word_of(fields, "line")), word_of(fields, "text")
        (found,) = await self._service.lines(request, [line], self._service.ways.varied)
        texts = others(found, text)
        described = await run_sync(lambda: [self._looked_at(line, each) for each in texts])
        return JSONResponse({"others": described})

    def _looked_at(self, line: str, text: str) -> dict[str, Any]:
        return {"text": text, "faults": list(map(str, faults(line, text, self._direction)))}

    async def links(self, request: Request) -> JSONResponse:
        """{line, text} → {links: [[start, end, start, end]]}: words of a line and of its translation."""
        fields = await self._fields(request)
        pair = SentencePair(_line(word_of(fields, "line")), _line(word_of(fields, "text")))
        found = await self._service.links(request, pair)
        return JSONResponse({"links": [[*source, *target] for source, target in found]})

    async def _fields(self, request: Request) -> dict[str, Any]:
        check_key(request, self._service.settings, missing=403)
        return await read_fields(request, self._service.settings)


def _line(text: str) -> str:
    if "\n" in text:
        raise RequestError(400, "Invalid request: a line with a line break")
    return text


def _described(translation: Translation) -> dict[str, Any]:
    terms = [
        {"start": use.match.start, "end": use.match.end, "allowed": list(use.allowed)}
        for use in translation.terms or ()
    ]
    return {
        "text": translation.text,
        "faults": list(map(str, translation.faults)),
        "terms": terms,
    }
