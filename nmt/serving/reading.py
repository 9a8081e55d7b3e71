"""Requests as mappings of names to values: JSON, or a form, of a bounded size."""

import asyncio
import hmac
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import python_multipart  # noqa: F401 - starlette reads forms with it; without it, the server does not start
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from nmt.serving.errors import RequestError
from nmt.serving.settings import ServeSettings

_SECONDS = 20.0  # for the whole of a request to come
_UPLOAD_SECONDS = 300.0  # for one with a file
# Bytes that are read although they are too much: a client that is cut off while it sends does not read why.
_DISCARDED = 100 * 2**20
_MOST_FIELDS = 10_000  # of a form
_MULTIPART = "multipart/form-data"
_MOST_FILES = 1
_MOST_PARTS = 100
_SCHEMES = ("bearer ", "deepl-auth-key ")
# It warns of each form that is none; clients are told.
logging.getLogger("python_multipart").addHandler(logging.NullHandler())


class Upload(NamedTuple):
    """A file that a client sent, and its name without folders."""

    name: str
    content: bytes


async def read_fields(request: Request, settings: ServeSettings) -> dict[str, Any]:
    """What a request says; a name that a form repeats has a list. Raises RequestError for what cannot be read."""
    body = await _body(request, settings.most_bytes)
    kind = _kind(request)
    if kind == "application/x-www-form-urlencoded":
        return _form(body)
    if kind == _MULTIPART:
        fields, _ = await _parts(request, body)
        return fields
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        why = f"broken JSON ({error})" if kind.endswith("json") else "neither JSON nor a form"
        raise RequestError(400, f"Invalid request: {why}") from None
    if not isinstance(fields, dict):
        raise RequestError(400, "Invalid request: not a JSON object")
    return fields


async def read_upload(
    request: Request, settings: ServeSettings, name: str = "file"
) -> tuple[dict[str, Any], Upload]:
    """The fields of a form, and the file under a name. Raises RequestError if there is none."""
    body = await _body(request, settings.most_file_bytes, _UPLOAD_SECONDS)
    if _kind(request) != _MULTIPART:
        raise RequestError(400, f"Invalid request: not {_MULTIPART}")
    fields, files = await _parts(request, body)
    if name not in files:
        raise RequestError(400, f"Invalid request: missing {name} parameter")
    return fields, files[name]


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _parts(request: Request, body: bytes) -> tuple[dict[str, Any], dict[str, Upload]]:
    """The fields and the files of a form in parts. Raises HTTPException for what is none."""

    async def received() -> Message:
        return {"type": "http.request", "body": body}

    pairs: list[tuple[str, str]] = []
    files = {}
    parts = Request(request.scope, received).form(max_files=_MOST_FILES, max_fields=_MOST_PARTS)
    async with parts as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                pairs.append((name, value))
            else:
                files[name] = Upload(PurePath(value.filename or "").name, await value.read())
    return fields_of(pairs), files


async def _body(request: Request, most: int, seconds: float = _SECONDS) -> bytes:
    body = bytearray()
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= most:
                    body += chunk
                elif size > most + _DISCARDED:
                    break
    except TimeoutError:
        raise RequestError(
            408, "The request did not come in time", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise RequestError(499, "The client has gone") from None
    if size > most:
        message = f"Request too large: more than {most / 2**20:.3g} MB"
        raise RequestError(413, message, {"Connection": "close"})
    return bytes(body)


def _form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(
            body.decode(),
            keep_blank_values=True,
            max_num_fields=_MOST_FIELDS,
            errors="strict",
        )
    except ValueError:
        message = f"not a form in UTF-8 of at most {_MOST_FIELDS} fields"
        raise RequestError(400, f"Invalid request: {message}") from None
    return fields_of(pairs)


def fields_of(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The fields of a form; a name that comes again has a list."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: each if len(each) > 1 else each[0] for name, each in found.items()}


def texts_of(fields: Mapping[str, Any], name: str) -> tuple[list[str], bool]:
    """The texts under a name, and whether they came as a list. Raises RequestError if there are none."""
    value = fields.get(name)
    if value is None:
        raise RequestError(400, f"Invalid request: missing {name} parameter")
    texts = value if isinstance(value, list) else [value]
    if not texts:
        raise RequestError(400, f"Invalid request: {name} is empty")
    if not all(isinstance(text, str) for text in texts):
        raise RequestError(400, f"Invalid request: {name} is not text")
    return [whole(text) for text in texts], isinstance(value, list)


def whole(text: str) -> str:
    """A text without half pairs of surrogates, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def word_of(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A word under a name. Raises RequestError if it is missing without a default, or no text."""
    value = default if fields.get(name) is None else fields[name]
    if value is None:
        raise RequestError(400, f"Invalid request: missing {name} parameter")
    if not isinstance(value, str):
        raise RequestError(400, f"Invalid request: {name} is not text")
    return whole(value)


def check_key(
    request: Request,
    settings: ServeSettings,
    given: object = None,
    missing: int = 400,
    wrong: int = 403,
) -> None:
    """Raise RequestError unless a request has one of the keys, in `given` or its header, if there are any.

    `missing` is the status if it has none at all, `wrong` if it has another.
    """
    if not settings.keys:
        return
    header = request.headers.get("authorization", "")
    for scheme in _SCHEMES:
        if not given and header.lower().startswith(scheme):
            given = header[len(scheme) :].strip()
    if not given:
        raise RequestError(
            missing, "An API key is missing; ask the operator of this server for one"
        )
    asked = str(given).encode(errors="replace")
    # Each is compared, and in constant time: how long it takes tells nothing.
    fits = [hmac.compare_digest(asked, key.encode()) for key in settings.keys]
    if True not in fits:
        raise RequestError(wrong, "Invalid API key")
