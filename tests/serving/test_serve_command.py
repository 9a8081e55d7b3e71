"""A server as a user starts it: real clients, bad connections, signals."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from conftest import run_nmt

import nmt
from nmt.run.folder import RunDir

pytest.importorskip("uvicorn")

SECONDS = 60


class Server:
    """A running `nmt serve`."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "nmt", "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"listening at http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                break
        else:
            raise AssertionError("".join(self.said))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def close(self) -> None:
        """Kill it, if it runs."""
        assert self.process.stderr is not None
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stderr.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.said += self.process.stderr

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def translate(self, text: str | list[str]) -> str | list[str]:
        body = json.dumps({"q": text, "source": "en", "target": "zh"}).encode()
        asked = Request(f"{self.url}/translate", body, {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(asked, timeout=SECONDS) as answer:  # noqa: S310
            return json.load(answer)["translatedText"]  # type: ignore[no-any-return]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)


@pytest.fixture(scope="module")
def server(trained: RunDir) -> Iterator[Server]:
    running = Server("--model", trained.path)
    yield running
    running.close()


def test_it_writes_what_nmt_translate_writes(server: Server, trained: RunDir) -> None:
    lines = ["one two.", "four three nine.", "see https://x.org/a one."]
    written = run_nmt("translate", "--model", trained.path, stdin="\n".join(lines))
    assert server.translate(lines) == written.stdout.decode().splitlines()


def test_libretranslates_own_client(server: Server) -> None:
    library = pytest.importorskip("libretranslatepy")
    client = library.LibreTranslateAPI(f"{server.url}/")
    assert client.translate("one two.", "en", "zh") == server.translate("one two.")
    assert client.detect("hello")[0]["language"] == "en"
    assert "zh" in [each["code"] for each in client.languages()]


def test_deepls_own_client(server: Server) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.Translator("any-key", server_url=server.url)
    texts = ["one two.", "nine."]
    found = client.translate_text(texts, source_lang="EN", target_lang="ZH")
    assert [each.text for each in found] == server.translate(texts)
    assert found[0].detected_source_lang == "EN"
    html = client.translate_text("<p>one <b>two</b>.</p>", target_lang="ZH", tag_handling="html")
    assert html.text.startswith("<p>")
    assert {each.code for each in client.get_target_languages()} == {"ZH", "ZH-HANS"}
    assert client.get_usage().character.count > 0
    with pytest.raises(deepl.DeepLException, match="DE is not supported"):
        client.translate_text("one", target_lang="DE")


def test_each_of_many_clients_gets_its_own(server: Server) -> None:
    digits = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    texts = [f"{a} {b} {c}." for a in digits for b in digits[:5] for c in digits[:3]]
    expected = dict(zip(texts, server.translate(texts), strict=True))
    with ThreadPoolExecutor(30) as pool:
        found = list(pool.map(server.translate, texts))
    assert [each == expected[text] for each, text in zip(found, texts, strict=True)].count(
        False
    ) <= len(texts) // 20  # other batches round otherwise
    for text, each in zip(texts, found, strict=True):
        assert abs(len(each) - len(expected[text])) <= 4


def test_bad_connections_keep_nobody_waiting(server: Server) -> None:
    idle = [server.connect() for _ in range(200)]
    slow = server.connect()
    slow.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\n")
    half = server.connect()
    half.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
    half.shutdown(socket.SHUT_WR)
    begun = time.monotonic()
    assert server.translate("one.")
    assert time.monotonic() - begun < 10
    for each in (*idle, slow, half):
        each.close()


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",  # TLS
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00" * 100_000,
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_answered_or_hung_up_on(data: bytes, server: Server) -> None:
    with server.connect() as connection:
        try:
            connection.sendall(data)
            answer = connection.recv(2000)
        except ConnectionError:
            answer = b""
    assert not answer or re.match(rb"HTTP/1\.1 4\d\d ", answer)
    assert b"Traceback" not in answer


def test_what_is_too_large_is_told_to_a_client_that_sends_it_all(server: Server) -> None:
    body = b"q=" + b"x" * 20_000_000
    head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: connection.recv(2000), b""))
    assert b"413" in answer.splitlines()[0]
    assert b"more than 1 MB" in answer


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_what_was_begun_is_answered(number: int, trained: RunDir) -> None:
    running = Server("--model", trained.path)
    answers: list[str | list[str]] = []
    texts = ["one two three four."] * 400
    asking = threading.Thread(target=lambda: answers.append(running.translate(texts)))
    asking.start()
    time.sleep(0.3)
    running.process.send_signal(number)
    running.process.wait(15)
    asking.join(SECONDS)
    running.close()
    assert len(answers[0]) == 400
    assert running.process.returncode in (-number, 128 + number)
    assert "Traceback" not in "".join(running.said)


def test_mistakes_are_one_line(trained: RunDir, tmp_path: Path, server: Server) -> None:
    taken = run_nmt("serve", "--model", trained.path, "--port", server.port)
    assert taken.returncode == 2
    assert taken.stderr.decode().splitlines()[-1] == (
        f"nmt: 127.0.0.1:{server.port}: Address already in use; choose another --port or --host"
    )
    empty = tmp_path / "keys"
    empty.write_text("# no key\n\n")
    keys = run_nmt("serve", "--model", trained.path, "--api-key-file", empty)
    assert f"{empty}: no keys in it; write one on each line" in keys.stderr.decode()
    file = run_nmt("serve", "--model", trained.path, "--port", 0, "--glossaries", empty)
    assert file.returncode == 2
    assert f"nmt: --glossaries {empty}: File exists; name a folder" in file.stderr.decode()
    assert "listening" not in file.stderr.decode()
    nowhere = run_nmt("serve", "--model", trained.path, "--host", "no.such.host.example")
    assert nowhere.returncode == 2
    assert os.linesep not in nowhere.stderr.decode().strip().splitlines()[-1]


def test_a_server_for_everybody_without_keys_is_warned_of(trained: RunDir) -> None:
    command = [sys.executable, "-m", "nmt", "serve", "--port", "0", "--host", "0.0.0.0"]  # noqa: S104
    with subprocess.Popen(
        [*command, "--model", str(trained.path)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "listening" in line:
                break
        process.terminate()
    assert "--host 0.0.0.0: anyone who can reach this machine can use it" in said


def test_an_application_of_ones_own_can_have_it(trained: RunDir) -> None:
    testclient = pytest.importorskip("starlette.testclient")
    translator = nmt.load(trained.path, engine="torch", device="cpu")
    with testclient.TestClient(nmt.serve(translator, keys="k"), "http://localhost") as client:
        ask = {"q": "one two.", "source": "en", "target": "zh"}
        assert client.post("/translate", json=ask).status_code == 400
        answer = client.post("/translate", json={**ask, "api_key": "k"}).json()
    assert answer["translatedText"] == translator.translate("one two.").text
