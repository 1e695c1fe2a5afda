"""A language model's server on this machine: as much of the OpenAI chat wire as VICW speaks, with scripted answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from anyio.from_thread import start_blocking_portal

type Reply = str | Callable[[dict[str, Any]], web.Response | str]
"""The text of an answer, or what makes one of a request's body."""

NOTHING = json.dumps({"entities": [], "concepts": [], "events": [], "relations": [], "claims": []})


@dataclass
class Chat:
    """The server: its replies in order, the last of them for ever, and the bodies that it was sent."""

    replies: list[Reply] = field(default_factory=lambda: [NOTHING])
    models: list[str] = field(default_factory=lambda: ["scripted"])
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The texts that it was given to read."""
        return [json.loads(body["messages"][-1]["content"])["text"] for body in self.asked if _is_opening(body)]


def _is_opening(body: dict[str, Any]) -> bool:
    return bool(body["messages"][-1]["content"].startswith('{"speaker"'))


def chat_response(text: str | None, finish: str = "stop", **message: Any) -> web.Response:
    """Return an answer as the wire has it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return web.json_response({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage})


def error_response(status: int, message: str = "no") -> Callable[[dict[str, Any]], web.Response]:
    """Return what makes an error."""
    return lambda _: web.json_response({"error": {"message": message}}, status=status)


def extraction_json(**parts: list[Any]) -> str:
    """Return an answer with these entities, events, concepts, relations and claims."""
    return json.dumps(json.loads(NOTHING) | parts)


@asynccontextmanager
async def serve_chat(*replies: Reply, port: int | None = None, pause: float = 0.0) -> AsyncIterator[Chat]:
    """Serve; each answer takes ``pause`` seconds."""
    chat = Chat(list(replies) or [NOTHING])

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name} for name in chat.models]})

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        chat.asked.append(body)
        chat.headers.append(dict(request.headers))
        reply = chat.replies.pop(0) if len(chat.replies) > 1 else chat.replies[0]
        await asyncio.sleep(pause)
        made = reply(body) if callable(reply) else reply
        return chat_response(made) if isinstance(made, str) else made

    app = web.Application(client_max_size=2**26)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", complete)
    async with TestServer(app, port=port) as server:
        chat.url = str(server.make_url("/v1"))
        yield chat


@contextmanager
def serve_chat_in_thread(*replies: Reply, port: int | None = None, pause: float = 0.0) -> Iterator[Chat]:
    """Serve from a thread, for tests that have no event loop."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_chat(*replies, port=port, pause=pause)) as chat,
    ):
        yield chat
