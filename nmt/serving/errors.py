"""What goes wrong with a request, as a client is told."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

_NAMES = {status.value: status.name for status in HTTPStatus}


class RequestError(Exception):
    """A request that is not answered: the status, and why in a sentence."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def error_response(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error as the clients of an address expect it."""
    content: dict[str, Any] = {"error": message}
    if path.startswith(("/v2/", "/v3/")):  # DeepL's
        content = {"message": message}
    elif path.startswith("/v1/"):  # OpenAI's
        content = {"error": {"message": message, "type": "invalid_request_error", "code": status}}
    elif path.startswith("/language/"):  # Google's
        content = {"error": {"code": status, "message": message, "status": _NAMES.get(status, "")}}
    return JSONResponse(content, status, headers)


def path_of(scope: Mapping[str, Any]) -> str:
    """The path of a request, without that under which the application is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
