"""Translated files that wait for their client to fetch them. They are in memory alone, and for a short time."""

import re
import secrets
from collections import OrderedDict
from pathlib import PurePath
from time import monotonic
from typing import NamedTuple
from urllib.parse import quote

from starlette.responses import Response

_SECONDS = 600.0  # that a file waits
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,12}")
_ROOM = 100 * 2**20  # bytes of all files


class Download(NamedTuple):
    """A file, its name, and when it came."""

    name: str
    content: bytes
    came: float


class Downloads:
    """Files by addresses that nobody guesses. The oldest give way to new ones."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, Download] = OrderedDict()

    def put(self, name: str, content: bytes) -> str:
        """Keep a file; gives the end of its address."""
        ending = PurePath(name).suffix
        token = secrets.token_urlsafe(24) + (ending if _ENDING.fullmatch(ending) else "")
        self._files[token] = Download(name, content, monotonic())
        self._forget_old_ones()
        return token

    def get(self, token: str) -> Download | None:
        """A file, if it is still there."""
        self._forget_old_ones()
        return self._files.get(token)

    def _forget_old_ones(self) -> None:
        """Forget those that have waited for long, and the oldest of too many, but not the newest."""
        size = sum(len(each.content) for each in self._files.values())
        while self._files:
            oldest = next(iter(self._files.values()))
            is_late = monotonic() - oldest.came > _SECONDS
            is_too_much = size > _ROOM and len(self._files) > 1
            if not is_late and not is_too_much:
                return
            size -= len(oldest.content)
            self._files.popitem(last=False)


def translated_name(name: str, language: str) -> str:
    """manual.docx → manual.zh.docx."""
    path = PurePath(name)
    return f"{path.stem}.{language}{path.suffix}"


def as_attachment(file: Download) -> Response:
    """A file that a browser saves, and never shows: what is in it, others have written."""
    name = quote(file.name, safe="")
    return Response(
        file.content,
        media_type="application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
    )
