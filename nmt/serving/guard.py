"""What stands before every request: by which name, from which page it comes; what is counted and logged.

A page of another site can make a browser ask a server on its user's machine. So a page's origin has to be allowed, and
the name by which the server is called has to be its own: a site may give its own name our address (DNS rebinding).
"""

import logging
import re
from collections.abc import Callable
from time import perf_counter, strftime
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmt.serving.errors import error_response, path_of
from nmt.serving.hosts import is_address, is_this_machine
from nmt.serving.metrics import Metrics
from nmt.serving.settings import ServeSettings

_log = logging.getLogger("nmt")
_EXTENSIONS = ("chrome-extension", "moz-extension", "safari-web-extension")
_LONGEST_MEMORY = "600"  # seconds that a browser remembers what is allowed
_NAME_IN_PATH = re.compile(r"\{\w+\}")
_OTHER = "other"  # what is counted of addresses that are not there
_LONGEST_PATH = 60  # characters of these in the log


class Guard:
    """An application around another."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServeSettings,
        metrics: Metrics,
        paths: frozenset[str],
        log: Callable[[str], None],
    ) -> None:
        """`paths` are the addresses, which are counted; `log` gets a line for each answer."""
        self._app = app
        self._settings = settings
        self._own = {"localhost", *map(str.lower, settings.hosts)}
        self._metrics = metrics
        self._paths = paths
        self._patterns = {
            path: re.compile(_NAME_IN_PATH.sub("[^/]+", path)) for path in paths if "{" in path
        }
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        host = headers.get("host", "")
        is_allowed = origin is not None and (self._is_allowed(origin) or _is_same(origin, host))
        allowed = origin if is_allowed else None
        status = 0  # until an answer begins

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(MutableHeaders(scope=message), allowed)
            await send(message)

        try:
            refusal = self._refusal(
                scope, headers, is_foreign=origin is not None and allowed is None
            )
            await (refusal or self._app)(scope, receive, sent)
        except Exception as error:
            _log.error("%s: %s", path_of(scope), type(error).__name__, exc_info=error)
            if status:
                raise
            failure = error_response(path_of(scope), 500, "The server failed; see its log")
            await failure(scope, receive, sent)
        finally:
            seconds = perf_counter() - begun
            path = self._counted(path_of(scope))
            status = status or 500
            self._metrics.answered(path or _OTHER, status, seconds)
            asked = f"{scope['method'][:10]} {path or self._shown(path_of(scope))}"
            now = strftime("%Y-%m-%d %H:%M:%S")
            self._log(f"{now} {asked} {status} {seconds * 1000:.0f} ms")

    def _shown(self, path: str) -> str:
        """An unknown address as it is logged: the whole only if it begins as a known one, for it may hold a key."""
        is_like_ours = path.split("/")[1:2] in [known.split("/")[1:2] for known in self._paths]
        return ascii(path[:_LONGEST_PATH])[1:-1] if is_like_ours else _OTHER

    def _counted(self, path: str) -> str | None:
        """The address of a path, without names in it, such as that of a download; None if there is none."""
        if path in self._paths:
            return path
        found = (each for each, pattern in self._patterns.items() if pattern.fullmatch(path))
        return next(found, None)

    def _refusal(self, scope: Scope, headers: Headers, is_foreign: bool) -> Response | None:
        path = path_of(scope)
        if not self._is_own(headers.get("host", "")):
            message = "This server does not go by that name; its operator can --allow-host it"
            return error_response(path, 421, message)
        if is_foreign:
            message = "This page may not ask; the operator of the server can --allow-origin it"
            return error_response(path, 403, message)
        if scope["method"] == "OPTIONS" and "origin" in headers:
            return _preflight(headers)
        return None

    def _is_own(self, host: str) -> bool:
        name = _name_of(f"//{host}")
        return name in self._own or is_address(name)

    def _is_allowed(self, origin: str) -> bool:
        allowed = self._settings.origins
        if origin in allowed or "*" in allowed:
            return True
        scheme = origin.partition(":")[0]
        return scheme in _EXTENSIONS or is_this_machine(_name_of(origin))


def _is_same(origin: str, host: str) -> bool:
    """Whether an origin is that of our own page. Its scheme may be that of a proxy before us."""
    return bool(host) and origin.partition("://")[2].lower() == host.lower()


def _name_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _add_headers(headers: MutableHeaders, origin: str | None) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    if origin is not None:
        headers["Access-Control-Allow-Origin"] = origin
        headers.add_vary_header("Origin")


def _preflight(headers: Headers) -> Response:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": headers.get(
            "access-control-request-headers", "Content-Type"
        ),
        "Access-Control-Max-Age": _LONGEST_MEMORY,
    }
    return Response(status_code=204, headers=allowed)
