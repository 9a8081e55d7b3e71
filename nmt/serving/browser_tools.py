"""The small dialects of browser tools: Immersive Translate, KISS Translator, 划词翻译 (hcfy), DeepLX, and Google's v2.

A key may be in the header `Authorization: Bearer …`, or behind the address as `?token=…`, or Google's `?key=…`.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from nmt.serving.languages import language_of, normal_code
from nmt.serving.reading import check_key, fields_of, read_fields, texts_of, word_of
from nmt.serving.service import Answer, Asking, Form, Service

_HCFY = {"中文(简体)": "zh", "英语": "en", "自动检测": "auto"}


def routes(service: Service) -> list[BaseRoute]:
    """Their addresses."""
    own = BrowserTools(service)
    return [
        Route("/imme", own.immersive, methods=["POST"]),
        Route("/kiss", own.kiss, methods=["POST"]),
        Route("/hcfy", own.hcfy, methods=["POST"]),
        Route("/deeplx", own.deeplx, methods=["POST"]),
        Route("/language/translate/v2", own.google, methods=["GET", "POST"]),
    ]


class BrowserTools:
    """Their endpoints."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def immersive(self, request: Request) -> JSONResponse:
        """{source_lang, target_lang, text_list} → {translations: [{detected_source_lang, text}]}."""
        fields = await self._fields(request)
        texts, _ = texts_of(fields, "text_list")
        source = _source(fields, "source_lang")
        target = word_of(fields, "target_lang")
        answers = await self._translated(request, texts, Asking(source), target)
        pairs = zip(texts, answers, strict=True)
        found = [
            {"detected_source_lang": language_of(text, source), "text": answer.text}
            for text, answer in pairs
        ]
        return JSONResponse({"translations": found})

    async def kiss(self, request: Request) -> JSONResponse:
        """{from, to, text} → {text, src}; {from, to, texts} → {translations: [{text, src}]}."""
        fields = await self._fields(request)
        name = "texts" if "texts" in fields else "text"
        texts, _ = texts_of(fields, name)
        source = _source(fields, "from")
        answers = await self._translated(request, texts, Asking(source), word_of(fields, "to"))
        found = [
            {"text": answer.text, "src": language_of(text, source)}
            for text, answer in zip(texts, answers, strict=True)
        ]
        return JSONResponse({"translations": found} if name == "texts" else found[0])

    async def hcfy(self, request: Request) -> JSONResponse:
        """{text, destination, source} → {text, from, to, result: [lines]}; languages by their Chinese names."""
        fields = await self._fields(request)
        texts, _ = texts_of(fields, "text")
        target = next(iter(texts_of(fields, "destination")[0]), "")
        named = word_of(fields, "source", "自动检测") or "自动检测"
        source = normal_code(_HCFY.get(named, named))
        code = _HCFY.get(target, target)
        (answer,) = await self._translated(request, texts[:1], Asking(source), code)
        spoken = {code: name for name, code in _HCFY.items()}
        return JSONResponse(
            {
                "text": texts[0],
                "from": spoken.get(language_of(texts[0], source), named),
                "to": target,
                "result": answer.text.split("\n"),
            }
        )

    async def deeplx(self, request: Request) -> JSONResponse:
        """{text, source_lang, target_lang} → {code, data, alternatives, source_lang, target_lang}."""
        fields = await self._fields(request)
        texts, _ = texts_of(fields, "text")
        source, target = _source(fields, "source_lang"), word_of(fields, "target_lang")
        asking = Asking(source, has_others=True)
        (answer,) = await self._translated(request, texts[:1], asking, target)
        return JSONResponse(
            {
                "code": 200,
                "id": 1,
                "data": answer.text,
                "alternatives": list(answer.others),
                "source_lang": language_of(texts[0], source).upper(),
                "target_lang": target.upper(),
                "method": "Free",
            }
        )

    async def google(self, request: Request) -> JSONResponse:
        """{q, source, target, format} → {data: {translations: [{translatedText}]}}."""
        fields = await self._fields(request)
        texts, _ = texts_of(fields, "q")
        source = _source(fields, "source")
        form: Form = "text" if word_of(fields, "format", "html") == "text" else "html"
        target = word_of(fields, "target")
        answers = await self._translated(request, texts, Asking(source, form), target)
        found = [
            {"translatedText": answer.text, "detectedSourceLanguage": language_of(text, source)}
            for text, answer in zip(texts, answers, strict=True)
        ]
        return JSONResponse({"data": {"translations": found}})

    # --- what they share ---

    async def _fields(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        check_key(request, self._service.settings, query.get("token") or query.get("key"))
        if request.method == "GET":  # Google's v2 alone
            return fields_of(query.multi_items())
        return await read_fields(request, self._service.settings)

    async def _translated(
        self, request: Request, texts: list[str], asking: Asking, target: str
    ) -> list[Answer]:
        self._service.languages.check(asking.source, target)
        return await self._service.translate(request, texts, asking)


def _source(fields: dict[str, Any], name: str) -> str:
    return normal_code(word_of(fields, name, "auto") or "auto")
