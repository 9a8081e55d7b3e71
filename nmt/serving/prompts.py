"""What translation clients write to a chat model: the texts within their prompts, and how they want the answer.

The forms are those of Weblate, KISS Translator, docutranslate and Immersive Translate in 2026. Any other message is a
text itself: many clients put their instructions into the message of the system.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nmt.serving.service import Form

_WEBLATE_PART = "\n==WEBLATE_PART==\n"
_WEBLATE_PLACEHOLDER = re.compile(r"@@PH(\d+)@@")
_TAG = re.compile(r"<x(\d+)/>")
_SOURCE_TEXT, _BEHIND_IT = "Source Text: ", "Translated Text:"
_INSTRUCTION = re.compile(r"Translate [^\n:]{0,100}:[ \t]*\n")


class Prompt(NamedTuple):
    """The texts of a message, what makes an answer of their translations, and what the texts are in."""

    texts: list[str]
    answer: Callable[[Sequence[str]], str]
    form: Form = "text"


def read_prompt(message: str) -> Prompt:
    """The texts of a message."""
    for read in (_weblate, _weblate_parts, _kiss, _docutranslate, _instruction):
        found = read(message)
        if found is not None:
            return found
    return Prompt([message], _only)


def _only(translations: Sequence[str]) -> str:
    return translations[0]


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(message: str) -> dict[str, Any]:
    """A message that is a JSON object; else nothing."""
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(items: Any, name: str) -> list[str] | None:
    """What the objects of a list have under a name; None if it is not such a list."""
    if not isinstance(items, list) or not items:
        return None
    texts = [item.get(name) if isinstance(item, dict) else None for item in items]
    return [text for text in texts if isinstance(text, str)] if _all_texts(texts) else None


def _all_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _weblate(message: str) -> Prompt | None:
    """{"strings": [{"source": …}]} → [translations]; @@PH1@@ stands for what has to stay."""
    sources = _texts(_object(message).get("strings"), "source")
    if sources is None:
        return None

    def answer(translations: Sequence[str]) -> str:
        return _as_json([_TAG.sub(r"@@PH\1@@", each) for each in translations])

    return Prompt([_WEBLATE_PLACEHOLDER.sub(r"<x\1/>", each) for each in sources], answer)


def _weblate_parts(message: str) -> Prompt | None:
    """Texts with a line between them, as older versions send them."""
    if _WEBLATE_PART not in message:
        return None
    return Prompt(message.split(_WEBLATE_PART), _WEBLATE_PART.join)


def _kiss(message: str) -> Prompt | None:
    """{"segments": [{"id", "text"}]} → {"translations": [{"id", "text", "sourceLanguage"}]}."""
    segments = _object(message).get("segments", [])
    texts = _texts(segments, "text")
    if texts is None:
        return None

    def answer(translations: Sequence[str]) -> str:
        pairs = zip(segments, translations, strict=True)
        found = [
            {"id": each.get("id"), "text": text, "sourceLanguage": "en"} for each, text in pairs
        ]
        return _as_json({"translations": found})

    has_tags = any("</" in text for text in texts)
    return Prompt(texts, answer, "xml" if has_tags else "text")


def _docutranslate(message: str) -> Prompt | None:
    """{"3": text} within <input> → [{"id": "3", "t": translation}]."""
    within = message.partition("<input>")[2].partition("</input>")[0].strip()
    segments = _object(within.removeprefix("```json").removesuffix("```"))
    if not segments or not _all_texts(list(segments.values())):
        return None

    def answer(translations: Sequence[str]) -> str:
        pairs = zip(segments, translations, strict=True)
        return _as_json([{"id": each, "t": text} for each, text in pairs])

    return Prompt(list(segments.values()), answer)


def _instruction(message: str) -> Prompt | None:
    """A text behind "Source Text:", or behind a line such as "Translate to Chinese:"."""
    _, found, text = message.partition(_SOURCE_TEXT)
    if found:
        return Prompt([text.rstrip().removesuffix(_BEHIND_IT).rstrip()], _only)
    text = message.strip()
    match = _INSTRUCTION.match(text)
    return Prompt([text[match.end() :].lstrip()], _only) if match else None
