"""A server with two memories of a harbour."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.clients.served import serve
from support.stores.memory import Memory, open_memory
from vicw_standalone.app import create_standalone_app


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        await opened.ingest(
            {"id": "n1", "text": "The ferry to Sunde leaves at seven.", "speaker": "Ana", "flow_id": "talk"},
            {"id": "n2", "text": "Because of the storm the ferry was cancelled.", "speaker": "Ben", "flow_id": "talk"},
            context="Harbour",
        )
        yield opened


@pytest.fixture
async def url(memory: Memory) -> AsyncIterator[str]:
    async with serve(create_standalone_app(memory.standalone)) as address:
        yield f"{address}/mcp"
