"""The part of the OpenAI chat protocol that VICW uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Request, Response, Security
from pydantic import BaseModel, Field

from vicw_embedding.chat.engine import Answer, ChatEngine
from vicw_embedding.process.serving import CLIENT_DISCONNECTED, cancel_on_disconnect
from vicw_runtime import http
from vicw_runtime.browser_guard import BrowserGuard
from vicw_shared.settings import LimitSettings


class _Message(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class _Schema(BaseModel):
    schema_: dict[str, Any] = Field(alias="schema")


class _ResponseFormat(BaseModel):
    type: Literal["text", "json_schema"] = "text"
    json_schema: _Schema | None = None


class _Request(BaseModel):
    messages: list[_Message] = Field(min_length=1)
    max_tokens: int = Field(1024, gt=0)
    response_format: _ResponseFormat = _ResponseFormat()


def create_app(engine: ChatEngine, gate: http.Gate, limits: LimitSettings, guard: BrowserGuard | None) -> FastAPI:
    """Return the application over a loaded model, which it frees when it stops.

    ``gate`` checks the key, ``guard`` what browsers send (None: no browser reaches the socket).
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(engine.close)

    async def alive() -> None:
        """Succeed: a process that answers has its model."""

    app = http.create_app(
        title="VICW language model",
        description="One GGUF on the OpenAI chat wire; answers are constrained to a JSON schema.",
        version=version("vicw"),
        limits=limits,
        probes={"model": alive},
        lifespan=lifespan,
        guard=guard,
        gate=gate,
    )
    router = APIRouter(prefix="/v1", route_class=gate.route(None), dependencies=[Security(http.bearer_scheme)])

    @router.post("/chat/completions", response_model=None, responses=http.refusals(401, 413, 422, 429))
    async def complete(body: _Request, request: Request) -> Answer | Response:
        messages = [message.model_dump() for message in body.messages]
        response_schema = body.response_format.json_schema
        schema = response_schema.schema_ if response_schema is not None else None
        answered = await cancel_on_disconnect(request, engine.answer(messages, schema, body.max_tokens))
        return Response(status_code=CLIENT_DISCONNECTED) if answered is None else answered

    @router.get("/models", responses=http.refusals(401))
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": engine.name, "object": "model"}]}

    app.include_router(router)
    return app
