"""A server on this machine that answers as the Hugging Face hub does, for one model."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import huggingface_hub
import pytest

COMMIT = "408d9bc410a388e1d9aef112a2daba955b945255"


class Hub(ThreadingHTTPServer):
    """Serves the files of a folder as those of `name`, at COMMIT, which is also the branch `main` and the tag `v1`."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.name = name
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, has_body: bool) -> None:
        path = unquote(self.path.partition("?")[0])
        of_model, _, revision = path.removeprefix("/api/models/").partition("/revision/")
        base = f"/{self.server.name}/resolve/"
        tree = f"/api/models/{self.server.name}/tree/{COMMIT}"
        if of_model == self.server.name and revision in ("", "main", "v1", COMMIT):
            self._send(self._info(), has_body, {})
        elif path == tree:
            self._send(self._tree(), has_body, {})
        elif path.startswith(base):
            revision, _, name = path.removeprefix(base).partition("/")
            content = (self.server.folder / name).read_bytes()
            if has_body:
                self.server.fetched.append(name)
            etag = hashlib.sha256(content).hexdigest()
            self._send(content, has_body, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
        else:
            code = "RevisionNotFound" if of_model == self.server.name else "RepoNotFound"
            self._send(b"{}", has_body, {"X-Error-Code": code}, status=404)

    def _info(self) -> bytes:
        name = self.server.name
        info = {"_id": "0", "id": name, "modelId": name, "sha": COMMIT}
        return json.dumps({**info, "private": False, "tags": [], "downloads": 0}).encode()

    def _tree(self) -> bytes:
        files = []
        for path in sorted(self.server.folder.iterdir()):
            content = path.read_bytes()
            oid = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            files.append({"type": "file", "path": path.name, "size": len(content), "oid": oid})
        return json.dumps(files).encode()

    def _send(
        self, content: bytes, has_body: bool, headers: dict[str, str], status: int = 200
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if has_body:
            self.wfile.write(content)


@contextmanager
def stand_in_hub(folder: Path, name: str) -> Iterator[Hub]:
    """The server, at work."""
    hub = Hub(folder, name)
    thread = Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        thread.join()
        hub.server_close()


def be_hub(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What $HF_ENDPOINT sets when the library is loaded, which it is by now."""
    path = "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + path)
