"""A service that only reads hands on what agents write: to the ingest service, with the agent's own key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from fastapi import FastAPI
from mcp import Client

from support.clients.mcp_client import connect, refused, succeeded
from support.clients.served import serve
from support.stores.memory import Memory
from vicw_retrieval.mcp.reader import RetrievalReader
from vicw_runtime.http import KeyGate, problems
from vicw_runtime.mcp.endpoint import McpEndpoint
from vicw_runtime.mcp.http_writer import HttpWriters
from vicw_runtime.mcp.port import McpPorts
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import McpSettings, ServerSettings
from vicw_standalone.app import create_standalone_app


async def key_of(memory: Memory, *rights: Right) -> dict[str, str]:
    key, token = mint("default", rights, now())
    await memory.standalone.keys.add(key)
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def ingest_url(memory: Memory) -> AsyncIterator[str]:
    """A server that requires keys, in the part of the ingest service."""
    settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"))
    memory.standalone.settings = settings
    app = create_standalone_app(memory.standalone)
    app.router.lifespan_context = FastAPI().router.lifespan_context  # the fixture closes the memory
    async with serve(app) as url:
        yield url


@asynccontextmanager
async def reading_service(memory: Memory, settings: McpSettings) -> AsyncIterator[str]:
    app = FastAPI()
    problems.install(app)
    writers = HttpWriters(settings)
    ports = McpPorts(
        lambda caller: RetrievalReader(memory.standalone.retrieval_ports(), caller.tenant),
        lambda _, authorization: writers.of(authorization),
    )
    endpoint = McpEndpoint(ports, KeyGate(lambda: memory.standalone.keys, required=True, tenant="none"), 1_000_000)
    endpoint.mount(app)
    try:
        async with serve(app) as url:
            yield f"{url}/mcp/Harbour"
    finally:
        await endpoint.close()
        await writers.close()


@asynccontextmanager
async def agent_of(memory: Memory, settings: McpSettings, *rights: Right) -> AsyncIterator[Client]:
    """An agent at a reading service, with a key that has these rights."""
    headers = await key_of(memory, *rights)
    async with reading_service(memory, settings) as url, connect(url, headers=headers) as agent:
        yield agent


async def test_writes_go_to_the_ingest_service_under_the_callers_key(memory: Memory, ingest_url: str) -> None:
    settings = McpSettings(ingest_url=ingest_url)
    async with agent_of(memory, settings, Right.RETRIEVE, Right.INGEST) as agent:
        assert (
            await succeeded(agent, "remember", text="The buoy is red.", id="b")
            == "Scope: Harbour. Remembered: agent:b."
        )
        assert "> The buoy is red." in await succeeded(agent, "recall", query="What colour is the buoy?")
        assert "text: " in await refused(agent, "remember", text=" ")
        assert await succeeded(agent, "retract", ids=["agent:b"]) == "Scope: Harbour. agent:b: retracted."
        assert "Nothing is remembered" in await succeeded(agent, "recall", query="What colour is the buoy?")
    async with agent_of(memory, settings, Right.RETRIEVE) as reader:
        assert "does not have the right `ingest`" in await refused(reader, "remember", text="The buoy is green.")


async def test_an_ingest_service_that_is_away_or_another_server_is_named(memory: Memory, ingest_url: str) -> None:
    for address, problem in (
        ("http://127.0.0.1:1", "ingest: cannot be reached"),
        (f"{ingest_url}/docs", "There is nothing at this address"),
    ):
        async with agent_of(memory, McpSettings(ingest_url=address), Right.RETRIEVE, Right.INGEST) as agent:
            assert problem in await refused(agent, "remember", text="The buoy is red.")


async def test_without_an_ingest_service_agents_only_read(memory: Memory) -> None:
    async with agent_of(memory, McpSettings(), Right.RETRIEVE, Right.INGEST) as agent:
        for tool, arguments in (("remember", {"text": "The buoy is red."}), ("retract", {"ids": ["b"]})):
            assert "VICW_MCP_INGEST_URL" in await refused(agent, tool, **arguments)
        assert await succeeded(agent, "recall", query="What colour is the buoy?")
