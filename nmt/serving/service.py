"""Texts in, translations out: what every dialect of the server stands on."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Literal

from anyio.to_thread import run_sync
from starlette.requests import Request

from nmt.documents.asked import Asked
from nmt.documents.files import open_document
from nmt.documents.pipeline import Line, Work
from nmt.errors import DataError, UserError
from nmt.serving.batching import Batcher, ClosedError, QueueFullError, Translate
from nmt.serving.errors import RequestError
from nmt.serving.languages import Languages, detect
from nmt.serving.metrics import Metrics
from nmt.serving.settings import ServeSettings
from nmt.translate.translation import Translation

Form = Literal["text", "html"]
_LOOKS = 0.25  # seconds between two looks at whether the client is still there
_AGAIN = {"Retry-After": "1"}


@dataclass(frozen=True)
class Answer:
    """The translation of a text, and others of it, best first."""

    text: str
    others: tuple[str, ...] = ()


class Service:
    """A model that translates for many clients at a time."""

    def __init__(self, translate: Translate, languages: Languages, settings: ServeSettings) -> None:
        self.languages = languages
        self.settings = settings
        self.metrics = Metrics()
        self._batcher = Batcher(translate, settings.room)

    @property
    def waiting(self) -> int:
        """The lines that wait."""
        return self._batcher.waiting

    def close(self, patience: float) -> None:
        """Translate what was begun, for so many seconds at most, and nothing more."""
        self._batcher.close(patience)

    async def translate(
        self, request: Request, texts: Sequence[str], form: Form, source: str
    ) -> list[Answer]:
        """The translation of each text; one that is in the target language already stays as it is.

        Raises RequestError for too much text, a full queue, and for what takes too long.
        """
        characters = sum(map(len, texts))
        if characters > self.settings.most_characters:
            most = self.settings.most_characters
            raise RequestError(
                400, f"Invalid request: request ({characters}) exceeds text limit ({most})"
            )
        is_open = [self._is_to_translate(text, source) for text in texts]
        chosen = [text for text, is_chosen in zip(texts, is_open, strict=True) if is_chosen]
        try:
            async with asyncio.timeout(self.settings.patience):
                found = iter(await self._answers(request, chosen, form))
        except TimeoutError:
            raise RequestError(503, "It took too long; try again later", _AGAIN) from None
        except QueueFullError:
            raise RequestError(
                429, "Slowdown: too much text waits; try again soon", _AGAIN
            ) from None
        except ClosedError:
            raise RequestError(503, "The server is closing", _AGAIN) from None
        return [
            next(found) if is_chosen else Answer(text)
            for text, is_chosen in zip(texts, is_open, strict=True)
        ]

    def _is_to_translate(self, text: str, source: str) -> bool:
        language = detect(text).language if source == "auto" else source
        return bool(text.strip()) and language != self.languages.target

    async def _answers(self, request: Request, texts: list[str], form: Form) -> list[Answer]:
        if form == "html":
            return await asyncio.gather(*(self._html(request, text) for text in texts))
        lines = [line for text in texts for line in text.split("\n")]
        translations = iter(await self._lines(request, [line.rstrip("\r") for line in lines]))
        answers = []
        for text in texts:
            of_text = [(line, next(translations)) for line in text.split("\n")]
            answers.append(_joined(of_text))
        return answers

    async def _html(self, request: Request, text: str) -> Answer:
        """A piece of HTML, whose marks stay. Raises RequestError if it is none."""
        try:
            work = await run_sync(partial(_opened, text))
            lines = work.lines()
            translations = await self._lines(request, lines)
            of_lines = {
                line: Line(each.text) for line, each in zip(lines, translations, strict=True)
            }
            content = await run_sync(partial(work.written, of_lines))
        except (DataError, UnicodeError) as error:
            raise RequestError(400, f"Invalid request: {error}") from None
        return Answer(content.decode())

    async def _lines(self, request: Request, lines: list[str]) -> list[Translation]:
        submitted = self._batcher.submit(lines)
        translations = await _unless_gone(request, submitted)
        self.metrics.translated(len(lines), sum(map(len, lines)))
        return translations


def _opened(text: str) -> Work:
    asked = Asked()
    return Work(open_document(None, text.encode(), "html", asked), asked)


def _joined(lines: list[tuple[str, Translation]]) -> Answer:
    """A text of its lines; it has other translations if it is one line."""
    ends = ["\r" if line.endswith("\r") else "" for line, _ in lines]
    text = "\n".join(each.text + end for (_, each), end in zip(lines, ends, strict=True))
    others: tuple[str, ...] = ()
    if len(lines) == 1:
        others = tuple(candidate.text for candidate in lines[0][1].candidates[1:])
    return Answer(text, others)


async def _unless_gone(
    request: Request, submitted: "Future[list[Translation]]"
) -> list[Translation]:
    """The result, unless the client goes away, which frees its place. Raises RequestError for what cannot be done."""
    waited = asyncio.wrap_future(submitted)
    try:
        while not (await asyncio.wait({waited}, timeout=_LOOKS))[0]:
            if await request.is_disconnected():
                raise RequestError(499, "The client has gone")
        if waited.cancelled():
            raise ClosedError
        return waited.result()
    except UserError as error:
        raise RequestError(500, f"It cannot be translated: {error}") from None
    finally:
        waited.cancel()
