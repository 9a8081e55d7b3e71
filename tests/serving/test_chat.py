"""OpenAI's chat completions: prompts as translation clients write them, shortened to what tells the form."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving

from nmt.serving.prompts import read_prompt
from nmt.serving.settings import ServeSettings

PATH = "/v1/chat/completions"
SYSTEM = {"role": "system", "content": "You translate."}


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


def answered(served: Served, message: Any, **fields: Any) -> str:
    messages = [SYSTEM, {"role": "user", "content": message}]
    answer = served.client.post(PATH, json={"model": "x", "messages": messages, **fields})
    assert answer.status_code == 200, answer.text
    (choice,) = answer.json()["choices"]
    assert choice["message"]["role"] == "assistant"
    return str(choice["message"]["content"])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # Immersive Translate, one paragraph and several
        ("Translate to Simplified Chinese (output translation only):\n\ntea", "译tea"),
        ("Translate to Simplified Chinese:\n\ntea\n\n%%\n\nmilk", "译tea\n\n译%%\n\n译milk"),
        # KISS Translator
        ("Translate it to Chinese. Nothing else.\n\nSource Text: tea\n\nTranslated Text:", "译tea"),
        ("# Context\nTitle: a\n\n# Task\nTo Chinese.\n\nSource Text: a\nb\n\nTranslated Text:", "译a\n译b"),
        ('{"targetLanguage":"zh-CN","segments":[{"id":0,"text":"tea"},{"id":1,"text":"<i1>a</i1>"}]}',
         '{"translations": [{"id": 0, "text": "译tea", "sourceLanguage": "en"}, '
         '{"id": 1, "text": "<i1>译a</i1>", "sourceLanguage": "en"}]}'),
        # Weblate, now and before
        ('{"source_language":"en","target_language":"zh_Hans","strings":[{"source":"@@PH1@@ teas"},{"source":"b"}]}',
         '["译@@PH1@@ teas", "译b"]'),
        ("tea\n==WEBLATE_PART==\nmilk", "译tea\n==WEBLATE_PART==\n译milk"),
        # docutranslate
        ('Do it.\n<input>\n```json\n{"3":"tea","4":"b"}\n```\n</input>\nNow.',
         '[{"id": "3", "t": "译tea"}, {"id": "4", "t": "译b"}]'),
        # others, whose instructions are those of the system
        ("tea", "译tea"),
        ('{"strings": [1]}', '译{"strings": [1]}'),
        ("{" * 10_000, "译" + "{" * 10_000),
        ("<input>```json{1}```</input>", "译<input>```json{1}```</input>"),
    ],
)  # fmt: skip
def test_prompts_of_clients(message: str, expected: str, served: Served) -> None:
    assert answered(served, message) == expected


def test_parts_of_a_message(served: Served) -> None:
    parts = [{"type": "text", "text": "tea"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert answered(served, parts) == "译tea\n译b"


def test_the_last_message_of_the_user_counts(served: Served) -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "译a"},
        {"role": "user", "content": "b"},
    ]
    answer = served.client.post(PATH, json={"messages": messages}).json()
    assert answer["choices"][0]["message"]["content"] == "译b"
    assert answer["object"] == "chat.completion"
    assert answer["usage"]["total_tokens"] > 0


@pytest.mark.parametrize("unit", ["\n", " ", "Source Text: ", "<input>```json{}", "Translate a:"])
def test_a_long_prompt_takes_time_in_proportion(unit: str) -> None:
    message = "Source Text: " + unit * (100_000 // len(unit)) + "x\ny"
    begun = time.process_time()
    read_prompt(message)
    read_prompt(message[13:])
    assert time.process_time() - begun < 2  # in the square of the length it would be minutes


def test_too_much_is_refused_before_it_is_read(served: Served) -> None:
    messages = [{"role": "user", "content": "x" * 100_001}]
    answer = served.client.post(PATH, json={"messages": messages})
    assert answer.status_code == 400
    assert "100001 characters" in answer.json()["error"]["message"]


def test_chinese_stays(served: Served) -> None:
    assert answered(served, "茶很好。") == "茶很好。"


def test_a_stream(served: Served) -> None:
    messages = [{"role": "user", "content": "tea"}]
    answer = served.client.post(PATH, json={"messages": messages, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    *events, last, rest = answer.text.split("\n\n")
    assert (last, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content", "") for delta in deltas) == "译tea"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    "messages", [None, "tea", [], [1], [SYSTEM], [{"role": "user"}], [{"role": "user", "content": [1]}]]
)  # fmt: skip
def test_what_is_no_conversation_is_said(messages: Any, served: Served) -> None:
    answer = served.client.post(PATH, json={"messages": messages})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("messages has ")


def test_its_model_and_its_key() -> None:
    with serving(ServeSettings(keys=("k",))) as served:
        assert served.client.get("/v1/models").status_code == 401
        wrong = {"Authorization": "Bearer x"}
        assert served.client.get("/v1/models", headers=wrong).status_code == 401
        headers = {"Authorization": "bearer k"}
        (model,) = served.client.get("/v1/models", headers=headers).json()["data"]
        assert model["id"] == "nmt"
