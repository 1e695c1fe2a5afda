"""The MCP SDK's own client, joined to a server of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Implementation, TextContent

type Mode = Literal["legacy", "auto", "2026-07-28"]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")
"""Both eras of the protocol: the handshake of older clients, and messages that stand alone."""


@asynccontextmanager
async def connect(
    url: str, mode: Mode = "auto", headers: Mapping[str, str] | None = None, name: str = "test-agent"
) -> AsyncIterator[Client]:
    """Yield a client of the server at ``url``, with ``/mcp``; it calls itself ``name``."""
    async with httpx2.AsyncClient(headers=dict(headers or {}), timeout=60, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, client_info=Implementation(name=name, version="1")) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """Return the result of a tool, also of one that failed."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    """Return the one text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def succeeded(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of a tool that succeeded."""
    result = await call(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of a tool that failed."""
    result = await call(client, tool, **arguments)
    assert result.is_error, text_of(result)
    return text_of(result)
