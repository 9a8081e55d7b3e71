"""A server on this machine that gives the files of a folder, also from a byte on, as Mozilla's bucket does."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Bucket(ThreadingHTTPServer):
    """Each answer breaks off after `most` bytes, if that is set; `told` are what was asked for, and from which byte."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.most: int | None = None
        self.ranges = True
        self.told: list[tuple[str, int]] = []

    def handle_error(self, *_arguments: object) -> None:
        """A client that has heard enough hangs up."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Bucket

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        begin = int(asked[1]) if asked and self.server.ranges else 0
        self.server.told.append((name, begin))
        if name == "elsewhere.json":
            self.send_response(302)
            self.send_header("Location", "http://example.org/models.json")
            self.end_headers()
            return
        path = self.server.folder / name
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        if begin and begin >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:][: self.server.most])


@contextmanager
def stand_in_bucket(folder: Path) -> Iterator[Bucket]:
    """The server, as long as the block runs."""
    with Bucket(folder) as bucket:
        thread = Thread(target=bucket.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield bucket
        finally:
            bucket.shutdown()
            thread.join()
