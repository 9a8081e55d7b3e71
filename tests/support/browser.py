"""A page in headless Chromium, through ChromeDriver, where both are installed."""

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_PATIENCE = 60  # seconds


class Page:
    """What is open in the browser."""

    def __init__(self, session: str) -> None:
        self._session = session

    def run(self, script: str) -> Any:
        """What a script returns."""
        return _ask(f"{self._session}/execute/sync", {"script": script, "args": []})

    def open(self, url: str) -> None:
        _ask(f"{self._session}/url", {"url": url})

    def type(self, element: str, text: str) -> None:
        """Type into the element of this id."""
        found = _ask(f"{self._session}/element", {"using": "css selector", "value": f"#{element}"})
        _ask(f"{self._session}/element/{next(iter(found.values()))}/value", {"text": text})

    def wait_for(self, script: str) -> Any:
        """What a script returns, once that is true."""
        end = time.monotonic() + _PATIENCE
        while not (found := self.run(f"return {script}")):
            assert time.monotonic() < end, self.run("return document.body.innerText")
            time.sleep(0.05)
        return found

    def save_picture(self, path: Path) -> None:
        with urlopen(f"{self._session}/screenshot", timeout=_PATIENCE) as answer:  # noqa: S310
            path.write_bytes(base64.b64decode(json.load(answer)["value"]))


@contextmanager
def browser(profile: Path, *flags: str) -> Iterator[Page]:
    """An empty page, with the browser's files in the folder `profile`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen([str(DRIVER), f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        options = {"binary": CHROMIUM, "args": [*_FLAGS, f"--user-data-dir={profile}", *flags]}
        asked = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        root = f"http://127.0.0.1:{port}/session"
        session = f"{root}/{_begin(root, asked)['sessionId']}"
        yield Page(session)
        urlopen(Request(session, method="DELETE"), timeout=_PATIENCE).close()  # noqa: S310
    finally:
        driver.terminate()
        driver.wait()


def _begin(root: str, asked: dict[str, Any]) -> Any:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return _ask(root, asked)
        except (URLError, ConnectionError):  # it has not started yet
            assert time.monotonic() < end
            time.sleep(0.05)


def _ask(url: str, value: dict[str, Any]) -> Any:
    data = json.dumps(value).encode()
    with urlopen(Request(url, data=data), timeout=_PATIENCE) as answer:  # noqa: S310
        return json.load(answer)["value"]
