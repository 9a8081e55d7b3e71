"""A server that runs until a signal ends it. What was begun is answered then."""

import asyncio
import logging
import os
import socket
from asyncio import TimerHandle
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from nmt.errors import ConfigError

_OPENING = 20.0  # seconds in which the head of a request has to come
_IDLE = 30  # seconds that a connection stays open between requests
_ENDING = 9  # seconds for what was begun when a signal comes
_BACKLOG = 2048  # connections that wait to be accepted


class Connection(H11Protocol):
    """A connection that is closed where the head of a request does not come, or comes byte by byte."""

    _opening: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self._is_between_requests():
            self._wait_for_head()
        super().data_received(data)
        if not self._is_between_requests():
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_head(self) -> None:
        if self._opening is None:
            self._opening = self.loop.call_later(_OPENING, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ConfigError, in one line, where that cannot be."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except socket.gaierror as error:
        raise ConfigError(f"--host {host}: {error.strerror}") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        fix = "choose another --port or --host"
        raise ConfigError(f"{host}:{port}: {reason}; {fix}") from None


def run(app: ASGIApp, sock: socket.socket) -> None:
    """Answer requests until SIGINT or SIGTERM comes, which is raised again at the end."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    settings: dict[str, Any] = {
        "http": Connection,
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": _IDLE,
        "timeout_graceful_shutdown": _ENDING,
    }
    uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[sock])
