"""What goes wrong with a request, as a client is told."""

from collections.abc import Mapping


class RequestError(Exception):
    """A request that is not answered: the status, and why in a sentence."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
