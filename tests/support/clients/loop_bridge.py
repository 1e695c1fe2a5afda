"""A command's blocking client, connected to a memory in the loop of the test."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from vicw_client import VicwClient
from vicw_standalone.app import create_standalone_app
from vicw_standalone.wiring import Standalone


class Bridge(httpx.BaseTransport):
    """Carries what a blocking client sends to an application that runs in the loop of the test."""

    def __init__(self, transport: httpx.ASGITransport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def answer() -> httpx.Response:
            asked = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
            answered = await self._transport.handle_async_request(asked)
            return httpx.Response(answered.status_code, headers=answered.headers, content=await answered.aread())

        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result(60)


def connected(monkeypatch: pytest.MonkeyPatch, standalone: Standalone) -> None:
    """Let commands reach this memory, whatever address they are given. They have to run in a thread."""
    bridge = Bridge(httpx.ASGITransport(create_standalone_app(standalone)), asyncio.get_running_loop())

    def connect(url: str | None, retry: Any = None) -> VicwClient:
        return VicwClient(url, retry=retry, transport=bridge)

    monkeypatch.setattr("vicw_client.VicwClient", connect)
    monkeypatch.setattr("vicw_standalone.cli.retrieve.post", lambda path, body, url: None)
