"""Texts and documents in, translations out: what every dialect of the server stands on."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request

from nmt.corpus.reading.pairs import SentencePair
from nmt.documents.asked import Asked
from nmt.documents.files import DocumentFile, open_document
from nmt.documents.formats.html import tags_in_sentences
from nmt.documents.pipeline import Line, Work
from nmt.documents.projection import Link
from nmt.documents.registry import BY_NAME, UnknownFormatError
from nmt.documents.translation import mark_again, pairs_of, plain
from nmt.errors import ConfigError, DataError, UserError
from nmt.serving.batching import Batcher, ClosedError, QueueFullError, Translate
from nmt.serving.errors import RequestError
from nmt.serving.languages import Languages, language_of
from nmt.serving.metrics import Metrics
from nmt.serving.settings import ServeSettings
from nmt.serving.ways import Ways, ways_of
from nmt.translate.aligner import Aligner
from nmt.translate.translation import Translation
from nmt.translate.translator import Translator

_log = logging.getLogger("nmt")
Form = Literal["text", "html", "xml"]
_LOOKS = 0.25  # seconds between two looks at whether the client is still there
AGAIN = {"Retry-After": "1"}
_READERS = 2  # documents that are read, or lines that are aligned, at a time
_WINDOW = 1000  # lines of a request that wait at a time


@dataclass(frozen=True)
class Answer:
    """The translation of a text, and others of it, best first."""

    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asking:
    """What a client wants for its texts; `way` is how they are translated, if not as all others.

    Of a text with tags, the content of `kept_tags` stays; `splitting_tags` of XML end a sentence, and so do those that
    have no words beside them.
    """

    source: str
    form: Form = "text"
    has_others: bool = False
    way: Translate | None = None
    kept_tags: frozenset[str] = frozenset()
    splitting_tags: frozenset[str] = frozenset()


class Service:
    """A model that translates for many clients at a time."""

    def __init__(self, ways: Ways, languages: Languages, settings: ServeSettings) -> None:
        self.ways = ways
        self.languages = languages
        self.settings = settings
        self.metrics = Metrics()
        self._batcher = Batcher(settings.room)
        self._readers = CapacityLimiter(_READERS)

    @property
    def waiting(self) -> int:
        """The lines that wait."""
        return self._batcher.waiting

    def close(self, patience: float) -> None:
        """Translate what was begun, for so many seconds at most, and nothing more."""
        self._batcher.close(patience)

    async def translate(
        self, request: Request, texts: Sequence[str], asking: Asking
    ) -> list[Answer]:
        """The translation of each text; one that is in the target language already stays as it is.

        Raises RequestError for too much text, a full queue, and for what takes too long.
        """
        self.refuse_too_much(texts)
        is_open = [self._is_to_translate(text, asking.source) for text in texts]
        chosen = [text for text, is_chosen in zip(texts, is_open, strict=True) if is_chosen]
        async with _refusing(self.settings.patience):
            found = iter(await self._answers(request, chosen, asking))
        return [
            next(found) if is_chosen else Answer(text)
            for text, is_chosen in zip(texts, is_open, strict=True)
        ]

    async def lines(
        self, request: Request, lines: Sequence[str], way: Translate
    ) -> list[Translation]:
        """The translations of lines. Raises RequestError as `translate` does."""
        self.refuse_too_much(lines)
        async with _refusing(self.settings.patience):
            return await self._lines(request, lines, way)

    async def document(self, request: Request, name: str, content: bytes) -> bytes:
        """A document with its words translated; its name tells its format, else its first lines do.

        Raises RequestError for one that cannot be read, and as `translate` does.
        """
        async with _refusing(self.settings.document_patience):
            work = await run_sync(_opened, Path(name), content, Asked(), limiter=self._readers)
            (written,) = await self._written(request, [work], self.ways.plain)
        return written

    async def links(self, request: Request, pair: SentencePair) -> Sequence[Link]:
        """The words of a line and its translation that belong together. Raises RequestError as `translate` does."""
        self.refuse_too_much(pair)
        async with _refusing(self.settings.patience):
            (links,) = await run_sync(self.ways.align, [pair], limiter=self._readers)
        return links

    def refuse_too_much(self, texts: Sequence[str]) -> None:
        """Raise RequestError for more text than a request may have."""
        characters, most = sum(map(len, texts)), self.settings.most_characters
        if characters > most:
            raise RequestError(
                400, f"Invalid request: {characters} characters; a request may have {most}"
            )

    def _refuse_long_ones(self, lines: Sequence[str]) -> None:
        longest, most = max(map(len, lines), default=0), self.settings.longest_line
        if longest > most:
            raise RequestError(
                400, f"Invalid request: a line of {longest} characters; the longest may have {most}"
            )

    def _is_to_translate(self, text: str, source: str) -> bool:
        return bool(text.strip()) and language_of(text, source) != self.languages.target

    async def _answers(self, request: Request, texts: list[str], asking: Asking) -> list[Answer]:
        if asking.form != "text":
            return await self._tagged(request, texts, asking)
        lines = [line.rstrip("\r") for text in texts for line in text.split("\n")]
        translations = iter(await self._lines(request, lines, asking.way or self.ways.plain))
        answers = []
        for text in texts:
            ends = ["\r" if line.endswith("\r") else "" for line in text.split("\n")]
            answers.append(Answer("\n".join(next(translations).text + end for end in ends)))
        return await self._varied(request, texts, answers) if asking.has_others else answers

    async def _varied(
        self, request: Request, texts: list[str], answers: list[Answer]
    ) -> list[Answer]:
        """The answers, with other translations of each text that is one line."""
        alone = [text for text in texts if "\n" not in text]
        found = iter(await self._lines(request, alone, self.ways.varied))
        return [
            answer if "\n" in text else Answer(answer.text, others(next(found), answer.text))
            for text, answer in zip(texts, answers, strict=True)
        ]

    async def _tagged(self, request: Request, texts: list[str], asking: Asking) -> list[Answer]:
        """Pieces of HTML or XML, whose tags stay."""
        works = await run_sync(_works, texts, asking)
        written = await self._written(request, works, asking.way or self.ways.plain)
        return [Answer(content.decode()) for content in written]

    async def _written(
        self, request: Request, works: Sequence[Work], way: Translate
    ) -> list[bytes]:
        """Documents with their lines translated, and tags around the right words."""
        lines = dict.fromkeys(line for work in works for line in work.lines())
        of_lines = await self._by_line(request, list(lines), way)
        wrong = await run_sync(_marked_wrongly, works, of_lines)
        if wrong:
            without = await self._by_line(request, plain(wrong), way)
            links = await run_sync(self.ways.align, pairs_of(without), abandon_on_cancel=True)
            await run_sync(mark_again, wrong, of_lines, without, links)
        return await run_sync(lambda: [work.written(of_lines) for work in works])

    async def _by_line(
        self, request: Request, lines: Sequence[str], way: Translate
    ) -> dict[str, Line]:
        pairs = zip(lines, await self._lines(request, lines, way), strict=True)
        return {line: Line(each.text, tuple(map(str, each.faults))) for line, each in pairs}

    async def _lines(
        self, request: Request, lines: Sequence[str], way: Translate
    ) -> list[Translation]:
        """The translations of lines, which wait in the queue a window at a time: there is room for others too."""
        self._refuse_long_ones(lines)
        found: list[Translation] = []
        while len(found) < len(lines):
            window = lines[len(found) : len(found) + _WINDOW]
            try:
                submitted = self._batcher.submit(window, way)
            except QueueFullError:
                if not found:
                    raise
                await asyncio.sleep(_LOOKS)  # to end here would lose what is done
                continue
            found += await _unless_gone(request, submitted)
        self.metrics.translated(len(lines), sum(map(len, lines)))
        return found


def _opened(path: Path, content: bytes, asked: Asked) -> Work:
    """A document. Raises DataError for one that cannot be read, of an unknown kind too."""
    try:
        return Work(open_document(path, content, None, asked), asked)
    except UnknownFormatError:
        known = "see supportedFilesFormat in /frontend/settings"
        raise DataError(f"{path}: not a known kind of document; {known}") from None
    except ConfigError as error:
        raise DataError(str(error)) from None


def _works(texts: Sequence[str], asking: Asking) -> list[Work]:
    """Each text as a document."""
    works = []
    for text in texts:
        inline: frozenset[str] = frozenset()
        if asking.form == "xml":
            inline = tags_in_sentences(text) - asking.splitting_tags
        asked = Asked(kept_tags=asking.kept_tags, inline_tags=inline)
        works.append(Work(DocumentFile(BY_NAME["html"], text.encode(), asked), asked))
    return works


def _marked_wrongly(works: Sequence[Work], of_lines: Mapping[str, Line]) -> list[str]:
    wrong = dict.fromkeys(line for work in works for line in work.marked_wrongly(of_lines))
    return list(wrong)


def service_of(
    translator: Translator,
    aligner: Aligner,
    turn: AbstractContextManager[object],
    settings: ServeSettings,
) -> Service:
    """A service of a translator; the other arguments are those of `ways_of`."""
    languages = Languages(translator.src.language, translator.tgt.language)
    return Service(ways_of(translator, aligner, turn), languages, settings)


def others(translation: Translation, text: str) -> tuple[str, ...]:
    """The translations of a line that are not the given one, best first."""
    texts = dict.fromkeys(candidate.text for candidate in translation.candidates)
    return tuple(each for each in texts if each != text)


@asynccontextmanager
async def _refusing(patience: float) -> AsyncIterator[None]:
    """Raise RequestError for what cannot be translated, now or at all, or takes more than so many seconds."""
    try:
        async with asyncio.timeout(patience):
            yield
    except TimeoutError:
        raise RequestError(503, "It took too long; try again later", AGAIN) from None
    except QueueFullError:
        raise RequestError(429, "Slowdown: too much text waits; try again soon", AGAIN) from None
    except (ClosedError, CancelledError):
        raise RequestError(503, "The server is closing", AGAIN) from None
    except (DataError, UnicodeError) as error:
        raise RequestError(400, f"Invalid request: {error}") from None
    except UserError as error:  # it may name files of the server
        _log.error("%s", error)
        raise RequestError(500, "It cannot be translated; see the server's log") from None


async def _unless_gone(
    request: Request, submitted: "Future[list[Translation]]"
) -> list[Translation]:
    """The result, unless the client goes away, which frees its place."""
    waited = asyncio.wrap_future(submitted)
    try:
        while not (await asyncio.wait({waited}, timeout=_LOOKS))[0]:
            if await request.is_disconnected():
                raise RequestError(499, "The client has gone")
        if waited.cancelled():
            raise ClosedError
        return waited.result()
    finally:
        waited.cancel()
