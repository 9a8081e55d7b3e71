"""DeepL's API (https://developers.deepl.com): its client libraries take a `server_url`.

The key is in the header `Authorization: DeepL-Auth-Key …` alone, as theirs since January 2026.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from nmt.serving import deepl_glossaries
from nmt.serving.errors import RequestError
from nmt.serving.glossaries import Glossaries
from nmt.serving.languages import language_of, normal_code
from nmt.serving.reading import check_key, read_fields, texts_of, word_of
from nmt.serving.service import Asking, Form, Service

_MOST_TEXTS = 50
_FORMS: dict[str, Form] = {"": "text", "html": "html", "xml": "xml"}
_KNOWN = {
    "tag_handling": ("html", "xml"),
    "formality": ("default", "prefer_more", "prefer_less"),
    "split_sentences": ("0", "1", "nonewlines"),  # each line is translated by itself anyway
}
_NO_LIMIT = 10**12  # characters


def routes(service: Service) -> list[BaseRoute]:
    """Its addresses."""
    glossaries = Glossaries(service.ways, service.settings.glossaries)
    own = DeepL(service, glossaries)
    return [
        Route("/v2/translate", own.translate, methods=["POST"]),
        Route("/v2/languages", own.languages, methods=["GET", "POST"]),
        Route("/v2/usage", own.usage, methods=["GET", "POST"]),
        *deepl_glossaries.routes(service, glossaries),
    ]


class DeepL:
    """Its endpoints."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service = service
        self._glossaries = glossaries
        self._codes = service.languages

    async def translate(self, request: Request) -> JSONResponse:
        """{text: […], target_lang, source_lang, tag_handling, glossary_id} → {translations: [{text, …}]}."""
        check_key(request, self._service.settings, missing=403)
        fields = await read_fields(request, self._service.settings)
        if "auth_key" in fields:
            raise RequestError(403, "The key belongs in the header Authorization: DeepL-Auth-Key")
        texts, _ = texts_of(fields, "text")
        if len(texts) > _MOST_TEXTS:
            raise RequestError(400, f"Too many texts: {len(texts)} are more than {_MOST_TEXTS}")
        asking = self._asking(fields)
        answers = await self._service.translate(request, texts, asking)
        return JSONResponse(
            {
                "translations": [
                    {
                        "detected_source_language": language_of(text, asking.source).upper(),
                        "text": answer.text,
                        "billed_characters": len(text),
                    }
                    for text, answer in zip(texts, answers, strict=True)
                ]
            }
        )

    def _asking(self, fields: dict[str, Any]) -> Asking:
        source = word_of(fields, "source_lang", "auto") or "auto"
        self._codes.check(source, word_of(fields, "target_lang"), ("source_lang ", "target_lang "))
        _refuse_what_is_not_there(fields)
        glossary = word_of(fields, "glossary_id", "")
        return Asking(
            normal_code(source),
            _FORMS[word_of(fields, "tag_handling", "").lower()],
            way=self._glossaries.way(glossary) if glossary else None,
            kept_tags=_tags(fields, "ignore_tags"),
            splitting_tags=_tags(fields, "splitting_tags"),
        )

    async def languages(self, request: Request) -> JSONResponse:
        """The languages of a side: [{language, name}]."""
        check_key(request, self._service.settings, missing=403)
        codes = self._codes
        fields = dict(request.query_params)
        # Their libraries put it into the body of a GET.
        if request.headers.get("content-length", "0") != "0":
            fields |= await read_fields(request, self._service.settings)
        if fields.get("type") != "target":
            return JSONResponse([_listed(codes.source, codes.name(codes.source))])
        name = codes.name(codes.target)
        listed = [_listed(codes.target, name)]
        if codes.target == "zh":
            listed.append(_listed("zh-Hans", f"{name} (simplified)"))
        return JSONResponse([{**each, "supports_formality": False} for each in listed])

    async def usage(self, request: Request) -> JSONResponse:
        """The characters that were translated since the start; there is no limit."""
        check_key(request, self._service.settings, missing=403)
        count = self._service.metrics.characters
        return JSONResponse({"character_count": count, "character_limit": _NO_LIMIT})


def _refuse_what_is_not_there(fields: dict[str, Any]) -> None:
    """Raise RequestError for values that nobody knows, and for what the model cannot do."""
    for name, known in _KNOWN.items():
        value = str(fields.get(name) or "").lower()
        if value and value not in known:
            raise RequestError(400, f"{name}={value[:20]} is not supported for this target_lang")


def _tags(fields: dict[str, Any], name: str) -> frozenset[str]:
    """The names of tags: a list, or a text with commas."""
    if not fields.get(name):
        return frozenset()
    texts, _ = texts_of(fields, name)
    return frozenset(tag.strip().lower() for text in texts for tag in text.split(","))


def _listed(code: str, name: str) -> dict[str, Any]:
    return {"language": code.upper(), "name": name}
