"""DeepL's API v2 (https://developers.deepl.com): its client libraries take a `server_url`.

The key is in the header `Authorization: DeepL-Auth-Key …` alone, as theirs since January 2026.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from nmt.serving.errors import RequestError
from nmt.serving.languages import detect, normal_code
from nmt.serving.reading import check_key, read_fields, texts_of, word_of
from nmt.serving.service import Asking, Form, Service

PREFIX = "/v2/"  # of its addresses, whose errors are {"message": …}
_MOST_TEXTS = 50
_NO_LIMIT = 10**12  # characters


def routes(service: Service) -> list[BaseRoute]:
    """Its addresses."""
    own = DeepL(service)
    return [
        Route("/v2/translate", own.translate, methods=["POST"]),
        Route("/v2/languages", own.languages, methods=["GET", "POST"]),
        Route("/v2/usage", own.usage, methods=["GET", "POST"]),
    ]


class DeepL:
    """Its endpoints."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._codes = service.languages

    async def translate(self, request: Request) -> JSONResponse:
        """{text: […], target_lang, source_lang, tag_handling} → {translations: [{text, …}]}."""
        check_key(request, self._service.settings)
        fields = await read_fields(request, self._service.settings)
        if "auth_key" in fields:
            raise RequestError(403, "The key belongs in the header Authorization: DeepL-Auth-Key")
        if fields.get("glossary_id"):
            raise RequestError(404, "Glossary not found: the server's own is used for every text")
        texts, _ = texts_of(fields, "text")
        if len(texts) > _MOST_TEXTS:
            raise RequestError(400, f"Too many texts: {len(texts)} are more than {_MOST_TEXTS}")
        source = word_of(fields, "source_lang", "auto") or "auto"
        self._codes.check(source, word_of(fields, "target_lang"))
        code = normal_code(source)
        answers = await self._service.translate(request, texts, Asking(code, _form(fields)))
        return JSONResponse(
            {
                "translations": [
                    {
                        "detected_source_language": _language(text, code),
                        "text": answer.text,
                        "billed_characters": len(text),
                    }
                    for text, answer in zip(texts, answers, strict=True)
                ]
            }
        )

    async def languages(self, request: Request) -> JSONResponse:
        """The languages of a side: [{language, name}]."""
        check_key(request, self._service.settings)
        codes = self._codes
        fields = dict(request.query_params)
        if (
            request.headers.get("content-length", "0") != "0"
        ):  # theirs put it into the body of a GET
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
        check_key(request, self._service.settings)
        count = self._service.metrics.characters
        return JSONResponse({"character_count": count, "character_limit": _NO_LIMIT})


def _form(fields: dict[str, Any]) -> Form:
    return "html" if word_of(fields, "tag_handling", "") in ("html", "xml") else "text"


def _language(text: str, source: str) -> str:
    return (detect(text).language if source == "auto" else source).upper()


def _listed(code: str, name: str) -> dict[str, Any]:
    return {"language": code.upper(), "name": name}
