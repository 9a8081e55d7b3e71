"""An application with a model that writes 译 before each line, and what was asked of it."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient

from nmt.checks.faults import Fault
from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.projection import Link
from nmt.errors import UserError
from nmt.serving import server
from nmt.serving.app import make_app
from nmt.serving.batching import Translate
from nmt.serving.languages import Languages
from nmt.serving.service import Service
from nmt.serving.settings import ServeSettings
from nmt.serving.ways import Ways
from nmt.terms.glossary import Glossary
from nmt.text.offsets import Range
from nmt.translate.translation import Candidate, Translation

Lines = list[str]


class Model:
    """It has a second translation of each line, and fails at "fail"."""

    def __init__(self) -> None:
        self.batches: list[Lines] = []
        self.before: Callable[[], object] = lambda: None  # is called before each batch
        self.faults: dict[str, str] = {}  # kinds of faults, by line
        self.other: str | None = None  # what stands for every second translation

    def __call__(self, lines: Lines) -> list[Translation]:
        self.batches.append(lines)
        self.before()
        if "fail" in lines:
            raise UserError("no such word")
        if "break" in lines:
            raise RuntimeError("secret")
        if "panic" in lines:
            raise BaseException("secret")  # noqa: TRY002 - as an engine in Rust does
        return [self._translated(line) for line in lines]

    def _translated(self, line: str) -> Translation:
        if not line.strip():
            return Translation(line, ())
        texts = (f"译{line}", self.other or f"或{line}")
        best, other = (Candidate(text, -rank, -rank) for rank, text in enumerate(texts, 1))
        kind = self.faults.get(line)
        faults = () if kind is None else (Fault(kind, line),)
        return Translation(line, (best, other), faults)


def ways_of(model: Model, own: Glossary | None) -> Ways:
    """The ways of a stand-in."""

    def with_terms(glossary: Glossary) -> Translate:
        def translate(lines: Lines) -> list[Translation]:
            return [_with_terms(each, glossary) for each in model(lines)]

        return translate

    return Ways(model, model, model, with_terms, lambda pairs: list(map(_links, pairs)), own)


def _with_terms(translation: Translation, glossary: Glossary) -> Translation:
    text = translation.text
    for term in glossary.terms:
        text = text.replace(term.source, term.written(term.source))
    return Translation(translation.source, (Candidate(text, -1.0, -1.0),))


def _links(pair: SentencePair) -> list[Link]:
    """Each word belongs to itself."""
    links = []
    for word in re.finditer(r"\w+", pair.src):
        at = pair.tgt.find(word[0])
        if at >= 0:
            links.append((Range(*word.span()), Range(at, at + len(word[0]))))
    return links


class Served:
    """A client of a running application, its model, its service and its log."""

    def __init__(
        self, settings: ServeSettings | None = None, glossary: Glossary | None = None
    ) -> None:
        self.model = Model()
        self.log: list[str] = []
        self.service = Service(
            ways_of(self.model, glossary), Languages("en", "zh"), settings or ServeSettings()
        )
        self.app = make_app(self.service, self.log.append)
        self.client = TestClient(self.app, "http://localhost", raise_server_exceptions=False)


@contextmanager
def serving(
    settings: ServeSettings | None = None, glossary: Glossary | None = None
) -> Iterator[Served]:
    """A server, as long as the block runs."""
    served = Served(settings, glossary)
    with served.client:
        yield served


@contextmanager
def listening(served: Served) -> Iterator[str]:
    """The address of a server that others can reach, as long as the block runs."""
    with server.listening("127.0.0.1", 0) as sock:
        config = uvicorn.Config(served.app, log_config=None, lifespan="off")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, args=([sock],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()
