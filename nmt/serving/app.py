"""The application of a server: its addresses, the guard before them, and errors as clients expect them.

A dialect is a module with `routes`, over one `Service`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nmt.serving import browser_tools, chat, deepl, libretranslate, page
from nmt.serving.errors import RequestError, error_response, path_of
from nmt.serving.guard import Guard
from nmt.serving.metrics import TEXT_FORMAT
from nmt.serving.service import Service

PATIENCE = 1.0  # seconds for the last batch, once all clients are answered or have been told to go


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
        },
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # noqa: S101 - it is registered for these
    return error_response(path_of(request.scope), error.status, error.message, error.headers)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return error_response(path_of(request.scope), error.status_code, error.detail, error.headers)
