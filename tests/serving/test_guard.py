"""Who may ask, how much, and what is counted and logged."""

from collections.abc import Iterator
from threading import Event

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving

from nmt.errors import ConfigError
from nmt.serving.settings import ServeSettings

ASK = {"q": "tea", "source": "en", "target": "zh"}


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(
        ServeSettings(hosts=("mine.example",), origins=("https://page.example",))
    ) as server:
        yield server


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:5000", 200),
        ("127.0.0.1", 200),
        ("[::1]:5000", 200),
        ("192.168.1.7:5000", 200),
        ("mine.example", 200),
        ("MINE.example:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
        ("[*", 421),
    ],
)
def test_it_goes_by_its_own_names(host: str, status: int, served: Served) -> None:
    answer = served.client.get("/health", headers={"Host": host})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://localhost:8080", True),
        ("http://127.0.0.1", True),
        ("chrome-extension://abcdef", True),
        ("moz-extension://12-34", True),
        ("https://page.example", True),
        ("https://page.example.evil.example", False),
        ("https://evil.example", False),
        ("http://192.168.1.7", False),
        ("null", False),
    ],
)
def test_pages_that_may_ask(origin: str, is_allowed: bool, served: Served) -> None:
    answer = served.client.post("/translate", json=ASK, headers={"Origin": origin})
    assert answer.status_code == (200 if is_allowed else 403)
    preflight = served.client.options(
        "/translate",
        headers={"Origin": origin, "Access-Control-Request-Headers": "content-type"},
    )
    assert preflight.status_code == (204 if is_allowed else 403)
    told = answer.headers.get("access-control-allow-origin")
    assert told == (origin if is_allowed else None)
    if is_allowed:
        assert preflight.headers["access-control-allow-headers"] == "content-type"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_its_own_page_may_ask(scheme: str, served: Served) -> None:
    for host, is_own in (("192.168.1.7:5000", True), ("mine.example", True), ("other", False)):
        headers = {"Host": host, "Origin": f"{scheme}://{host}"}
        answer = served.client.post("/translate", json=ASK, headers=headers)
        assert answer.status_code == (200 if is_own else 421)
        headers["Origin"] = f"{scheme}://x.{host}"
        answer = served.client.post("/translate", json=ASK, headers=headers)
        assert answer.status_code == (403 if is_own else 421)


def test_every_page_may_ask_if_that_is_said() -> None:
    with serving(ServeSettings(origins=("*",))) as served:
        headers = {"Origin": "https://evil.example"}
        assert served.client.post("/translate", json=ASK, headers=headers).status_code == 200


def test_too_much_is_refused() -> None:
    with serving(ServeSettings(most_bytes=2**21, most_characters=100)) as served:
        answer = served.client.post("/translate", json={**ASK, "q": "x" * 101})
        assert answer.status_code == 400
        assert answer.json()["error"].endswith("101 characters; a request may have 100")
        answer = served.client.post("/translate", content=b"x" * (2**21 + 1))
        assert answer.status_code == 413
        assert answer.json() == {"error": "Request too large: more than 2 MB"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": ("a", " ")}, "an API key is blank"),
        ({"hosts": ("http://x.y",)}, "host 'http://x.y' is no name"),
        ({"hosts": ("x.y:80",)}, "host 'x.y:80' is no name"),
        ({"origins": ("x.y",)}, "origin 'x.y' is not like https://example.org"),
        ({"origins": ("https://x.y/",)}, "origin 'https://x.y/' is not like https://example.org"),
    ],
)
def test_what_no_client_could_send_is_refused(
    settings: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        ServeSettings(**settings)  # type: ignore[arg-type]


def test_a_line_too_long_is_refused_whatever_it_is_in() -> None:
    with serving(ServeSettings(longest_line=100)) as served:
        message = "Invalid request: a line of 101 characters; the longest may have 100"
        for form in ("text", "html"):
            ask = {**ASK, "q": "x" * 101, "format": form}
            answer = served.client.post("/translate", json=ask)
            assert (answer.status_code, answer.json()) == (400, {"error": message})
        fields = {"source": "en", "target": "zh"}
        files = {"file": ("a.txt", b"tea\n\n" + b"x" * 101)}
        answer = served.client.post("/translate_file", data=fields, files=files)
        assert (answer.status_code, answer.json()) == (400, {"error": message})
        ask = {**ASK, "q": f"{'x' * 100}\n" * 9}
        assert served.client.post("/translate", json=ask).status_code == 200


def test_a_full_queue_and_a_slow_model(served: Served) -> None:
    settings = ServeSettings(room=1, patience=0.3)
    with serving(settings) as slow:
        opened = Event()
        slow.model.before = lambda: opened.wait(20)
        first = slow.service._batcher.submit(["a", "b"], slow.model)
        answer = slow.client.post("/translate", json=ASK)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert answer.json()["error"].startswith("Slowdown: ")
        first.cancel()
        answer = slow.client.post("/translate", json=ASK)
        assert answer.status_code == 503
        opened.set()


def test_what_fails_is_told_without_a_traceback(served: Served) -> None:
    answer = served.client.post("/translate", json={**ASK, "q": "fail"})
    assert answer.status_code == 500
    assert answer.json() == {"error": "It cannot be translated; see the server's log"}
    answer = served.client.post("/translate", json={**ASK, "q": "break"})
    assert answer.status_code == 500
    assert answer.json() == {"error": "The server failed; see its log"}
    answer = served.client.post("/translate", json={**ASK, "q": "panic"})
    assert answer.status_code == 500
    assert served.client.post("/translate", json=ASK).status_code == 200  # the others go on
    allowed = {"Origin": "http://localhost:3000"}
    answer = served.client.post("/translate", json={**ASK, "q": "break"}, headers=allowed)
    assert answer.headers["access-control-allow-origin"] == allowed["Origin"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert served.client.get("/nope").json() == {"error": "Not Found"}
    assert served.client.get("/translate").status_code == 405


def test_what_is_counted_and_logged_has_nobodys_text(served: Served) -> None:
    served.client.post("/translate", json={**ASK, "q": "my secret\nplan"})
    served.client.get("/download_file/secret.docx?q=secret")
    served.client.get("/v2/transl\u00e4te?q=secret")
    served.client.get("/secret-key/translate")
    served.client.get("/v3/glossaries/secret")
    served.client.get("/v3/glossaries/secret/entries")
    metrics = served.client.get("/metrics").text
    assert 'nmt_requests_total{path="/translate",status="200"} 1' in metrics
    assert 'nmt_requests_total{path="other",status="404"} 2' in metrics
    assert "nmt_translated_lines_total 2" in metrics
    assert "nmt_request_seconds_count 6" in metrics
    assert 'path="/download_file/{token}",status="404"} 1' in metrics
    assert "nmt_waiting_lines 0" in metrics
    logged = [" ".join(line.split()[2:5]) for line in served.log]
    assert logged[:6] == [
        "POST /translate 200",
        "GET /download_file/{token} 404",
        r"GET /v2/transl\xe4te 404",
        "GET other 404",
        "GET /v3/glossaries/{id} 404",
        "GET /v3/glossaries/{id}/entries 404",
    ]
    assert "secret" not in "".join(served.log) + metrics
