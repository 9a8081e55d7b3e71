"""A page in headless Chromium, driven by the DevTools protocol over a pipe: no other library is needed.

https://chromedevtools.github.io/devtools-protocol/ describes the methods.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_SCALE = 1
_PATIENCE = 60  # seconds


class Browser:
    """One tab. `complaints` are errors on the console, uncaught exceptions, and what a policy blocked."""

    def __init__(self, writing: int, reading: int) -> None:
        self._out = os.fdopen(writing, "wb", buffering=0)
        self._in = os.fdopen(reading, "rb", buffering=0)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.dialogs = 0
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def end(self) -> None:
        """Close the pipe."""
        self._out.close()
        self._in.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method and wait for its answer; events that come meanwhile are noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            block = os.read(self._in.fileno(), 2**20)
            assert block, "chromium ended"
            self._rest += block
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, values = message.get("method"), message.get("params", {})
        if method == "Page.javascriptDialogOpening":
            self.dialogs += 1
            self._number += 1
            close = {"id": self._number, "method": "Page.handleJavaScriptDialog"}
            close |= {"params": {"accept": True}, "sessionId": self._session}
            self._out.write(json.dumps(close).encode() + b"\0")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(values))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.complaints.append(values["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(values["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"][:200])

    def size(self, width: int, height: int = 900) -> None:
        """Show pages on a screen of this size; a narrow one is a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=_SCALE,
            mobile=width < 600,
        )

    def scheme(self, name: str) -> None:
        """Prefer `dark` or `light`."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def script(self, is_on: bool) -> None:
        """Execute pages' scripts, or none."""
        self.call("Emulation.setScriptExecutionDisabled", value=not is_on)

    def open(self, place: Path | str) -> None:
        """Open a file or an address, and wait until it is loaded."""
        url = place if isinstance(place, str) else place.absolute().as_uri()
        self.call("Page.navigate", url=url)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression: str) -> Any:
        """What an expression gives on the page, once its promises are kept."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def type(self, identity: str, text: str) -> None:
        """Type into an element, behind what is there."""
        self.value(f"document.getElementById({identity!r}).focus()")
        self.call("Input.insertText", text=text)

    def point(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < end, self.value("document.body.innerText")
            time.sleep(0.02)

    def picture(self, path: Path, whole: bool = True) -> None:
        """Write a PNG of the page."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF")["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser that ends with the block; `profile` is a folder for it."""
    assert CHROMIUM
    there, ours = os.pipe()
    back, theirs = os.pipe()
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-dev-shm-usage", "--disable-background-networking"]
    command += [f"--user-data-dir={profile}", "--remote-debugging-pipe"]

    def place() -> None:  # the protocol speaks on 3 and 4
        saved = os.dup(there), os.dup(theirs)
        os.dup2(saved[0], 3)
        os.dup2(saved[1], 4)

    process = subprocess.Popen(
        command, preexec_fn=place, close_fds=False, stderr=subprocess.DEVNULL
    )
    os.close(there)
    os.close(theirs)
    opened = Browser(ours, back)
    try:
        yield opened
    finally:
        opened._session = None
        with suppress(AssertionError, OSError):
            opened.call("Browser.close")
        opened.end()
        process.wait(timeout=20)
