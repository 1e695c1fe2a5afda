"""Requests that arrive while the stores are opened."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import settings_for
from vicw_standalone.app import create_standalone_app
from vicw_standalone.wiring import Standalone

ITEM = {"context": "c", "items": [{"id": "a", "text": "The ferry leaves at nine."}], "wait": True}


def _client(standalone: Standalone) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_standalone_app(standalone))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")


async def test_a_request_that_comes_first_waits_until_the_stores_are_open(store: Path) -> None:
    standalone = Standalone(settings_for(store), HashEmbedder())
    async with _client(standalone) as client:
        storing = asyncio.create_task(client.post("/ingest", json=ITEM))
        await asyncio.sleep(0.05)
        assert not storing.done()
        await standalone.open()
        standalone.start_indexer()
        try:
            assert (await storing).status_code == 201
        finally:
            await standalone.close()


async def test_it_is_refused_where_they_cannot_be_opened(store: Path) -> None:
    standalone = Standalone(settings_for(store), HashEmbedder())
    async with _client(standalone) as client:
        asking = asyncio.create_task(client.post("/retrieve", json={"query": "ferry"}))
        await asyncio.sleep(0.05)
        assert not asking.done()
        await standalone.close()
        answer = await asyncio.wait_for(asking, 5)
    assert (answer.status_code, answer.json()["dependency"]) == (503, "stores")
