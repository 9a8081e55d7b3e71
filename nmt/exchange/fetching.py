"""Files from the network, kept in the user's cache: fetched once, whole, and checked; what was cut off is gone on with.

Proxies are those that $HTTPS_PROXY and $NO_PROXY name.
"""

import hashlib
import http.client
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tqdm import tqdm

from nmt import __version__
from nmt.errors import ModelError
from nmt.files import user_cache

_BLOCK = 2**18  # bytes
_PATIENCE = 30  # seconds without a byte
_LARGEST = 2**28  # bytes
_NAME = re.compile(r"[\w-][\w.-]{0,200}", re.ASCII)
_PRINTABLE = re.compile(r"[!-~]+")
_SHOWN = 200  # characters of an address in a message
_OWN = ("localhost", "127.0.0.1", "::1")  # hosts to which no network leads
_UNSATISFIABLE = 416  # a server's answer where there is nothing to go on with
_PARTIAL = 206

Check = Callable[[Path], None]  # raises ModelError for a file that is not what it should be


def fetched(url: str, check: Check, largest: int = _LARGEST) -> Path:
    """The file at an address, fetched into the cache now; under the last part of the address as its name.

    Raises ModelError, which names the address, for one that is not safe or cannot be fetched, for more than `largest`
    bytes, and what `check` raises. Then a file of an earlier time stays.
    """
    path = place_of(url)
    part = path.with_name(f"part-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(url, part, largest)
    except OSError as error:
        raise _told(url, str(error.strerror or error)) from None
    try:
        check(part)
    except ModelError:
        part.unlink()
        raise
    part.replace(path)
    return path


def cached(url: str, check: Check, largest: int = _LARGEST) -> Path:
    """The file at an address, from the cache, or fetched into it; raises as `fetched`."""
    path = place_of(url)
    if not path.exists():
        return fetched(url, check, largest)
    check(path)
    return path


def place_of(url: str) -> Path:
    """Where the file at an address lies in the cache, once it was fetched."""
    return cache_folder() / hashlib.sha256(url.encode()).hexdigest()[:16] / _name_of(url)


def cache_folder() -> Path:
    """The folder of what was fetched. Raises ModelError if this user has no home folder, and none is named."""
    try:
        return user_cache("fetched")
    except RuntimeError:
        message = (
            "no folder for fetched files: no home folder is known; name one as $XDG_CACHE_HOME"
        )
        raise ModelError(message) from None


def refuse_unsafe(url: str) -> None:
    """Raise ModelError for an address that is not a whole one with HTTPS, unless it is on this machine."""
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname, parts.scheme
    except ValueError:  # such as for half of a bracket
        host = scheme = None
    is_safe = scheme == "https" or (scheme == "http" and host in _OWN)
    if not (host and is_safe and _PRINTABLE.fullmatch(url)):
        message = "not an address with https; nmt fetches nothing else"
        raise ModelError(f"{url[:_SHOWN]!r}: {message}")


class _SafeRedirects(HTTPRedirectHandler):
    """Follows a server to no address that nmt would not ask by itself."""

    def redirect_request(self, *arguments: Any) -> Request | None:
        """What to ask instead. The first answer is the second argument, the new address the last."""
        try:
            refuse_unsafe(arguments[-1])
        except ModelError:
            arguments[1].close()
            raise
        return super().redirect_request(*arguments)


def _name_of(url: str) -> str:
    refuse_unsafe(url)
    name = urlsplit(url).path.rpartition("/")[2]
    if _NAME.fullmatch(name) is None:
        raise ModelError(f"{url}: no name of a file in this address")
    return name


def _fetch(url: str, part: Path, largest: int) -> None:
    """Fetch what `part` does not have yet. Raises ModelError if not all of it comes."""
    try:
        _append(url, part, largest)
    except HTTPError as error:
        with error:
            if error.code == _UNSATISFIABLE and part.exists():
                part.unlink()
                return _fetch(url, part, largest)
            raise _told(url, f"the server answers {error.code} {error.reason}") from None
    except URLError as error:
        reason = error.reason
        raise _told(url, str(getattr(reason, "strerror", None) or reason)) from None
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise _told(url, str(error) or type(error).__name__) from None


def _append(url: str, part: Path, largest: int) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"nmt/{__version__}"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = Request(url, headers=headers)  # noqa: S310 - `_name_of` has seen the scheme
    opener = build_opener(_SafeRedirects)
    with closing(opener.open(request, timeout=_PATIENCE)) as answer:
        begun = have if answer.status == _PARTIAL else 0
        length = answer.headers.get("Content-Length") or ""
        total = begun + int(length) if length.isdecimal() else None
        if max(total or 0, begun) > largest:
            raise ModelError(f"{url}: {total:,} bytes are more than {largest:,}")
        size = _write(answer, part, begun, total, largest)
    if size > largest:
        part.unlink()
        raise ModelError(f"{url}: more than {largest:,} bytes")
    if total is not None and size < total:
        raise _told(url, f"{size:,} of {total:,} bytes came; the next try goes on there")


def _write(answer: Any, part: Path, begun: int, total: int | None, largest: int) -> int:
    """Write what comes behind the first `begun` bytes, and little more than allowed; gives the size then."""
    size = begun
    name = part.name.removeprefix("part-")
    bar = tqdm(desc=name, initial=begun, total=total, unit="B", unit_scale=True, disable=None)
    with part.open("ab" if begun else "wb") as file, bar:
        while size <= largest and (block := answer.read(_BLOCK)):
            size += file.write(block)
            bar.update(len(block))
    return size


def _told(url: str, reason: str) -> ModelError:
    fix = "check the network, or fetch it by hand"
    return ModelError(f"{url}: cannot be fetched ({reason}); {fix}")
