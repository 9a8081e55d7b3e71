"""The page at `/`, its files, and what it asks for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving

from nmt.serving import page
from nmt.serving.settings import ServeSettings

WEB = Path(page.__file__).parent / "web"


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


def post(served: Served, path: str, body: Any) -> Any:
    return served.client.post(path, json=body).json()


def test_each_file_is_there_and_asks_for_nothing_from_elsewhere(served: Served) -> None:
    for path in sorted(WEB.iterdir()):
        name = "" if path.suffix == ".html" else path.name
        answer = served.client.get(f"/{name}")
        assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "://" not in answer.text
        for wanted in re.findall(r'(?:src|href|from) ?=? ?"(?:\./)?([\w.]+)"', answer.text):
            assert (WEB / wanted).exists(), wanted


def test_lines_with_what_may_be_wrong(served: Served) -> None:
    served.model.faults = {"tea": "repetition"}
    answer = post(served, "/page/lines", {"lines": ["tea", "milk"]})
    assert answer == {
        "lines": [
            {"text": "译tea", "faults": ["repetition: tea"], "terms": []},
            {"text": "译milk", "faults": [], "terms": []},
        ]
    }


def test_other_translations_and_their_faults(served: Served) -> None:
    answer = post(served, "/page/others", {"line": "40 teas", "text": "译40 teas"})
    assert [each["text"] for each in answer["others"]] == ["或40 teas"]
    answer = post(served, "/page/others", {"line": "40 teas", "text": "或40 teas"})
    assert [each["text"] for each in answer["others"]] == ["译40 teas"]
    served.model.other = "茶"
    (other,) = post(served, "/page/others", {"line": "40 teas", "text": "译40 teas"})["others"]
    assert other["faults"][0] == "number missing: 40"


def test_words_that_belong_together(served: Served) -> None:
    answer = post(served, "/page/links", {"line": "a tea", "text": "译tea a"})
    assert answer == {"links": [[0, 1, 3, 4], [2, 5, 1, 4]]}


@pytest.mark.parametrize("path", ["lines", "others", "links"])
def test_a_line_is_one_line(path: str, served: Served) -> None:
    answer = post(served, f"/page/{path}", {"lines": ["a\nb"], "line": "a\nb", "text": "c"})
    assert answer == {"error": "Invalid request: a line with a line break"}


def test_the_page_is_for_everybody_and_translations_for_those_with_a_key() -> None:
    with serving(ServeSettings(keys=("secret",))) as served:
        assert served.client.get("/").status_code == 200
        for path in ("lines", "others", "links"):
            ask = {"lines": ["a"], "line": "a", "text": "b"}
            assert served.client.post(f"/page/{path}", json=ask).status_code == 403
            headers = {"Authorization": "Bearer secret"}
            answer = served.client.post(f"/page/{path}", json=ask, headers=headers)
            assert answer.status_code == 200
