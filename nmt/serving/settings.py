"""What a server allows, and to whom."""

import re
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import ConfigError

_HOST = re.compile(r"[\w.-]+")
_ORIGIN = re.compile(r"[a-z][a-z\d+.-]*://[^/\s]+")


@dataclass(frozen=True)
class ServeSettings:
    """The limits of a server. Whoever mounts it in an application of their own may leave the keys to that."""

    keys: tuple[str, ...] = ()  # one of which each request needs, if there are any
    hosts: tuple[str, ...] = ()  # names by which it is called, besides localhost and IP addresses
    origins: tuple[
        str, ...
    ] = ()  # of pages that may ask, besides those of this machine and extensions; or "*"
    glossaries: Path | None = None  # the folder of those that clients make
    most_bytes: int = 2**20  # of a request
    most_file_bytes: int = 10 * 2**20  # of one with a file
    most_characters: int = 100_000  # of the texts of a request
    longest_line: int = 10_000  # characters; while one is translated, all others wait
    room: int = 20_000  # lines that may wait
    patience: float = 60.0  # seconds that a request may take
    document_patience: float = 600.0  # seconds that a document may take

    def __post_init__(self) -> None:
        """Raise ConfigError for what no client could send."""
        for key in self.keys:
            if not key.strip():
                raise ConfigError("an API key is blank; write one, or leave it out")
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                raise ConfigError(f"host {host!r} is no name such as translate.example.org")
        for origin in self.origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"origin {origin!r} is not like https://example.org; '*': every page"
                )
