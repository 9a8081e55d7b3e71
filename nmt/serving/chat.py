"""OpenAI's chat completions, as far as translation clients need them: the model translates, and does not chat."""

import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from nmt.serving.errors import RequestError
from nmt.serving.prompts import read_prompt
from nmt.serving.reading import check_key, read_fields, whole
from nmt.serving.service import Asking, Service

MODEL = "nmt"


def routes(service: Service) -> list[BaseRoute]:
    """Its addresses."""
    own = Chat(service)
    return [
        Route("/v1/chat/completions", own.completions, methods=["POST"]),
        Route("/v1/models", own.models),
    ]


class Chat:
    """Its endpoints."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def completions(self, request: Request) -> Response:
        """{messages, stream} → a message with the translations of what the last message of the user has in it."""
        check_key(request, self._service.settings, missing=401, wrong=401)
        fields = await read_fields(request, self._service.settings)
        message = _last_of_user(fields.get("messages"))
        self._service.refuse_too_much([message])
        prompt = read_prompt(message)
        asking = Asking("auto", prompt.form)
        answers = await self._service.translate(request, prompt.texts, asking)
        content = prompt.answer([answer.text for answer in answers])
        common = {
            "id": f"chatcmpl-{uuid4().hex}",
            "created": int(time.time()),
            "model": MODEL,
        }
        if fields.get("stream") is True:
            return StreamingResponse(_events(common, content), media_type="text/event-stream")
        return JSONResponse(_whole_answer(common, message, content))

    async def models(self, request: Request) -> JSONResponse:
        """The only model."""
        check_key(request, self._service.settings, missing=401, wrong=401)
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}
        return JSONResponse({"object": "list", "data": [model]})


def _last_of_user(messages: Any) -> str:
    """The text of the last message of the user. Raises RequestError if there is none."""
    if not isinstance(messages, list):
        raise RequestError(400, "messages has to be a list")
    of_user = [each for each in messages if isinstance(each, dict) and each.get("role") == "user"]
    content = of_user[-1].get("content") if of_user else None
    if isinstance(content, list):  # parts, of which some may be images
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str) or not content:
        raise RequestError(400, "messages has no text of a user")
    return whole(content)


def _whole_answer(common: dict[str, Any], message: str, content: str) -> dict[str, Any]:
    # Clients that count tokens get characters: those of the model tell nobody anything.
    usage = {"prompt_tokens": len(message), "completion_tokens": len(content)}
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {
        **common,
        "object": "chat.completion",
        "choices": [{"index": 0, **choice}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def _events(common: dict[str, Any], content: str) -> Iterator[str]:
    """The same, as events that a server sends."""
    said = {"role": "assistant", "content": content}
    nothing: dict[str, str] = {}
    for delta, reason in ((said, None), (nothing, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {**common, "object": "chat.completion.chunk", "choices": [choice]}
        yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
    yield "data: [DONE]\n\n"
