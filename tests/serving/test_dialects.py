"""What each client sends, and what it is answered: bodies as they send them."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from nmt.serving.languages import detect, normal_code
from nmt.serving.settings import ServeSettings


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


def post(served: Served, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    answer = served.client.post(path, json=body, headers=headers)
    return answer.status_code, answer.json()


# --- LibreTranslate ---


def test_a_text_and_a_list(served: Served) -> None:
    ask = {"q": "tea", "source": "en", "target": "zh"}
    assert post(served, "/translate", ask) == (200, {"translatedText": "译tea"})
    ask = {**ask, "q": ["tea", "", "two\nlines\r\n"]}
    expected = {"translatedText": ["译tea", "", "译two\n译lines\r\n"]}
    assert post(served, "/translate", ask) == (200, expected)


def test_a_form_with_a_repeated_name(served: Served) -> None:
    form = "q=tea&q=coffee%21&source=en&target=zh_CN"
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = served.client.post("/translate", content=form, headers=kind)
    assert answer.json() == {"translatedText": ["译tea", "译coffee!"]}


def test_what_weblate_sends(served: Served) -> None:
    codes = [each["code"] for each in served.client.get("/languages").json()]
    assert {"en", "zh"} <= set(codes)
    ask = {"api_key": "", "q": ["File %s not found"], "source": "en", "target": "zh"}
    assert post(served, "/translate", ask)[1]["translatedText"] == ["译File %s not found"]


def test_what_mastodon_sends(served: Served) -> None:
    (english, *_) = served.client.get("/languages").json()
    assert english["targets"] == ["zh", "zh-Hans"]
    html = ["<p>Hello <b>you</b></p>", "<p>Bye</p>"]
    ask = {"q": html, "source": "auto", "target": "zh-CN", "format": "html", "api_key": ""}
    status, answer = post(served, "/translate", ask)
    assert status == 200
    assert answer["translatedText"][1] == "<p>译Bye</p>"
    assert answer["detectedLanguage"][0]["language"] == "en"
    ask = {**ask, "source": "en"}
    assert "detectedLanguage" not in post(served, "/translate", ask)[1]


def test_what_discourse_sends(served: Served) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    found = served.client.post("/detect", content="q=Hello+there", headers=kind).json()
    assert found == [{"confidence": 100.0, "language": "en"}]
    form = "q=%3Cp%3EHello%3C%2Fp%3E&source=en&target=zh&format=html"
    answer = served.client.post("/translate", content=form, headers=kind).json()
    assert answer == {"translatedText": "<p>译Hello</p>"}


def test_alternatives(served: Served) -> None:
    ask = {"q": "tea", "source": "en", "target": "zh", "alternatives": 3}
    assert post(served, "/translate", ask)[1]["alternatives"] == ["或tea"]
    ask = {**ask, "q": ["tea", "a\nb"]}
    assert post(served, "/translate", ask)[1]["alternatives"] == [["或tea"], []]


def test_chinese_stays_as_it_is(served: Served) -> None:
    ask = {"q": ["茶很好。", "tea"], "source": "auto", "target": "zh"}
    answer = post(served, "/translate", ask)[1]
    assert answer["translatedText"] == ["茶很好。", "译tea"]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["zh-Hans", "en"]
    assert served.model.batches == [["tea"]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Invalid request: missing q parameter"),
        ({"q": "a"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "en"}, "Invalid request: missing target parameter"),
        ({"q": 5, "source": "en", "target": "zh"}, "Invalid request: q is not text"),
        ({"q": ["a", None], "source": "en", "target": "zh"}, "Invalid request: q is not text"),
        ({"q": "a", "source": 5, "target": "zh"}, "Invalid request: source is not text"),
        (
            {"q": "a", "source": "zz", "target": "zh"},
            "zz is not supported; this model translates from en to zh",
        ),
        (
            {"q": "a", "source": "en", "target": "de"},
            "de is not supported; this model translates from en to zh",
        ),
        (
            {"q": "a", "source": "en", "target": "zh", "format": "rtf"},
            "rtf format is not supported",
        ),
        (
            {"q": "a", "source": "en", "target": "zh", "alternatives": "x"},
            "Invalid request: alternatives is not a number",
        ),
        (["q"], "Invalid request: not a JSON object"),
    ],
)
def test_what_is_wrong_is_said(body: Any, message: str, served: Served) -> None:
    assert post(served, "/translate", body) == (400, {"error": message})


def test_garbage_is_no_request(served: Served) -> None:
    for content in (b"\xff\xfe", b"{", b"[" * 100_000, b""):
        answer = served.client.post("/translate", content=content)
        assert answer.json() == {"error": "Invalid request: neither JSON nor a form"}
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = served.client.post("/translate", content=b"q=\xff", headers=kind)
    assert answer.json() == {
        "error": "Invalid request: not a form in UTF-8 of at most 10000 fields"
    }


def test_half_a_character_is_replaced(served: Served) -> None:
    content = b'{"q": "a\\ud800b", "source": "en", "target": "zh"}'
    answer = served.client.post("/translate", content=content)
    assert answer.json() == {"translatedText": "译a\ufffdb"}
    content = b'{"q": "a", "source": "e\\ud800", "target": "zh"}'
    answer = served.client.post("/translate", content=content)
    assert answer.json() == {
        "error": "e\ufffd is not supported; this model translates from en to zh"
    }


def test_health_and_what_a_page_has_to_know(served: Served) -> None:
    assert served.client.get("/health").json() == {"status": "ok"}
    settings = served.client.get("/frontend/settings").json()
    assert settings["language"]["target"] == {"code": "zh", "name": "Chinese"}
    assert settings["keyRequired"] is False


# --- the others ---


def test_deepl(served: Served) -> None:
    ask = {"text": ["tea", "茶"], "target_lang": "ZH-HANS"}
    status, answer = post(served, "/v2/translate", ask)
    assert status == 200
    assert answer["translations"] == [
        {"detected_source_language": "EN", "text": "译tea", "billed_characters": 3},
        {"detected_source_language": "ZH", "text": "茶", "billed_characters": 1},
    ]
    ask = {"text": ["<x>tea</x>"], "target_lang": "ZH", "source_lang": "EN", "tag_handling": "xml"}
    assert post(served, "/v2/translate", ask)[1]["translations"][0]["text"] == "<x>译tea</x>"
    targets = served.client.get("/v2/languages?type=target").json()
    assert [each["language"] for each in targets] == ["ZH", "ZH-HANS"]
    assert served.client.get("/v2/usage").json()["character_count"] > 0
    assert post(served, "/v2/translate", {"text": ["a"], "target_lang": "DE"}) == (
        400,
        {"message": "target_lang DE is not supported; this model translates from en to zh"},
    )
    assert post(served, "/v2/translate", {"text": ["a"] * 51, "target_lang": "ZH"})[0] == 400
    assert post(served, "/v2/translate", {"auth_key": "k", "text": ["a"]})[0] == 403


def test_browser_tools(served: Served) -> None:
    ask = {"source_lang": "auto", "target_lang": "zh-CN", "text_list": ["tea", "two"]}
    found = post(served, "/imme", ask)[1]["translations"]
    assert found[1] == {"detected_source_lang": "en", "text": "译two"}
    ask = {"from": "en", "to": "zh", "text": "tea"}
    assert post(served, "/kiss", ask)[1] == {"text": "译tea", "src": "en"}
    ask = {"from": "auto", "to": "zh", "texts": ["tea"]}
    assert post(served, "/kiss", ask)[1]["translations"] == [{"text": "译tea", "src": "en"}]
    ask = {"text": "tea\ntwo", "destination": ["中文(简体)", "英语"]}
    found = post(served, "/hcfy", ask)[1]
    assert (found["from"], found["result"]) == ("英语", ["译tea", "译two"])
    ask = {"text": "tea", "source_lang": "EN", "target_lang": "ZH"}
    found = post(served, "/deeplx", ask)[1]
    assert (found["code"], found["data"], found["alternatives"]) == (200, "译tea", ["或tea"])
    ask = {"q": "<b>tea</b>", "target": "zh-CN"}
    found = post(served, "/language/translate/v2", ask)[1]
    assert found["data"]["translations"][0]["translatedText"] == "<b>译tea</b>"
    found = served.client.get("/language/translate/v2?q=tea&q=b&target=zh&key=any").json()
    texts = [each["translatedText"] for each in found["data"]["translations"]]
    assert texts == ["译tea", "译b"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/deeplx", {"text": [], "target_lang": "ZH"}),
        ("/hcfy", {"text": [], "destination": ["中文(简体)"]}),
        ("/kiss", {"text": [], "to": "zh"}),
        ("/language/translate/v2", {"q": [], "target": "zh"}),
    ],
)
def test_no_text_is_no_failure(path: str, body: Any, served: Served) -> None:
    status, answer = post(served, path, body)
    assert status == 400
    told = answer["error"]["message"] if "language" in path else answer["error"]
    assert told.endswith(" is empty")


@pytest.mark.parametrize("source", ["en-US", "英语", "自动检测", "zh-CN", None])
def test_hcfy_names_languages_in_several_ways(source: str | None, served: Served) -> None:
    ask = {"text": "tea", "destination": ["中文(简体)"], "source": source}
    assert post(served, "/hcfy", ask)[0] == 200


def test_null_is_the_default(served: Served) -> None:
    optional = ("source_lang", "glossary_id", "tag_handling", "formality", "ignore_tags")
    ask = {"text": ["tea"], "target_lang": "ZH", **dict.fromkeys(optional)}
    assert post(served, "/v2/translate", ask)[0] == 200
    ask = {"q": "tea", "source": "en", "target": "zh", "format": None, "api_key": None}
    assert post(served, "/translate", ask)[0] == 200


def test_a_mounted_application_tells_errors_as_clients_expect_them(served: Served) -> None:
    outer = Starlette(routes=[Mount("/mt", served.app)])
    client = TestClient(outer, "http://localhost", raise_server_exceptions=False)
    assert "message" in client.post("/mt/v2/translate", json={}).json()
    assert client.post("/mt/translate", json={"q": "a"}).status_code == 400
    assert 'path="/v2/translate",status="400"} 1' in client.get("/mt/metrics").text


# --- keys ---


def test_each_request_needs_a_key_if_there_are_any() -> None:
    ask = {"q": "tea", "source": "en", "target": "zh"}
    with serving(ServeSettings(keys=("one", "两"))) as served:
        lacking = (400, {"error": "An API key is missing; ask the operator of this server for one"})
        assert post(served, "/translate", ask) == lacking
        wrong = (403, {"error": "Invalid API key"})
        assert post(served, "/translate", {**ask, "api_key": "two"}) == wrong
        assert post(served, "/translate", {**ask, "api_key": 5}) == wrong
        assert post(served, "/translate", {**ask, "api_key": "两"})[0] == 200
        assert post(served, "/translate", ask, Authorization="Bearer one")[0] == 200
        blank = {**ask, "api_key": ""}
        assert post(served, "/translate", blank, Authorization="Bearer one")[0] == 200
        text = {"text": ["a"], "target_lang": "ZH"}
        assert post(served, "/v2/translate", text, Authorization="DeepL-Auth-Key one")[0] == 200
        assert post(served, "/v2/translate?auth_key=one", text)[0] == 403
        imme = {"target_lang": "zh", "text_list": ["a"]}
        assert post(served, "/imme?token=one", imme)[0] == 200
        assert post(served, "/imme?token=two", imme)[0] == 403
        assert served.client.get("/frontend/settings").json()["keyRequired"] is True
        assert served.client.get("/health").status_code == 200


# --- languages ---


@pytest.mark.parametrize("code", ["zh", "zh-Hans", "zh-CN", "zh_CN", "ZH-HANS", "zho", "cmn"])
def test_chinese_has_many_codes(code: str) -> None:
    assert normal_code(code) == "zh"


@pytest.mark.parametrize(
    ("text", "language"),
    [("Hello.", "en"), ("你好。", "zh"), ("我用 Python", "en"), ("12:30", "en"), ("привет", "zz")],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    found = detect(text)
    if language == "zz":
        assert found.confidence == 0
    else:
        assert found.language == language
