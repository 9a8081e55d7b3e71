"""The application of a server: its addresses, the guard before them, and errors as clients expect them.

A dialect is a module with `routes`, over one `Service`.
"""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from nmt.serving import browser_tools, chat, deepl, libretranslate, page
from nmt.serving.errors import RequestError
from nmt.serving.guard import Guard
from nmt.serving.metrics import TEXT_FORMAT
from nmt.serving.service import Service

PATIENCE = 8.0  # seconds in which what was begun is translated at the end
_log = logging.getLogger("nmt")


def make_app(service: Service, log: Callable[[str], None]) -> Starlette:
    """The application; `log` gets a line for each answer, without anybody's text."""

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(service.metrics.text(service.waiting), media_type=TEXT_FORMAT)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.close(PATIENCE)

    dialects = (page, libretranslate, deepl, browser_tools, chat)
    routes = [route for dialect in dialects for route in dialect.routes(service)]
    routes.append(Route("/metrics", metrics))
    paths = frozenset(route.path for route in routes if isinstance(route, Route))
    guard = Middleware(
        Guard, settings=service.settings, metrics=service.metrics, paths=paths, log=log
    )
    return Starlette(
        routes=routes,
        middleware=[guard],
        exception_handlers={
            RequestError: _refused,
            HTTPException: _unknown,
            Exception: _failed,
        },
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # noqa: S101 - it is registered for these
    return _error(request, error.message, error.status, error.headers)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return _error(request, error.detail, error.status_code, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    _log.error("%s: %s", request.url.path, type(error).__name__, exc_info=error)
    return _error(request, "The server failed; see its log", 500)


def _error(
    request: Request, message: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    path = request.url.path
    content: dict[str, object] = {"error": message}
    if path.startswith(deepl.PREFIXES):
        content = {"message": message}
    elif path.startswith(chat.PREFIX):
        content = {"error": {"message": message, "type": "invalid_request_error", "code": status}}
    return JSONResponse(content, status, headers)
