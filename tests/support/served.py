"""An application with a model that writes 译 before each line, and what was asked of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from nmt.errors import UserError
from nmt.serving.app import make_app
from nmt.serving.languages import Languages
from nmt.serving.service import Service
from nmt.serving.settings import ServeSettings
from nmt.translate.translation import Candidate, Translation

Lines = list[str]


class Model:
    """It has a second translation of each line, and fails at "fail"."""

    def __init__(self) -> None:
        self.batches: list[Lines] = []
        self.before: Callable[[], object] = lambda: None  # is called before each batch

    def __call__(self, lines: Lines) -> list[Translation]:
        self.batches.append(lines)
        self.before()
        if "fail" in lines:
            raise UserError("no such word")
        if "break" in lines:
            raise RuntimeError("secret")
        return [_translated(line) for line in lines]


def _translated(line: str) -> Translation:
    if not line.strip():
        return Translation(line, ())
    return Translation(
        line, (Candidate(f"译{line}", -1.0, -1.0), Candidate(f"或{line}", -2.0, -2.0))
    )


class Served:
    """A client of a running application, its model, its service and its log."""

    def __init__(self, settings: ServeSettings | None = None) -> None:
        self.model = Model()
        self.log: list[str] = []
        self.service = Service(self.model, Languages("en", "zh"), settings or ServeSettings())
        app = make_app(self.service, self.log.append)
        self.client = TestClient(app, "http://localhost", raise_server_exceptions=False)


@contextmanager
def serving(settings: ServeSettings | None = None) -> Iterator[Served]:
    """A server, as long as the block runs."""
    served = Served(settings)
    with served.client:
        yield served
