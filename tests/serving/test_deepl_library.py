"""DeepL's own Python library, unchanged, does with this server what its own tests do with DeepL's.

Those tests translate into German; what they call is called here, from English into Chinese.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("deepl")
pytest.importorskip("starlette.testclient")

import deepl
from served import Served, listening

from nmt.serving.settings import ServeSettings

UNKNOWN = str(uuid.uuid4())
ENTRIES = {"tea": "茶", "A%=&": "B&=%", "\u0394\u3041": "\u6df1", "\U0001faa8": "\U0001fab5"}
PAIR = ("EN", "ZH")


@pytest.fixture(scope="module")
def served() -> Served:
    return Served(ServeSettings(keys=("key",)))


@pytest.fixture(scope="module")
def address(served: Served) -> Iterator[str]:
    with listening(served) as url:
        yield url


@pytest.fixture
def client(address: str) -> Any:
    return deepl.DeepLClient("key", server_url=address)


def dictionary(entries: dict[str, str]) -> Any:
    return deepl.api_data.MultilingualGlossaryDictionaryEntries(*PAIR, entries)


# --- texts ---


def test_a_text_a_list_and_a_generator(client: Any) -> None:
    assert client.translate_text("tea", target_lang="ZH").text == "译tea"
    for texts in (["a", "b"], (each for each in "ab")):
        found = client.translate_text(texts, target_lang="zh", source_lang="en")
        assert [(each.text, each.detected_source_lang) for each in found] == [
            ("译a", "EN"),
            ("译b", "EN"),
        ]


def test_languages_as_the_library_has_them(client: Any) -> None:
    (english,) = client.get_source_languages()
    assert (english.code, english.name, str(english)) == ("EN", "English", "EN")
    chinese = client.get_target_languages()[0]
    assert (chinese.code, chinese.supports_formality) == ("ZH", False)
    found = client.translate_text("tea", source_lang=english, target_lang=chinese)
    assert found.text == "译tea"
    with pytest.raises(deepl.DeepLException, match=r"target_lang.*not supported"):
        client.translate_text("tea", target_lang="XX")
    with pytest.raises(deepl.DeepLException, match=r"source_lang.*not supported"):
        client.translate_text("tea", source_lang="XX", target_lang="ZH")


def test_options_are_known_or_refused(client: Any) -> None:
    for split in (*deepl.SplitSentences, "0", "1", "nonewlines"):
        assert client.translate_text("tea", target_lang="ZH", split_sentences=split).text == "译tea"
    for formality in (deepl.Formality.DEFAULT, deepl.Formality.PREFER_MORE, "prefer_less"):
        assert client.translate_text("tea", target_lang="ZH", formality=formality).text == "译tea"
    client.translate_text("tea", target_lang="ZH", preserve_formatting=True, context="drinks")
    for refused in (
        {"split_sentences": "invalid"},
        {"formality": "invalid"},
        {"formality": "more"},
    ):
        (name,) = refused
        with pytest.raises(deepl.DeepLException, match=name):
            client.translate_text("tea", target_lang="ZH", **refused)


def test_xml_and_html(client: Any) -> None:
    text = (
        "<document><title>A <x id='1'/>title</title>\n<raw>Stays.</raw>"
        "<par>Say <code2>this too</code2> now.</par></document>"
    )
    found = client.translate_text(
        text, target_lang="ZH", tag_handling="xml", ignore_tags=["raw", "code2"]
    )
    assert found.text == (
        "<document><title>译A <x id='1'/>title</title>\n<raw>Stays.</raw>"
        "<par>译Say <code2>this too</code2> now.</par></document>"
    )
    text = "<p>one <b2>two</b2> three</p>"
    split = client.translate_text(
        text, target_lang="ZH", tag_handling="xml", splitting_tags=["b2"], outline_detection=False
    )
    assert split.text == "<p>译one <b2>译two</b2> 译three</p>"
    html = '<h1>A heading</h1>\n<p translate="no">My first.</p>'
    found = client.translate_text(html, target_lang="ZH", tag_handling="html")
    assert found.text == '<h1>译A heading</h1>\n<p translate="no">My first.</p>'


def test_the_key_the_usage_and_a_busy_server(client: Any, address: str) -> None:
    wrong = deepl.Translator("invalid", server_url=address)
    for ask in (wrong.get_usage, lambda: wrong.translate_text("tea", target_lang="ZH")):
        with pytest.raises(deepl.AuthorizationException):
            ask()
    assert "Usage this billing period" in str(client.get_usage())
    assert client.get_usage().character.limit > 10**9


# --- glossaries ---


def test_a_glossary_of_several_languages(client: Any) -> None:
    made = client.create_multilingual_glossary("drinks", [dictionary(ENTRIES)])
    found = client.get_multilingual_glossary(made.glossary_id)
    assert (found.name, found.creation_time) == ("drinks", made.creation_time)
    (info,) = found.dictionaries
    assert (info.source_lang, info.target_lang, info.entry_count) == (*PAIR, len(ENTRIES))
    (entries,) = client.get_multilingual_glossary_entries(made, *PAIR).dictionaries
    assert deepl.util.convert_tsv_to_dict(entries.entries) == ENTRIES

    assert client.update_multilingual_glossary_name(made, "cups").name == "cups"
    more = dictionary({"tea": "红茶", "cup": "杯"})
    updated = client.update_multilingual_glossary_dictionary(made, more)
    assert updated.dictionaries[0].entry_count == len(ENTRIES) + 1
    assert client.replace_multilingual_glossary_dictionary(made, more).entry_count == 2
    csv = '"black tea",红茶\nmilk,牛奶,EN,ZH\n'
    assert (
        client.replace_multilingual_glossary_dictionary_from_csv(made, *PAIR, csv).entry_count == 2
    )
    assert "cups" in [each.name for each in client.list_multilingual_glossaries()]
    result = client.translate_text(
        "black tea, milk", source_lang="EN", target_lang="ZH", glossary=made
    )
    assert result.text == "译红茶, 牛奶"

    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="ZH")
    assert client.get_multilingual_glossary(made.glossary_id).dictionaries == []
    client.delete_multilingual_glossary(made)
    for ask in (client.get_multilingual_glossary, client.delete_multilingual_glossary):
        for name in (UNKNOWN, made.glossary_id, "invalid_glossary_id"):
            with pytest.raises(deepl.GlossaryNotFoundException):
                ask(name)
    other = deepl.api_data.MultilingualGlossaryDictionaryEntries("EN", "DE", {"a": "b"})
    with pytest.raises(deepl.DeepLException, match="Glossaries are from en to zh here"):
        client.create_multilingual_glossary("other", [other])


def test_a_glossary_of_two_languages(client: Any) -> None:
    made = client.create_glossary("drinks", *PAIR, ENTRIES)
    assert (made.source_lang, made.target_lang, made.entry_count) == (*PAIR, len(ENTRIES))
    assert client.get_glossary(made.glossary_id).name == "drinks"
    assert client.get_glossary_entries(made) == ENTRIES
    assert "drinks" in [each.name for each in client.list_glossaries()]
    (pair,) = client.get_glossary_languages()
    assert (pair.source_lang, pair.target_lang) == ("en", "zh")
    found = client.translate_text_with_glossary(["tea", "A%=&"], made)
    assert [each.text for each in found] == ["译茶", "译B&=%"]
    client.delete_glossary(made)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary_entries(made.glossary_id)


def test_a_large_glossary(client: Any) -> None:
    entries = {f"Source-${i}": f"Target-${i}" for i in range(10_000)}
    made = client.create_glossary("large", *PAIR, entries)
    assert client.get_glossary_entries(made) == entries
    client.delete_glossary(made)
