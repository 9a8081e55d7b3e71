"""DeepL's glossaries: made, changed, kept, and used."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving

from nmt.errors import DataError
from nmt.serving import glossaries
from nmt.serving.deepl_glossaries import as_tsv, entries_of
from nmt.serving.errors import RequestError
from nmt.serving.settings import ServeSettings
from nmt.terms.glossary import Glossary, Term

PAIR = {"source_lang": "EN", "target_lang": "ZH"}
DICTIONARY = {**PAIR, "entries": "tea\t茶\nmilk\t牛奶", "entries_format": "tsv"}
GLOSSARY = {"name": "drinks", "dictionaries": [DICTIONARY]}
QUERY = "?source_lang=en&target_lang=zh-Hans"


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


def ask(served: Served, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    answer = served.client.request(method, path, json=body)
    return answer.status_code, answer.json() if answer.content else None


def made(served: Served) -> str:
    status, answer = ask(served, "POST", "/v3/glossaries", GLOSSARY)
    assert status == 201
    return str(answer["glossary_id"])


def translated(served: Served, glossary: str, text: str = "tea and milk") -> str:
    body = {"text": [text], "target_lang": "ZH", "source_lang": "EN", "glossary_id": glossary}
    status, answer = ask(served, "POST", "/v2/translate", body)
    assert status == 200, answer
    return str(answer["translations"][0]["text"])


def test_one_is_made_listed_read_and_used(served: Served) -> None:
    glossary = made(served)
    counted = [{"source_lang": "en", "target_lang": "zh", "entry_count": 2}]
    status, answer = ask(served, "GET", f"/v3/glossaries/{glossary}")
    assert status == 200
    assert (answer["name"], answer["dictionaries"]) == ("drinks", counted)
    assert answer["creation_time"].endswith("Z")
    assert ask(served, "GET", "/v3/glossaries") == (200, {"glossaries": [answer]})
    _, answer = ask(served, "GET", f"/v3/glossaries/{glossary}/entries{QUERY}")
    assert answer["dictionaries"][0]["entries"] == "tea\t茶\nmilk\t牛奶"
    assert translated(served, glossary) == "译茶 and 牛奶"
    body = {"text": ["tea"], "target_lang": "ZH"}
    assert ask(served, "POST", "/v2/translate", body)[1]["translations"][0]["text"] == "译tea"


def test_it_is_used_within_html_too(served: Served) -> None:
    glossary = made(served)
    body = {"text": ["<p>tea</p>"], "target_lang": "ZH", "glossary_id": glossary}
    _, answer = ask(served, "POST", "/v2/translate", {**body, "tag_handling": "html"})
    assert answer["translations"][0]["text"] == "<p>译茶</p>"


def test_it_is_renamed_added_to_replaced_and_emptied(served: Served) -> None:
    path = f"/v3/glossaries/{made(served)}"
    glossary = path.rpartition("/")[2]
    assert ask(served, "PATCH", path, {"name": "cups"})[1]["name"] == "cups"
    more = {**PAIR, "entries": "cup,杯子\nmilk,奶", "entries_format": "csv"}
    _, answer = ask(served, "PATCH", path, {"dictionaries": [more]})
    assert answer["dictionaries"][0]["entry_count"] == 3
    assert translated(served, glossary, "milk tea cup") == "译奶 茶 杯子"
    _, answer = ask(served, "PUT", f"{path}/dictionaries", more)
    assert answer["entry_count"] == 2
    assert translated(served, glossary) == "译tea and 奶"
    assert ask(served, "DELETE", f"{path}/dictionaries{QUERY}") == (204, None)
    assert ask(served, "GET", path)[1]["dictionaries"] == []
    missing = (404, {"message": "Dictionary not found"})
    assert ask(served, "GET", f"{path}/entries{QUERY}") == missing
    assert translated(served, glossary) == "译tea and milk"
    assert ask(served, "DELETE", path) == (204, None)
    for method in ("GET", "DELETE"):
        assert ask(served, method, path) == (404, {"message": "Glossary not found"})


def test_older_clients_know_them_too(served: Served) -> None:
    status, answer = ask(served, "POST", "/v2/glossaries", {"name": "drinks", **DICTIONARY})
    assert (status, answer["ready"], answer["entry_count"]) == (201, True, 2)
    path = f"/v2/glossaries/{answer['glossary_id']}"
    assert ask(served, "GET", path) == (200, answer)
    assert ask(served, "GET", "/v2/glossaries") == (200, {"glossaries": [answer]})
    entries = served.client.get(f"{path}/entries")
    assert entries.headers["content-type"] == "text/tab-separated-values; charset=utf-8"
    assert entries.text == "tea\t茶\nmilk\t牛奶"
    assert ask(served, "DELETE", path) == (204, None)
    pairs = {"supported_languages": [{"source_lang": "en", "target_lang": "zh"}]}
    assert ask(served, "GET", "/v2/glossary-language-pairs") == (200, pairs)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Invalid request: missing name parameter"),
        ({"name": " "}, "A glossary's name has 1 to 1024 bytes"),
        ({"name": "a"}, "dictionaries has to be a list of one dictionary"),
        ({"name": "a", "dictionaries": []}, "dictionaries has to be a list of one dictionary"),
        ({"name": "a", "dictionaries": ["a"]}, "dictionaries has to be a list of one dictionary"),
        (
            {"name": "a", "dictionaries": [{**DICTIONARY, "target_lang": "DE"}]},
            "Glossaries are from en to zh here",
        ),
        ({"name": "a", "dictionaries": [{**DICTIONARY, "entries": ""}]}, "entries has no entry"),
    ],
)
def test_what_is_no_glossary_is_said(body: Any, message: str, served: Served) -> None:
    assert ask(served, "POST", "/v3/glossaries", body) == (400, {"message": message})
    assert ask(served, "GET", "/v3/glossaries") == (200, {"glossaries": []})


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("tea", "tsv", "entry 1 has no source and target of 1 to 1024 bytes"),
        ("tea\t茶\n\t奶", "tsv", "entry 2 has no source and target of 1 to 1024 bytes"),
        ("a" * 1025 + "\tb", "tsv", "entry 1 has no source and target of 1 to 1024 bytes"),
        ("tea\t茶\ntea\t茶叶", "tsv", "entry 2 is a second one for tea"),
        ('"a\tb",c', "csv", "entry 1 has no source and target of 1 to 1024 bytes"),
        ("tea\t茶", "xml", "entries_format xml is neither tsv nor csv"),
        ("a" * 200_000 + ",b", "csv", "entries: field larger than field limit (131072)"),
    ],
)
def test_what_is_no_table_is_said(text: str, form: str, message: str) -> None:
    with pytest.raises(RequestError) as error:
        entries_of(text, form)
    assert (error.value.status, error.value.message) == (400, message)


def test_tables_are_read_as_deepl_writes_them() -> None:
    entries = {"tea, black": "红茶", 'a "cup"': "杯"}
    assert entries_of('"tea, black",红茶,EN,ZH\r\n"a ""cup""",杯,EN,ZH\r\n\r\n', "csv") == entries
    assert entries_of(as_tsv(entries), "tsv") == entries
    odd = {"a\u2028b": "c\x85d"}
    assert entries_of(as_tsv(odd), "tsv") == odd


def test_they_are_kept_in_a_folder(tmp_path: Path) -> None:
    settings = ServeSettings(glossaries=tmp_path / "kept")
    with serving(settings) as served:
        first, second = made(served), made(served)
        ask(served, "PATCH", f"/v3/glossaries/{first}", {"name": "cups"})
        ask(served, "DELETE", f"/v3/glossaries/{second}")
        before = ask(served, "GET", "/v3/glossaries")
    with serving(settings) as served:
        assert ask(served, "GET", "/v3/glossaries") == before
        assert translated(served, first) == "译茶 and 牛奶"
    for damage in ("{", "[]", '{"id": "../x", "name": "", "created": "", "entries": {}}'):
        (tmp_path / "kept" / f"{first}.json").write_text(damage)
        with pytest.raises(DataError, match=f"{first}.json: is no glossary that nmt serve"):
            Served(settings)


def test_the_servers_own_is_read_and_never_changed() -> None:
    own = Glossary((Term("tea", ("茶", "茶叶")), Term("Acme", ())))
    with serving(glossary=own) as served:
        (listed,) = ask(served, "GET", "/v3/glossaries")[1]["glossaries"]
        path = f"/v3/glossaries/{listed['glossary_id']}"
        _, answer = ask(served, "GET", f"{path}/entries{QUERY}")
        assert answer["dictionaries"][0]["entries"] == "tea\t茶\nAcme\tAcme"
        assert translated(served, listed["glossary_id"], "tea") == "译tea"  # the model has it
        for method, body in (("PATCH", {"name": "x"}), ("DELETE", None)):
            status, answer = ask(served, method, path, body)
            assert status == 403
            assert answer["message"].startswith("This glossary is a file of the server")


def test_there_is_an_end_to_them(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossaries, "_MOST", 2)
    monkeypatch.setattr(glossaries, "_MOST_ENTRIES", 3)
    monkeypatch.setattr(glossaries, "_LARGEST", 2)
    first = made(served)
    status, answer = ask(served, "POST", "/v3/glossaries", GLOSSARY)
    assert (status, "at most 3 entries" in answer["message"]) == (400, True)
    assert ask(served, "PUT", f"/v3/glossaries/{first}/dictionaries", DICTIONARY)[0] == 200
    large = {**DICTIONARY, "entries": "a\tb\nc\td\ne\tf"}
    status, answer = ask(served, "PUT", f"/v3/glossaries/{first}/dictionaries", large)
    assert (status, answer["message"]) == (400, "A glossary has at most 2 entries")
    small = {"name": "b", "dictionaries": [{**DICTIONARY, "entries": "a\tb"}]}
    assert ask(served, "POST", "/v3/glossaries", small)[0] == 201
    status, answer = ask(served, "POST", "/v3/glossaries", small)
    assert (status, "delete some" in answer["message"]) == (400, True)


def test_only_some_are_ready_at_a_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossaries, "_OPEN", 1)
    first, second = made(served), made(served)
    for glossary in (first, second, first):
        assert translated(served, glossary) == "译茶 and 牛奶"


def test_they_need_the_key() -> None:
    with serving(ServeSettings(keys=("k",))) as served:
        for path in ("/v3/glossaries", "/v2/glossaries", "/v3/glossaries/x"):
            assert served.client.get(path).status_code == 403
            headers = {"Authorization": "DeepL-Auth-Key k"}
            assert served.client.get(path, headers=headers).status_code in (200, 404)
