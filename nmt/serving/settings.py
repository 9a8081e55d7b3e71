"""What a server allows, and to whom."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ServeSettings:
    """The limits of a server. Whoever mounts it in an application of their own may leave the keys to that."""

    keys: tuple[str, ...] = ()  # one of which each request needs, if there are any
    hosts: tuple[str, ...] = ()  # names by which it is called, beside localhost and addresses of IP
    origins: tuple[
        str, ...
    ] = ()  # of pages that may ask, beside those of this machine and extensions; or "*"
    glossaries: Path | None = None  # the folder of those that clients make
    most_bytes: int = 2**20  # of a request
    most_file_bytes: int = 10 * 2**20  # of one with a file
    most_characters: int = 100_000  # of the texts of a request
    longest_line: int = 10_000  # characters; while one is translated, all others wait
    room: int = 20_000  # lines that may wait
    patience: float = 60.0  # seconds that a request may take
    document_patience: float = 600.0  # seconds that a document may take
