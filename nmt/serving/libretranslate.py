"""LibreTranslate's API (https://docs.libretranslate.com), which Weblate, Mastodon, Discourse and others speak."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from nmt.documents.registry import FORMATS
from nmt.serving.downloads import Downloads, as_attachment, translated_name
from nmt.serving.errors import RequestError
from nmt.serving.languages import detect, normal_code
from nmt.serving.reading import check_key, read_fields, read_upload, texts_of, word_of
from nmt.serving.service import AGAIN, Asking, Form, Service

_MOST_ALTERNATIVES = 20
_MOST_UPLOADS = 16  # at a time
_DOWNLOAD = "download_file"  # the name of a route


def routes(service: Service) -> list[BaseRoute]:
    """Its addresses."""
    own = LibreTranslate(service)
    return [
        Route("/translate", own.translate, methods=["POST"]),
        Route("/translate_file", own.translate_file, methods=["POST"]),
        Route("/download_file/{token}", own.download, name=_DOWNLOAD),
        Route("/detect", own.detect, methods=["POST"]),
        Route("/languages", own.languages),
        Route("/frontend/settings", own.frontend),
        Route("/health", own.health),
    ]


class LibreTranslate:
    """Its endpoints."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._codes = service.languages
        self._downloads = Downloads()
        self._uploads = 0  # that are coming now

    async def translate(self, request: Request) -> JSONResponse:
        """{q, source, target, format, alternatives} → {translatedText, detectedLanguage, alternatives}."""
        fields = await read_fields(request, self._service.settings)
        check_key(request, self._service.settings, fields.get("api_key"))
        texts, is_list = texts_of(fields, "q")
        source = word_of(fields, "source")
        self._codes.check(source, word_of(fields, "target"))
        alternatives = _alternatives(fields)
        asking = Asking(normal_code(source), _form(fields), has_others=alternatives > 0)
        answers = await self._service.translate(request, texts, asking)
        found: dict[str, Any] = {"translatedText": [answer.text for answer in answers]}
        if normal_code(source) == "auto":
            found["detectedLanguage"] = [_detected(text) for text in texts]
        if alternatives:
            found["alternatives"] = [answer.others[:alternatives] for answer in answers]
        return JSONResponse(found if is_list else {name: each[0] for name, each in found.items()})

    async def translate_file(self, request: Request) -> JSONResponse:
        """{file, source, target} in parts → {translatedFileUrl}, where the translated file is fetched."""
        settings = self._service.settings
        if self._uploads >= _MOST_UPLOADS:
            raise RequestError(429, "Slowdown: too many files come; try again soon", AGAIN)
        if "authorization" in request.headers:  # before ten megabytes are read for nothing
            check_key(request, settings)
        self._uploads += 1
        try:
            fields, file = await read_upload(request, settings)
        finally:
            self._uploads -= 1
        check_key(request, settings, fields.get("api_key"))
        target = word_of(fields, "target")
        self._codes.check(word_of(fields, "source"), target)
        content = await self._service.document(request, file.name, file.content)
        token = self._downloads.put(translated_name(file.name, normal_code(target)), content)
        return JSONResponse({"translatedFileUrl": str(request.url_for(_DOWNLOAD, token=token))})

    async def download(self, request: Request) -> Response:
        """A file that was translated a short time ago."""
        found = self._downloads.get(request.path_params["token"])
        if found is None:
            raise RequestError(404, "There is no such file; it may have expired")
        return as_attachment(found)

    async def detect(self, request: Request) -> JSONResponse:
        """{q} → [{confidence, language}]."""
        fields = await read_fields(request, self._service.settings)
        check_key(request, self._service.settings, fields.get("api_key"))
        texts, _ = texts_of(fields, "q")
        return JSONResponse([_detected("\n".join(texts))])

    async def languages(self, _: Request) -> JSONResponse:
        """[{code, name, targets}]."""
        codes = self._codes
        targets = _listed(codes.target)
        sides = [(codes.source, targets), *((code, []) for code in targets)]
        return JSONResponse(
            [
                {"code": code, "name": codes.name(normal_code(code)), "targets": its_targets}
                for code, its_targets in sides
            ]
        )

    async def frontend(self, _: Request) -> JSONResponse:
        """What a page has to know."""
        settings, codes = self._service.settings, self._codes
        return JSONResponse(
            {
                "apiKeys": bool(settings.keys),
                "charLimit": settings.most_characters,
                "filesTranslation": True,
                "frontendTimeout": 500,
                "keyRequired": bool(settings.keys),
                "language": {
                    "source": {"code": codes.source, "name": codes.name(codes.source)},
                    "target": {"code": codes.target, "name": codes.name(codes.target)},
                },
                "suggestions": False,
                "supportedFilesFormat": [end for form in FORMATS for end in form.endings],
            }
        )

    async def health(self, _: Request) -> JSONResponse:
        """That it answers."""
        return JSONResponse({"status": "ok"})


def _listed(code: str) -> list[str]:
    """The codes under which a language is listed: Weblate looks for one, LibreTranslate's own clients for the other."""
    return ["zh", "zh-Hans"] if code == "zh" else [code]


def _form(fields: dict[str, Any]) -> Form:
    form = word_of(fields, "format", "text")
    if form == "html":
        return "html"
    if form == "text":
        return "text"
    raise RequestError(400, f"{form[:20]} format is not supported")


def _alternatives(fields: dict[str, Any]) -> int:
    value = fields.get("alternatives", 0)
    try:
        return max(0, min(int(value), _MOST_ALTERNATIVES))
    except (TypeError, ValueError, OverflowError):
        raise RequestError(400, "Invalid request: alternatives is not a number") from None


def _detected(text: str) -> dict[str, Any]:
    found = detect(text)
    code = "zh-Hans" if found.language == "zh" else found.language
    return {"confidence": found.confidence, "language": code}
